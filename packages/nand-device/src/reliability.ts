import type { RandomSource, RandomStream } from '@flashstack/sim';
import { exp, expm1, log, log1p, mix32 } from '@flashstack/sim';
import type { NandArray } from './array.js';
import type { NandReliability } from './config.js';
import { NandStatus } from './contract.js';
import { poissonSample, poissonTail } from './poisson.js';

/** Faults and wear of a `NandArray`: bad blocks, endurance, operation failures, raw bit errors, ECC and read retry. */
export class Reliability {
  readonly config: NandReliability;
  /** Hidden endurance per block, cycles: Weibull. */
  readonly endurance: Float64Array;
  /** When each page was programmed, ns. */
  readonly programmedNs: Float64Array;
  /** Blocks queued for relocation (read disturb) and pages queued for rewriting (many retries), oldest first. */
  readonly reclaimQueue: number[] = [];
  readonly refreshQueue: number[] = [];
  /** Totals since construction. */
  rawBitErrors = 0;
  retries = 0;
  softDecodes = 0;
  uncorrectableReads = 0;
  programFailures = 0;
  eraseFailures = 0;
  private readonly array: NandArray;
  /** Error rate of data that came by copyback, with the errors it brought along. */
  private readonly inheritedRate: Float64Array | null;
  private readonly queued: Uint8Array;
  private readonly faults: RandomStream;
  private readonly bitErrors: RandomStream;
  private readonly wordLineSeed: number;

  constructor(array: NandArray, config: NandReliability, random: RandomSource) {
    this.array = array;
    this.config = config;
    const { geometry } = array;
    this.faults = random.stream('nand.faults');
    this.bitErrors = random.stream('nand.bitErrors');
    this.wordLineSeed = random.stream('nand.wordLines').nextU32();
    this.endurance = new Float64Array(geometry.blocks);
    this.programmedNs = new Float64Array(geometry.pages);
    this.queued = new Uint8Array(geometry.blocks);
    this.inheritedRate = array.copybacks === null ? null : new Float64Array(geometry.pages);
    const blocks = random.stream('nand.blocks');
    const scale = (config.enduranceMedian * config.ratedCycles) / power(Math.LN2, 1 / config.enduranceShape);
    const blocksPerDie = geometry.blocksPerPlane * geometry.planes;
    for (let block = 0; block < geometry.blocks; block++) {
      this.endurance[block] = scale * power(-log1p(-blocks.nextFloat()), 1 / config.enduranceShape);
      // Drawn for every block, so that the endurance of one does not depend on how many others are bad.
      const bad = blocks.nextFloat() < config.factoryBad;
      if (bad && block % blocksPerDie !== 0) array.bad[block] = 1;
    }
  }

  /** Records a program for retention. */
  programmed(ppn: number): void {
    const pages = this.array.geometry.programPages;
    this.programmedNs.fill(this.array.clock.now, ppn, ppn + pages);
    this.inheritedRate?.fill(0, ppn, ppn + pages);
  }

  inherit(ppn: number, rate: number): void {
    (this.inheritedRate as Float64Array)[ppn] = rate;
  }

  /** Probability that the next erase of this block fails. */
  eraseFailureProbability(block: number): number {
    const { eraseFailFrom, eraseFailTo } = this.config;
    const life = this.array.eraseCount[block] / this.endurance[block];
    return Math.min(1, Math.max(0, (life - eraseFailFrom) / (eraseFailTo - eraseFailFrom)));
  }

  /** Probability that a program of one program unit of this block fails: the block's share, spread over its units. */
  programFailureProbability(block: number): number {
    const { pagesPerBlock, programPages } = this.array.geometry;
    return (this.config.programFailShare * this.eraseFailureProbability(block) * programPages) / pagesPerBlock;
  }

  eraseFails(block: number): boolean {
    const probability = this.eraseFailureProbability(block);
    const fails = probability > 0 && this.faults.nextFloat() < probability;
    if (fails) this.eraseFailures++;
    if (!fails) this.queued[block] = 0;
    return fails;
  }

  programFails(block: number): boolean {
    const probability = this.programFailureProbability(block);
    const fails = probability > 0 && this.faults.nextFloat() < probability;
    if (fails) this.programFailures++;
    return fails;
  }

  /** tBERS of this block at its present wear, ns. */
  eraseNs(block: number): number {
    const wear = this.array.eraseCount[block] / this.config.ratedCycles;
    return Math.round(this.array.config.timing.eraseNs * (1 + this.config.wearEraseSlope * wear));
  }

  /** `nominalNs` of a program at this block's present wear, ns; never less than half. */
  programNs(block: number, nominalNs: number): number {
    const wear = this.array.eraseCount[block] / this.config.ratedCycles;
    return Math.round(nominalNs * Math.max(0.5, 1 - this.config.wearProgramSlope * wear));
  }

  /** Raw bit error rate of a page now. */
  rawBitErrorRate(ppn: number): number {
    const { geometry, eraseCount, readCount, clock } = this.array;
    const e = this.config.rawBitErrors;
    const block = geometry.blockOf(ppn);
    const page = geometry.pageOf(ppn);
    const wear = eraseCount[block] / this.config.ratedCycles;
    const age = Math.max(0, clock.now - this.programmedNs[ppn]) / e.retentionNs;
    const sum =
      e.r0 +
      e.a * power(wear, e.ka) +
      e.c * power(wear, e.kc) * power(age, e.kt) +
      (e.f * wear * readCount[block]) / e.reads;
    let rate = sum * this.wordLineFactor(block, geometry.wordLine[page]);
    if (geometry.pageType[page] > 0) rate *= e.upperPageFactor;
    if (this.array.isWeak(ppn)) rate *= e.tornFactor;
    if (this.inheritedRate !== null) rate += this.inheritedRate[ppn];
    return Math.min(0.5, rate);
  }

  /** Probability that at least one of `codewords` codewords cannot be corrected at this raw bit error rate. */
  pageFailureProbability(rate: number, codewords: number): number {
    const bits = this.array.config.features.codewordBytes * 8;
    const one = poissonTail(this.config.ecc.correctableBits, bits * rate);
    return one === 1 ? 1 : -expm1(codewords * log1p(-one));
  }

  /** Draws the outcome of reading slots of a programmed page; sets the array's `lastRetries` and `lastSoftReads`. */
  readPage(ppn: number, slotMask: number): number {
    const { array, config } = this;
    const { ecc } = config;
    const codewords = Math.ceil(
      (popcount(slotMask) * array.geometry.config.slotBytes) / array.config.features.codewordBytes,
    );
    const rate = this.rawBitErrorRate(ppn);
    this.rawBitErrors += poissonSample(this.bitErrors, codewords * array.config.features.codewordBytes * 8 * rate);
    const block = array.geometry.blockOf(ppn);
    if (array.readCount[block] > ecc.readReclaimLimit && this.queued[block] === 0) {
      this.queued[block] = 1;
      this.reclaimQueue.push(block);
    }
    // One draw for all levels: the same cells fail on every attempt, only the reference voltage moves.
    const draw = this.bitErrors.nextFloat();
    let levelRate = rate;
    let level = 0;
    while (draw < this.pageFailureProbability(levelRate, codewords)) {
      if (level === ecc.maxRetry) return this.decodeSoftly(ppn, levelRate);
      level++;
      levelRate *= ecc.retryGain;
    }
    this.retries += level;
    array.lastRetries = level;
    if (level >= ecc.refreshAtRetries) this.refreshQueue.push(ppn);
    return NandStatus.ok;
  }

  private decodeSoftly(ppn: number, rate: number): number {
    const { ecc } = this.config;
    this.retries += ecc.maxRetry;
    this.array.lastRetries = ecc.maxRetry;
    this.array.lastSoftReads = ecc.softReads;
    if (ecc.softReads > 0) {
      this.softDecodes++;
      if (rate <= ecc.softLimit) {
        this.refreshQueue.push(ppn);
        return NandStatus.ok;
      }
    }
    this.uncorrectableReads++;
    return NandStatus.uncorrectable;
  }

  /** Lognormal with median 1, the same for every read of this word line: a hash stands for a stored draw. */
  private wordLineFactor(block: number, wordLine: number): number {
    const sigma = this.config.rawBitErrors.wordLineSigma;
    if (sigma === 0) return 1;
    // Marsaglia's polar method on a chain of hashes.
    let hash = mix32(mix32(this.wordLineSeed ^ block) + wordLine);
    for (;;) {
      const u = hash / 0x8000_0000 - 1;
      hash = mix32(hash ^ 0x9e37_79b9);
      const v = hash / 0x8000_0000 - 1;
      hash = mix32(hash + 0x85eb_ca6b);
      const square = u * u + v * v;
      if (square > 0 && square < 1) return exp(sigma * u * Math.sqrt((-2 * log(square)) / square));
    }
  }
}

/** base^exponent for base ≥ 0, the same on every machine. */
function power(base: number, exponent: number): number {
  if (exponent === 0) return 1;
  return base === 0 ? 0 : exp(exponent * log(base));
}

/** Number of set bits. */
export function popcount(mask: number): number {
  let bits = mask - ((mask >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

import { NAND_PHASES, NandPhase, type NandScheduler, type Token } from '@flashstack/nand-device';

/**
 * Where the time of a request goes. Disjoint and in integer ns: the phases of a request sum to its latency exactly.
 * Waiting for a die behind garbage collection, waiting for a free block, and the share of a full buffer's wait that
 * garbage collection caused all count as `gc`.
 */
export const phaseNames = [
  /** Waiting for an overlapping write before it, for a command slot, and after a power cut for what is left over. */
  'queue',
  /** Waiting for the link, command and data transfer on the link. */
  'link',
  /** Waiting for and running on a controller core. */
  'firmware',
  /** Waiting for room in the write buffer, for a program unit to fill up, or for data that a flush covers. */
  'buffer',
  /** Reading mapping tables from flash. */
  'mapping',
  /** Waiting for a flash channel. */
  'bus',
  /** Waiting for a die that serves somebody else. */
  'die',
  /** Flash array: read, program. */
  'array',
  /** Flash channel: command and data. */
  'transfer',
  'gc',
] as const;

/** One of {@link phaseNames}. */
export type PhaseName = (typeof phaseNames)[number];

/** Columns of a phase row, in the order of {@link phaseNames}. */
export const Phase = {
  queue: 0,
  link: 1,
  firmware: 2,
  buffer: 3,
  mapping: 4,
  bus: 5,
  die: 6,
  array: 7,
  transfer: 8,
  gc: 9,
} as const;
/** Number of phases. */
export const PHASES = 10;

const SUB_BITS = 4;
const SUB = 1 << SUB_BITS;
const BUCKETS = (48 - SUB_BITS) << SUB_BITS;
const ROW = PHASES + 1;

/**
 * Sums of phases by latency class: classes are a sixteenth of an octave wide, so that the phases of any slowest share
 * can be told afterwards in bounded memory. Mergeable; exact as long as sums stay below 2^53 ns.
 */
export class PhaseProfile {
  /** Per class: number of requests, then the sum of each phase, ns. */
  private readonly rows: Float64Array = new Float64Array(BUCKETS * ROW);
  private highest = -1;

  /** Adds one request with the phases `phasesNs[at … at + PHASES − 1]`. */
  record(latencyNs: number, phasesNs: Float64Array, at: number): void {
    const bucket = bucketOf(latencyNs);
    if (bucket > this.highest) this.highest = bucket;
    const { rows } = this;
    const row = bucket * ROW;
    rows[row]++;
    for (let phase = 0; phase < PHASES; phase++) rows[row + 1 + phase] += phasesNs[at + phase];
  }

  /** Requests recorded. */
  get count(): number {
    let count = 0;
    for (let bucket = 0; bucket <= this.highest; bucket++) count += this.rows[bucket * ROW];
    return count;
  }

  /**
   * Mean phases of the slowest share of requests (1: all), ns. The class on the border counts in proportion.
   * All zero if nothing was recorded.
   */
  slowest(share: number): Record<PhaseName, number> {
    const wanted = this.count * share;
    const sums = new Float64Array(PHASES);
    let left = wanted;
    for (let bucket = this.highest; bucket >= 0 && left > 0; bucket--) {
      const row = bucket * ROW;
      const count = this.rows[row];
      if (count === 0) continue;
      const part = Math.min(1, left / count);
      for (let phase = 0; phase < PHASES; phase++) sums[phase] += this.rows[row + 1 + phase] * part;
      left -= count * part;
    }
    const means: Record<string, number> = {};
    for (let phase = 0; phase < PHASES; phase++) means[phaseNames[phase]] = wanted === 0 ? 0 : sums[phase] / wanted;
    return means as Record<PhaseName, number>;
  }

  /** Mean phases, ns, of the requests in the latency class where the share `quantile` of all (0 … 1) is reached. */
  around(quantile: number): Record<PhaseName, number> {
    let left = Math.max(1, Math.ceil(this.count * quantile));
    let bucket = 0;
    while (bucket <= this.highest && left > this.rows[bucket * ROW]) left -= this.rows[bucket++ * ROW];
    const row = bucket * ROW;
    const count = bucket > this.highest ? 0 : this.rows[row];
    const means: Record<string, number> = {};
    for (let phase = 0; phase < PHASES; phase++) {
      means[phaseNames[phase]] = count === 0 ? 0 : this.rows[row + 1 + phase] / count;
    }
    return means as Record<PhaseName, number>;
  }

  /** Forgets everything recorded. */
  reset(): void {
    this.rows.fill(0);
    this.highest = -1;
  }
}

function bucketOf(latencyNs: number): number {
  if (latencyNs < SUB) return latencyNs;
  let value = latencyNs;
  let octave = 0;
  if (value >= 0x8000_0000) {
    // 27 octaves up in one step keeps the rest of the arithmetic in 32 bits.
    value = Math.floor(value / 0x800_0000);
    octave = 27;
  }
  const bits = 31 - Math.clz32(value) - SUB_BITS;
  const bucket = ((octave + bits + 1) << SUB_BITS) + ((value >>> Math.max(bits, 0)) & (SUB - 1));
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

// Phases of a flash operation from its end backwards, and what they are called here.
const READ_BACKWARDS = [NandPhase.transfer, NandPhase.busWait, NandPhase.array, NandPhase.dieWait, NandPhase.gcWait];
const PROGRAM_BACKWARDS = [NandPhase.array, NandPhase.dieWait, NandPhase.gcWait, NandPhase.transfer, NandPhase.busWait];
const HOST_PHASE = new Int32Array(NAND_PHASES);
HOST_PHASE[NandPhase.dieWait] = Phase.die;
HOST_PHASE[NandPhase.gcWait] = Phase.gc;
HOST_PHASE[NandPhase.busWait] = Phase.bus;
HOST_PHASE[NandPhase.array] = Phase.array;
HOST_PHASE[NandPhase.transfer] = Phase.transfer;

/**
 * Divides the last `elapsedNs` of a request among phases by the flash operation that ended it. What is longer than the
 * operation went by before it began: waiting for entries of the map (`mapNs`), for a free block (`parkedNs`), or for a
 * program unit to fill up.
 */
export function chargeNand(
  phasesNs: Float64Array,
  at: number,
  elapsedNs: number,
  scheduler: NandScheduler,
  token: Token,
  program: boolean,
  parkedNs: number,
  mapNs: number,
): void {
  let left = elapsedNs;
  if (token !== 0 && left > 0) {
    const order = program ? PROGRAM_BACKWARDS : READ_BACKWARDS;
    const from = token * NAND_PHASES;
    for (let i = 0; i < NAND_PHASES && left > 0; i++) {
      const spent = scheduler.phasesNs[from + order[i]];
      const part = Math.min(spent, left);
      phasesNs[at + HOST_PHASE[order[i]]] += part;
      left -= part;
    }
  }
  if (left === 0) return;
  const mapping = Math.min(mapNs, left);
  phasesNs[at + Phase.mapping] += mapping;
  left -= mapping;
  const parked = Math.min(parkedNs, left);
  phasesNs[at + Phase.gc] += parked;
  phasesNs[at + Phase.buffer] += left - parked;
}

/** Share of the time of a flash operation, and of the wait for a free block before it, that garbage collection took. */
export function gcShare(scheduler: NandScheduler, token: Token, parkedNs: number): number {
  let total = parkedNs;
  if (token !== 0) for (let i = 0; i < NAND_PHASES; i++) total += scheduler.phasesNs[token * NAND_PHASES + i];
  if (total === 0) return 0;
  const behind = token === 0 ? 0 : scheduler.phasesNs[token * NAND_PHASES + NandPhase.gcWait];
  return (behind + parkedNs) / total;
}

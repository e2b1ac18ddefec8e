import { BadBlock } from '@flashstack/nand-device';
import type { StatsRegistry } from '@flashstack/sim';
import type { SsdConfig } from './config.js';
import type { FlashStack } from './flash-stack.js';
import type { SsdStats } from './stats.js';

/** What a drive says about its life so far, in the manner of the health log of a real one. */
export interface DriveHealth {
  readonly hostReadBytes: number;
  readonly hostWrittenBytes: number;
  /** Whole pages programmed for any reason. */
  readonly programmedBytes: number;
  /** Accepted and not programmed yet: slots in the write buffer, and those that wait for their program unit to fill up. */
  readonly waitingBytes: number;
  /**
   * Bytes programmed or waiting per byte that the host has written; 0 before the first. Below 1 only as far as data
   * was overwritten or discarded in the write buffer, or lost there with the power.
   */
  readonly writeAmplification: number;
  /** Physical blocks erased. */
  readonly erases: number;
  /** Good physical blocks beyond those that hold the capacity, now and when the drive was new. */
  readonly spareBlocks: number;
  readonly spareBlocksAtStart: number;
  /**
   * Of block and hybrid mapping: spare allocation blocks of the domain that has the fewest. It ends the drive when they do
   * not do for a merge any more, whatever other domains have left: no domain lends another one blocks. Null: domains share.
   */
  readonly leastSpareBlocks: number | null;
  /** Blocks that were bad from the factory, and blocks retired since. */
  readonly factoryBadBlocks: number;
  readonly retiredBlocks: number;
  /** Erase counts of the good blocks. */
  readonly wearLeast: number;
  readonly wearMean: number;
  readonly wearMost: number;
  /** Mean erase count as a share of the rated cycles; null if the part has none (`nand.reliability: null`). */
  readonly usedShare: number | null;
  /** Reads of the host that failed because data could not be corrected. */
  readonly mediaErrors: number;
  /** Times that power came, the first included, and times that it went without warning. */
  readonly powerCycles: number;
  readonly unsafeShutdowns: number;
  /** Too few good blocks are left to take writes. */
  readonly readOnly: boolean;
}

/**
 * Life-time counters of a drive, from its making or preconditioning on. The counters of host and flash start again with
 * `resetStats`: what they held is added here before.
 */
export class LifeCounters {
  mediaErrors = 0;
  powerCycles = 1;
  unsafeShutdowns = 0;
  private readBytes = 0;
  private writtenBytes = 0;
  private programs = 0;
  private erases = 0;

  /** The counters are about to start again. */
  absorb(stats: SsdStats, { scheduler }: FlashStack): void {
    const { counts } = scheduler;
    this.readBytes += stats.kinds.read.bytes;
    this.writtenBytes += stats.kinds.write.bytes;
    this.programs += counts.total(counts.programs);
    this.erases += counts.total(counts.erases);
  }

  /** The health of a drive with these lives of its parts, and so many slots in its write buffer. */
  health(config: SsdConfig, stats: SsdStats, flash: FlashStack, bufferedSlots: number): DriveHealth {
    const { geometry, reliability } = config.nand;
    const { counts } = flash.scheduler;
    const blocks = countBlocks(flash);
    // A program command of a plane writes a page, or all pages of a word line.
    const commandBytes = geometry.pageBytes * flash.array.geometry.programPages;
    const programmedBytes = (this.programs + counts.total(counts.programs)) * commandBytes;
    const waitingBytes = (bufferedSlots + flash.ftl.stats.pending) * geometry.slotBytes;
    const hostWrittenBytes = this.writtenBytes + stats.kinds.write.bytes;
    const needed = Math.ceil(config.capacityBytes / (geometry.pagesPerBlock * geometry.pageBytes));
    const spareBlocksAtStart = blocks.good + blocks.retired - needed;
    return {
      hostReadBytes: this.readBytes + stats.kinds.read.bytes,
      hostWrittenBytes,
      programmedBytes,
      waitingBytes,
      writeAmplification: hostWrittenBytes === 0 ? 0 : (programmedBytes + waitingBytes) / hostWrittenBytes,
      erases: this.erases + counts.total(counts.erases),
      spareBlocks: spareBlocksAtStart - blocks.retired,
      spareBlocksAtStart,
      leastSpareBlocks: flash.ftl.leastSpareBlocks ?? null,
      factoryBadBlocks: blocks.factoryBad,
      retiredBlocks: blocks.retired,
      wearLeast: blocks.wearLeast,
      wearMean: blocks.wearMean,
      wearMost: blocks.wearMost,
      usedShare: reliability === null ? null : blocks.wearMean / reliability.ratedCycles,
      mediaErrors: this.mediaErrors,
      powerCycles: this.powerCycles,
      unsafeShutdowns: this.unsafeShutdowns,
      readOnly: flash.ftl.readOnly,
    };
  }
}

/** Registers `health.…`; `usedShare` only if the part has rated cycles. */
export function registerHealth(registry: StatsRegistry, health: () => DriveHealth): void {
  const fields = Object.entries(health()).filter(([, value]) => value !== null);
  registry.group(
    'health',
    fields.map(([field]) => field as keyof DriveHealth),
    health,
  );
}

interface BlockCounts {
  readonly good: number;
  readonly factoryBad: number;
  readonly retired: number;
  readonly wearLeast: number;
  readonly wearMean: number;
  readonly wearMost: number;
}

function countBlocks({ array }: FlashStack): BlockCounts {
  let factoryBad = 0;
  let retired = 0;
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let sum = 0;
  for (let block = 0; block < array.geometry.blocks; block++) {
    if (array.bad[block] === BadBlock.factory) factoryBad++;
    if (array.bad[block] === BadBlock.grown) retired++;
    if (array.bad[block] !== BadBlock.good) continue;
    const erases = array.eraseCount[block];
    least = Math.min(least, erases);
    most = Math.max(most, erases);
    sum += erases;
  }
  const good = array.geometry.blocks - factoryBad - retired;
  return {
    good,
    factoryBad,
    retired,
    wearLeast: good === 0 ? 0 : least,
    wearMean: good === 0 ? 0 : sum / good,
    wearMost: most,
  };
}

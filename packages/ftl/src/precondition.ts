import { InstantScheduler } from '@flashstack/nand-device';
import { InputError, type Permutation, type RandomStream, type RankDistribution } from '@flashstack/sim';
import type { DriveFtl } from './contract.js';

/** How a drive is aged by writing to it. */
export interface WritingPlan {
  /** Slots in use, from 0 on. Default: all logical slots. */
  readonly slots?: number;
  /** Write all slots in use once in ascending order first. Default true. */
  readonly fill?: boolean;
  /** Random single-slot writes that follow, in multiples of the slots in use. Default 0. */
  readonly capacities?: number;
  /** Popularity of the slots in use, by rank. Needed if `capacities` is above 0. */
  readonly ranks?: RankDistribution;
  /** Spreads ranks over the slots in use. Default: rank is slot. */
  readonly permutation?: Permutation;
  /** Draws the ranks. Needed if `capacities` is above 0. */
  readonly random?: RandomStream;
  /** Origin of the data. Default 0. */
  readonly origin?: number;
}

/** What preconditioning did. */
export interface PreconditionReport {
  /** Slots written, and NAND slots programmed for it; 0 if the state was drawn instead. */
  readonly written: number;
  readonly programmed: number;
  /** Blocks that hold data, and erased blocks. */
  readonly closedBlocks: number;
  readonly freeBlocks: number;
}

/**
 * Ages a drive by writing, in no simulated time: the mapping code runs as always, so the state is that of a timed run of
 * the same sequence. Contents are zero. The FTL must be idle; it goes on with the scheduler it had.
 * @throws InputError `ERR_FTL_PRECONDITION`.
 */
export function preconditionByWriting(ftl: DriveFtl, plan: WritingPlan = {}): PreconditionReport {
  const slots = checkSlots(ftl, plan.slots);
  if (ftl.appendOnly && (plan.capacities ?? 0) > 0) {
    throw new InputError(
      'ERR_FTL_PRECONDITION',
      'precondition: the mapping scheme takes no random writes; fill the drive in order instead (capacities 0, or `fill`)',
      'capacities',
    );
  }
  const timed = ftl.scheduler;
  const instant = new InstantScheduler(ftl.array);
  ftl.attachScheduler(instant);
  const before = { host: ftl.stats.host, programmed: ftl.stats.programmed };
  const origin = plan.origin ?? 0;
  if (plan.fill ?? true) for (let lpn = 0; lpn < slots; lpn++) writeSlot(ftl, instant, lpn, origin);
  const writes = Math.round((plan.capacities ?? 0) * slots);
  if (writes > 0) {
    const { ranks, random, permutation } = plan;
    if (ranks === undefined || random === undefined) {
      throw new InputError('ERR_FTL_PRECONDITION', 'precondition: random writes need `ranks` and `random`', 'ranks');
    }
    for (let i = 0; i < writes; i++) {
      const rank = ranks.next(random);
      writeSlot(ftl, instant, permutation === undefined ? rank : permutation.map(rank), origin);
    }
  }
  instant.deliver();
  ftl.attachScheduler(timed);
  return {
    written: ftl.stats.host - before.host,
    programmed: ftl.stats.programmed - before.programmed,
    ...blockCounts(ftl),
  };
}

/** The number of slots in use. @throws InputError `ERR_FTL_PRECONDITION` if it is impossible. */
export function checkSlots(ftl: DriveFtl, slots: number | undefined): number {
  const count = slots ?? ftl.logicalSlots;
  if (Number.isSafeInteger(count) && count >= 1 && count <= ftl.logicalSlots) return count;
  throw new InputError(
    'ERR_FTL_PRECONDITION',
    `precondition: slots: found ${count}, expected an integer from 1 to ${ftl.logicalSlots}`,
    'slots',
  );
}

/** Blocks with data and free blocks. */
export function blockCounts(ftl: DriveFtl): { closedBlocks: number; freeBlocks: number } {
  let freeBlocks = 0;
  let usable = 0;
  for (const { freeCount, capacity } of ftl.tables) {
    freeBlocks += freeCount.reduce((a, b) => a + b, 0);
    usable += capacity.reduce((count, slots) => count + (slots > 0 ? 1 : 0), 0);
  }
  return { closedBlocks: usable - freeBlocks, freeBlocks };
}

function writeSlot(ftl: DriveFtl, instant: InstantScheduler, lpn: number, origin: number): void {
  while (!ftl.writeUnattended(lpn, origin)) {
    if (instant.deliver() > 0) continue;
    throw new InputError(
      'ERR_FTL_PRECONDITION',
      'precondition: the drive has no block left that could be freed: too many have failed, or the victim policy chooses none',
      'slots',
    );
  }
  // No time passes, so an erased block is free at once; otherwise allocation would drift away from busy domains.
  if (!ftl.isIdle) instant.deliver();
}

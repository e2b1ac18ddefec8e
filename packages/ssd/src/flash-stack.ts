import { type FtlClient, PageMapFtl, SlotFlag } from '@flashstack/ftl';
import { InstantScheduler, NandArray, TimelineScheduler } from '@flashstack/nand-device';
import type { RandomSource, Simulator } from '@flashstack/sim';
import type { SsdConfig } from './config.js';
import type { ContentPool } from './content-pool.js';

/** State of a drive before a run. */
export type PreconditionState = 'none' | 'fill' | 'steady';

/** A scheduler in simulated time. */
export type TimedScheduler = TimelineScheduler;

/** Drive writes of the random phase of preconditioning by writing. */
const STEADY_DRIVE_WRITES = 3;

/** The flash side of a drive: array, scheduler and FTL, and their life over preconditioning and power cuts. */
export class FlashStack {
  array: NandArray;
  scheduler: TimedScheduler;
  ftl!: PageMapFtl;
  private readonly simulator: Simulator;
  private readonly config: SsdConfig;
  private readonly random: RandomSource;

  constructor(simulator: Simulator, config: SsdConfig, random: RandomSource) {
    this.simulator = simulator;
    this.config = config;
    this.random = random;
    this.array = this.newArray();
    this.scheduler = this.newScheduler();
  }

  /** An FTL on the empty array, answering to `client`. */
  build(client: FtlClient): void {
    this.ftl = this.newFtl(client);
  }

  /** A new array and FTL in the given state. */
  precondition(state: PreconditionState, client: FtlClient): 'none' | 'written' {
    this.array = this.newArray();
    this.scheduler = this.newScheduler();
    this.ftl = this.newFtl(client);
    if (state === 'none') return 'none';
    const instant = new InstantScheduler(this.array);
    this.ftl.attachScheduler(instant);
    const { ftl } = this;
    const { logicalSlots } = ftl;
    for (let lpn = 0; lpn < logicalSlots; lpn++) {
      ftl.write(lpn, 1, 0, 0, 0);
      instant.deliver();
    }
    if (state === 'steady') {
      const random = this.random.stream('ssd.precondition');
      for (let i = 0; i < STEADY_DRIVE_WRITES * logicalSlots; i++) {
        ftl.write(random.below(logicalSlots), 1, 0, 0, 0);
        instant.deliver();
      }
    }
    ftl.flush(0);
    instant.deliver();
    ftl.attachScheduler(this.scheduler);
    return 'written';
  }

  resetStats(): void {
    this.ftl.stats.reset();
    const { counts, dieBusyNs, channelBusyNs } = this.scheduler;
    for (const column of [counts.reads, counts.programs, counts.erases, counts.copybacks]) column.fill(0);
    dieBusyNs.fill(0);
    channelBusyNs.fill(0);
  }

  powerCut(): void {
    this.scheduler.powerCut();
  }

  /** Counts again which content records the array holds, after a power cut. */
  recount(pool: ContentPool): void {
    const { array } = this;
    const { geometry } = array;
    const flags = array.flags as Uint8Array;
    const words = array.word as Uint32Array;
    const slots = geometry.pagesPerBlock * geometry.slotsPerPage;
    pool.beginRecount();
    for (let block = 0; block < geometry.blocks; block++) {
      const first = block * slots;
      const end = first + array.nextPage[block] * geometry.slotsPerPage;
      for (let psn = first; psn < end; psn++) {
        const isUser = (flags[psn] & SlotFlag.kindMask) === SlotFlag.user;
        if (isUser && (flags[psn] & SlotFlag.handle) !== 0) pool.restore(words[psn]);
      }
    }
    pool.endRecount();
  }

  private newArray(): NandArray {
    return new NandArray(this.config.nand, { keeps: this.config.keeps, random: this.random });
  }

  private newScheduler(): TimedScheduler {
    return new TimelineScheduler(this.array, this.simulator);
  }

  private newFtl(client: FtlClient): PageMapFtl {
    const logicalSlots = this.config.capacityBytes / this.config.nand.geometry.slotBytes;
    return new PageMapFtl({
      array: this.array,
      scheduler: this.scheduler,
      client,
      random: this.random,
      options: { ...this.config.ftl, logicalSlots },
    });
  }
}

import { Origin } from '@flashstack/block-device';
import {
  analyticRefusal,
  createFtl,
  type DriveFtl,
  mappingName,
  preconditionAnalytically,
  preconditionByWriting,
  type RecoveryReport,
  SlotFlag,
} from '@flashstack/ftl';
import {
  createEventScheduler,
  InstantScheduler,
  NandArray,
  TimelineScheduler,
  type TransactionScheduler,
  type VssimDelays,
  VssimScheduler,
} from '@flashstack/nand-device';
import { InputError, type RandomSource, type Simulator, UniformRanks } from '@flashstack/sim';
import type { SsdConfig } from './config.js';
import type { ContentPool } from './content-pool.js';
import { FtlSocket } from './ftl-socket.js';

/** State of a drive before a run. */
export type PreconditionState = 'none' | 'fill' | 'steady';

/** How a state was reached: not at all, drawn from the stationary distribution, or by writing. */
export type Preconditioned = 'none' | 'analytic' | 'written';

/** Random writes of preconditioning by writing, in multiples of the slots in use. */
const STEADY_CAPACITIES = 3;

/** The flash side of a drive: array, scheduler and FTL, and their life over preconditioning and power cuts. */
export class FlashStack {
  array: NandArray;
  scheduler: TransactionScheduler;
  ftl: DriveFtl;
  /** Where whoever uses the FTL plugs in. */
  readonly socket: FtlSocket = new FtlSocket();
  private readonly simulator: Simulator;
  private readonly config: SsdConfig;
  private readonly random: RandomSource;

  constructor(simulator: Simulator, config: SsdConfig, random: RandomSource) {
    this.simulator = simulator;
    this.config = config;
    this.random = random;
    this.array = this.newArray();
    this.scheduler = this.newScheduler();
    this.ftl = this.newFtl();
  }

  /** Name of the mapping scheme; empty for one of the user's own. */
  get scheme(): string {
    return mappingName(this.config.ftl.mapping);
  }

  /** A new array and FTL in the given state; no simulated time passes. */
  precondition(state: PreconditionState, share: number): Preconditioned {
    // A drive that nobody has written to is used as it is: two maps at a time would not fit for large drives.
    if (!this.ftl.isUnused) {
      this.array = this.newArray();
      this.scheduler = this.newScheduler();
      this.ftl = this.newFtl();
    }
    if (state === 'none') return 'none';
    if (state === 'steady' && this.ftl.appendOnly) {
      throw new InputError(
        'ERR_SSD_PRECONDITION',
        `precondition: found "steady", but a drive with ftl.mapping ${this.scheme} is written in order only and has no steady ` +
          'state of random writes. Use "fill", or "none"',
        'precondition',
      );
    }
    const { ftl } = this;
    const slots = Math.floor(ftl.logicalSlots * share);
    const random = this.random.stream('ssd.precondition');
    const origin = Origin.preconditioned;
    if (state === 'fill') {
      preconditionByWriting(ftl, { slots, origin });
      this.settle();
      return 'written';
    }
    if (analyticRefusal(ftl, { kind: 'uniform' }) === null) {
      preconditionAnalytically(ftl, { workload: { kind: 'uniform' }, random, slots, origin });
      return 'analytic';
    }
    const ranks = new UniformRanks(slots);
    preconditionByWriting(ftl, { slots, capacities: STEADY_CAPACITIES, ranks, random, origin });
    this.settle();
    return 'written';
  }

  /** Programs what waits for its program unit: a drive that has been left alone holds nothing back. */
  private settle(): void {
    const instant = new InstantScheduler(this.array);
    this.ftl.attachScheduler(instant);
    this.ftl.flush(0);
    instant.deliver();
    this.ftl.attachScheduler(this.scheduler);
  }

  resetStats(): void {
    this.ftl.stats.reset();
    const { counts, dieBusyNs, channelBusyNs } = this.scheduler;
    for (const column of [counts.reads, counts.programs, counts.erases, counts.copybacks]) column.fill(0);
    dieBusyNs.fill(0);
    channelBusyNs.fill(0);
  }

  /** Flash work stops where it is; what only the controller knew is forgotten. */
  powerCut(): void {
    this.scheduler.powerCut();
    this.ftl.powerCut();
  }

  /** Rebuilds the mapping. @throws FtlError `ERR_FTL_RECOVERY` if the array keeps nothing to rebuild it from. */
  recover(): RecoveryReport {
    return this.ftl.recover();
  }

  /**
   * Time that a scan of so many pages takes if all dies read at once, ns: a read of the spare area of each page.
   */
  scanNs(pages: number): number {
    const { geometry, timing } = this.config.nand;
    const meanReadNs = timing.readNs.reduce((sum, ns) => sum + ns, 0) / timing.readNs.length;
    const dies = (pages / this.array.geometry.dies) * (timing.commandNs + meanReadNs);
    const channels =
      (pages / geometry.channels) * (timing.commandNs + (geometry.oobBytes * 1e9) / timing.channelBytesPerSec);
    return Math.ceil(Math.max(dies, channels));
  }

  /** Counts again which content records the array holds, after a power cut and recovery. */
  recount(pool: ContentPool): void {
    const { geometry } = this.array;
    const flags = this.array.flags as Uint8Array;
    const words = this.array.word as Uint32Array;
    pool.beginRecount();
    for (let psn = 0; psn < geometry.slots; psn++) {
      const isUser = (flags[psn] & SlotFlag.kindMask) === SlotFlag.user;
      if (isUser && (flags[psn] & SlotFlag.handle) !== 0) pool.restore(words[psn]);
    }
    pool.endRecount();
  }

  private newArray(): NandArray {
    return new NandArray(this.config.nand, { keeps: this.config.keeps, random: this.random });
  }

  private newScheduler(): TransactionScheduler {
    const { kind, policy, bus, vssim } = this.config.scheduler;
    if (kind === 'timeline') return new TimelineScheduler(this.array, this.simulator);
    if (kind === 'vssim') return new VssimScheduler(this.array, this.simulator, vssim as VssimDelays);
    return createEventScheduler(this.array, this.simulator, { policy, bus });
  }

  /** @throws InputError that speaks of the capacity where the FTL speaks of its logical slots. */
  private newFtl(): DriveFtl {
    const { capacityBytes, nand, ftl } = this.config;
    const { slotBytes } = nand.geometry;
    const logicalSlots = capacityBytes / slotBytes;
    const { array, scheduler, socket: client, random } = this;
    try {
      return createFtl({ array, scheduler, client, random, options: { ...ftl, logicalSlots } });
    } catch (error) {
      if (!(error instanceof InputError) || error.key !== 'ftl.logicalSlots') throw error;
      const what = error.message.slice(`${error.key}: `.length);
      const message = `capacityBytes: found ${capacityBytes}, ${logicalSlots} slots of ${slotBytes} bytes: ${what}`;
      throw new InputError(error.code, message, 'capacityBytes');
    }
  }
}

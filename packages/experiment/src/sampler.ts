import { MoveReason } from '@flashstack/ftl';
import { type StatsRegistry, TimeSeries } from '@flashstack/sim';
import type { Ssd, SsdProbe } from '@flashstack/ssd';

/** Requests between two samples. */
const PERIOD = 256;

/**
 * Follows free space and write amplification over time. It samples after every so many requests, so a run has the same
 * samples on every machine, and notes when garbage collection began.
 */
export class DriveSampler implements SsdProbe {
  /** Simulated time of the first victim of garbage collection, ns; −1: none. */
  gcStartNs = -1;
  /** Share of blocks that were free then. */
  gcStartFreeShare = 0;
  /** Least share of free blocks that was sampled. */
  leastFreeShare = 1;
  private readonly ssd: Ssd;
  private readonly freeShare: TimeSeries = new TimeSeries(1_000_000, 600);
  private readonly hostSlots: TimeSeries = new TimeSeries(1_000_000, 600);
  private readonly programmedSlots: TimeSeries = new TimeSeries(1_000_000, 600);
  private left = PERIOD;
  private lastHost = 0;
  private lastProgrammed = 0;

  constructor(ssd: Ssd) {
    this.ssd = ssd;
    this.leastFreeShare = this.freeNow();
    ssd.probe = this;
    this.watchFirstVictim();
  }

  /** Registers `ftl.freeShare`, and slots written by the host and programmed over time. */
  register(registry: StatsRegistry): void {
    registry.series('ftl.freeShare', this.freeShare);
    registry.series('ftl.hostSlots', this.hostSlots);
    registry.series('ftl.programmedSlots', this.programmedSlots);
  }

  requestDone(): void {
    if (--this.left > 0) return;
    this.left = PERIOD;
    this.sample();
  }

  /** Takes the last sample; the sampler is done then. */
  finish(): void {
    this.sample();
    this.ssd.probe = null;
    this.ssd.flash.ftl.probe = null;
  }

  private sample(): void {
    const { stats } = this.ssd.flash.ftl;
    const time = this.ssd.simulator.now - this.ssd.stats.sinceNs;
    const free = this.freeNow();
    if (free < this.leastFreeShare) this.leastFreeShare = free;
    this.freeShare.add(time, free);
    this.hostSlots.add(time, stats.host - this.lastHost);
    this.programmedSlots.add(time, stats.programmed - this.lastProgrammed);
    this.lastHost = stats.host;
    this.lastProgrammed = stats.programmed;
  }

  private freeNow(): number {
    const { table } = this.ssd.flash.ftl;
    let free = 0;
    for (const count of table.freeCount) free += count;
    return free / table.blocks;
  }

  private watchFirstVictim(): void {
    const { ftl } = this.ssd.flash;
    const nothing = (): void => {
      // Only the first victim is of interest.
    };
    ftl.probe = {
      opened: nothing,
      closed: nothing,
      moved: nothing,
      erasing: nothing,
      erased: nothing,
      retired: nothing,
      parked: nothing,
      resumed: nothing,
      lost: nothing,
      victim: (_block, _valid, reason) => {
        if (reason !== MoveReason.gc) return;
        this.gcStartNs = this.ssd.simulator.now - this.ssd.stats.sinceNs;
        this.gcStartFreeShare = this.freeNow();
        ftl.probe = null;
      },
    };
  }
}

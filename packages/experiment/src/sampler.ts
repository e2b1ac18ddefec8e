import { MoveReason } from '@flashstack/ftl';
import { NandClass } from '@flashstack/nand-device';
import { type StatsRegistry, TimeSeries } from '@flashstack/sim';
import type { Ssd, SsdProbe } from '@flashstack/ssd';
import type { GcObservation } from './analysis.js';
import { BusyMap, type HeatmapRecord } from './busy-map.js';

/** Requests between two samples of the FTL. */
const PERIOD = 256;

/**
 * Follows free space, write amplification and busy resources over time, from the start of the replay. What it samples
 * follows from requests and simulated time alone, so a run has the same samples on every machine.
 */
export class DriveSampler implements SsdProbe {
  /** Time of the first victim of garbage collection since the start, ns; −1: none. */
  gcStartNs = -1;
  /** Share of blocks that were free then. */
  gcStartFreeShare = 0;
  /** Free blocks of the domain concerned then. */
  gcStartFreeBlocks = 0;
  /** Least share of free blocks that was sampled, and fewest free blocks of a domain. */
  leastFreeShare = 1;
  leastFreeBlocks: number = Number.MAX_SAFE_INTEGER;
  private readonly ssd: Ssd;
  private readonly startNs: number;
  private readonly freeShare: TimeSeries = new TimeSeries(1_000_000, 600);
  private readonly hostSlots: TimeSeries = new TimeSeries(1_000_000, 600);
  private readonly programmedSlots: TimeSeries = new TimeSeries(1_000_000, 600);
  private readonly dies: BusyMap;
  private readonly channels: BusyMap;
  private left = PERIOD;
  private nextBusyNs = 0;
  private lastHost = 0;
  private lastProgrammed = 0;

  constructor(ssd: Ssd) {
    this.ssd = ssd;
    this.startNs = ssd.simulator.now;
    const { dieBusyNs, channelBusyNs } = ssd.flash.scheduler;
    const diesPerChannel = dieBusyNs.length / channelBusyNs.length;
    this.dies = new BusyMap(
      Array.from(dieBusyNs, (_, die) => `c${Math.floor(die / diesPerChannel)} d${die % diesPerChannel}`),
    );
    this.channels = new BusyMap(Array.from(channelBusyNs, (_, channel) => `c${channel}`));
    this.leastFreeShare = this.freeNow();
    this.leastFreeBlocks = this.fewestNow();
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
    if (this.ssd.simulator.now >= this.nextBusyNs) this.sampleBusy();
    if (--this.left > 0) return;
    this.left = PERIOD;
    this.sample();
  }

  /** Call around a reset of the drive's statistics: before, to take what they hold; `restart` after it. */
  beforeReset(): void {
    this.sample();
    this.sampleBusy();
  }

  /** The drive's statistics have just started again from zero. */
  restart(): void {
    this.lastHost = 0;
    this.lastProgrammed = 0;
    this.dies.restart();
    this.channels.restart();
  }

  /** Takes the last sample; the sampler is done then. */
  finish(): void {
    this.sample();
    this.sampleBusy();
    this.ssd.probe = null;
    this.ssd.flash.ftl.probe = null;
  }

  /** What the analysis needs of garbage collection. */
  observation(): GcObservation {
    const { ftl, scheduler } = this.ssd.flash;
    const { reads, programs, erases } = scheduler.counts;
    const { gcStartNs, gcStartFreeShare, gcStartFreeBlocks, leastFreeShare, leastFreeBlocks } = this;
    return {
      gcStartNs,
      gcStartFreeShare,
      gcStartFreeBlocks,
      leastFreeShare,
      leastFreeBlocks,
      threshold: ftl.gcLow,
      domainBlocks: ftl.tables[0].blocksPerDomain,
      work: {
        reads: reads[NandClass.gcRead],
        programs: programs[NandClass.gcWrite],
        erases: erases[NandClass.gcErase],
      },
    };
  }

  /** `nand.busy` with a row for each die and `channel.busy` with one for each channel. */
  heatmaps(): Readonly<Record<string, HeatmapRecord>> {
    return { 'nand.busy': this.dies.toRecord(), 'channel.busy': this.channels.toRecord() };
  }

  private sampleBusy(): void {
    const { simulator, flash } = this.ssd;
    const timeNs = simulator.now - this.startNs;
    this.dies.sample(timeNs, flash.scheduler.dieBusyNs);
    this.channels.sample(timeNs, flash.scheduler.channelBusyNs);
    this.nextBusyNs = simulator.now + this.dies.widthNs;
  }

  private sample(): void {
    const { stats } = this.ssd.flash.ftl;
    const time = this.ssd.simulator.now - this.startNs;
    const free = this.freeNow();
    if (free < this.leastFreeShare) this.leastFreeShare = free;
    this.leastFreeBlocks = Math.min(this.leastFreeBlocks, this.fewestNow());
    this.freeShare.add(time, free);
    this.hostSlots.add(time, stats.host - this.lastHost);
    this.programmedSlots.add(time, stats.programmed - this.lastProgrammed);
    this.lastHost = stats.host;
    this.lastProgrammed = stats.programmed;
  }

  private freeNow(): number {
    let free = 0;
    let blocks = 0;
    for (const table of this.ssd.flash.ftl.tables) {
      for (const count of table.freeCount) free += count;
      blocks += table.blocks;
    }
    return free / blocks;
  }

  private fewestNow(): number {
    let fewest = Number.MAX_SAFE_INTEGER;
    for (const { freeCount } of this.ssd.flash.ftl.tables) {
      for (const count of freeCount) fewest = Math.min(fewest, count);
    }
    return fewest;
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
      victim: (block, _valid, reason) => {
        if (reason !== MoveReason.gc) return;
        this.gcStartNs = this.ssd.simulator.now - this.startNs;
        this.gcStartFreeShare = this.freeNow();
        const [table] = this.ssd.flash.ftl.tables;
        this.gcStartFreeBlocks = table.freeCount[table.domainOf(block)];
        ftl.probe = null;
      },
    };
  }
}

import { NandArray, TimelineScheduler } from '@flashstack/nand-device';
import { HotColdRanks, RandomSource, Simulator, UniformRanks } from '@flashstack/sim';
import { createFtl, type DriveFtl, type FtlClient, type FtlOptions, preconditionByWriting } from '../src/index.js';
import { config, IN_USE, LOGICAL, QUEUE_DEPTH } from './drive.js';

/** One measurement; `run(n)` does n page operations of the flash: reads and programs, of the host and of all it entails. */
export interface FlashBenchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
  /** Operations per CPU-second that must be reached. */
  readonly bar?: number;
  /** Row that this one is compared with. */
  readonly roofline?: string;
  teardown(): void;
  /** What the operations were, given how many were done in a second. */
  report?(perSecond: number): Record<string, number>;
}

/** Slots of a sequential request. */
const REQUEST = 32;

/** Keeps requests in flight on a drive until the flash has done so many operations. */
abstract class Writer implements FtlClient {
  readonly ftl: DriveFtl;
  private readonly simulator = new Simulator();
  private target = 0;

  constructor(options: FtlOptions) {
    const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
    const scheduler = new TimelineScheduler(array, this.simulator);
    this.ftl = createFtl({ array, scheduler, client: this, random: new RandomSource(1), options });
  }

  run(n: number): void {
    this.target = this.operations + n;
    for (let job = 0; job < QUEUE_DEPTH; job++) this.ftlDone(job);
    this.simulator.drain();
  }

  /** Page operations so far: a page is a slot. */
  private get operations(): number {
    const { stats } = this.ftl;
    return stats.programmed + stats.moveReads + stats.mapReads;
  }

  report(perSecond: number): Record<string, number> {
    const { stats } = this.ftl;
    const round = (value: number): number => Math.round(100 * value) / 100;
    const per1000 = (count: number): number => Math.round((1e6 * count) / stats.host) / 1000;
    const lookUps = stats.mapHits + stats.mapMisses;
    return {
      waf: round(stats.writeAmplification),
      operationsPerWrite: round(this.operations / stats.host),
      writesPerSecond: Math.round((perSecond * stats.host) / this.operations),
      switchesPer1000: per1000(stats.switchMerges),
      partialsPer1000: per1000(stats.partialMerges),
      fullsPer1000: per1000(stats.fullMerges),
      ...(lookUps > 0 ? { hitRatio: Math.round((1e4 * stats.mapHits) / lookUps) / 1e4 } : {}),
      ...(this.ftl.appendOnly
        ? { backupsPer1000: per1000(stats.backups), trimmedPer1000: per1000(stats.trimmed) }
        : {}),
    };
  }

  ftlDone(job: number): void {
    if (this.operations < this.target) this.next(job);
  }

  slotWord(): number {
    return 0;
  }

  slotRead(): void {}
  wordCopied(): void {}
  wordDead(): void {}

  protected abstract next(job: number): void;
}

/** Random writes of a slot over 90 % of the drive. */
class RandomWriter extends Writer {
  private readonly random = new RandomSource(7).stream('bench');

  /** `capacities`: how often the slots in use are overwritten before. */
  constructor(options: FtlOptions, capacities: number) {
    super(options);
    const random = new RandomSource(2).stream('precondition');
    preconditionByWriting(this.ftl, { slots: IN_USE, capacities, ranks: new UniformRanks(IN_USE), random });
    this.ftl.stats.reset();
  }

  protected next(job: number): void {
    this.ftl.write(this.random.below(IN_USE), 1, 0, 0, job);
  }
}

/** Random writes of a slot, 80 % of them to a fifth of the slots in use, with a hint of which part it is. */
class HintedWriter extends Writer {
  private readonly random = new RandomSource(7).stream('bench');
  private readonly ranks = new HotColdRanks(IN_USE, 0.2, 0.8);

  constructor(options: FtlOptions) {
    super(options);
    const random = new RandomSource(2).stream('precondition');
    preconditionByWriting(this.ftl, { slots: IN_USE, capacities: 1, ranks: this.ranks, random });
    this.ftl.stats.reset();
  }

  protected next(job: number): void {
    const lpn = this.ranks.next(this.random);
    this.ftl.write(lpn, 1, 0, lpn < this.ranks.hotCount ? 1 : 2, job);
  }
}

/** Writes 90 % of the drive in order, over and over. */
class SequentialWriter extends Writer {
  private position = 0;

  constructor(options: FtlOptions) {
    super(options);
    preconditionByWriting(this.ftl, { slots: IN_USE });
    this.ftl.stats.reset();
  }

  protected next(job: number): void {
    if (this.position + REQUEST > IN_USE) this.position = 0;
    this.ftl.write(this.position, REQUEST, 0, 0, job);
    this.position += REQUEST;
  }
}

/** Writes the segments of a full drive in turn, each in order, after it has been released. */
class SegmentWriter extends Writer {
  private segment = 0;
  private offset = 0;

  constructor(options: FtlOptions) {
    super(options);
    preconditionByWriting(this.ftl);
    this.ftl.stats.reset();
  }

  protected next(job: number): void {
    const { segments } = this.ftl;
    if (segments === undefined) throw new Error('the mapping scheme has no segments');
    const capacity = segments.capacityOf(this.segment);
    const start = segments.first + this.segment * segments.stride;
    if (segments.pointerOf(this.segment) === capacity && this.offset === 0) {
      this.ftl.trim(start, capacity, job);
      return;
    }
    const count = Math.min(REQUEST, capacity - this.offset);
    this.ftl.write(start + this.offset, count, 0, 0, job);
    this.offset += count;
    if (this.offset < capacity) return;
    this.offset = 0;
    this.segment = (this.segment + 1) % segments.count;
  }
}

function row(name: string, bar: number, make: () => Writer): FlashBenchmark {
  let writer: Writer | null = null;
  const started = (): Writer => {
    writer ??= make();
    return writer;
  };
  return {
    name: `ftl: ${name}, timeline, flash operations`,
    n: 2_000_000,
    bar,
    run: (n) => started().run(n),
    teardown: () => {
      writer = null;
    },
    report: (perSecond) => started().report(perSecond),
  };
}

/** Random writes; `capacities`: how often the slots in use are overwritten before. */
export function randomRow(mapping: string, capacities = 0): FlashBenchmark {
  return row(`${mapping}, random write`, 3_000_000, () => {
    return new RandomWriter({ logicalSlots: LOGICAL, mapping }, capacities);
  });
}

/** Hot and cold writes to page mapping, separated by a stream policy with its defaults. */
export function streamRow(streams: string): FlashBenchmark {
  return row(`page, ${streams === 'none' ? 'one stream' : streams}, hot/cold write`, 3_000_000, () => {
    return new HintedWriter({ logicalSlots: LOGICAL, mapping: 'page', streams });
  });
}

/** Sequential writes: every program is a host write of its own, with all that a host write takes. */
export function sequentialRow(mapping: string): FlashBenchmark {
  return row(`${mapping}, sequential write`, 1_500_000, () => {
    return new SequentialWriter({ logicalSlots: LOGICAL, mapping });
  });
}

/** Segments written in order and released. */
export function segmentRow(mapping: string, bar: number, logicalSlots: number): FlashBenchmark {
  return row(`${mapping}, segments in turn`, bar, () => new SegmentWriter({ logicalSlots, mapping }));
}

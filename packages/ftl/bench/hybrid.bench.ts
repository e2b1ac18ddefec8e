import { NandArray, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { createFtl, type DriveFtl, type FtlClient, preconditionByWriting } from '../src/index.js';
import { config, IN_USE, LOGICAL, QUEUE_DEPTH } from './drive.js';

/** One measurement; `run(n)` does n page operations of the flash: reads and programs, of the host and of merges. */
interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
  /** Operations per CPU-second that must be reached. */
  readonly bar: number;
  teardown(): void;
  report(): Record<string, number>;
}

/** Slots of a sequential request. */
const REQUEST = 32;

/** Keeps writes in flight on a drive of which 90 % are in use, until the flash has done so many operations. */
class Writer implements FtlClient {
  readonly ftl: DriveFtl;
  private readonly simulator = new Simulator();
  private readonly random = new RandomSource(7).stream('bench');
  private readonly sequential: boolean;
  private position = 0;
  private target = 0;

  constructor(scheme: string, sequential: boolean) {
    const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
    this.sequential = sequential;
    const scheduler = new TimelineScheduler(array, this.simulator);
    const options = { logicalSlots: LOGICAL, mapping: scheme };
    this.ftl = createFtl({
      array,
      scheduler,
      client: this,
      random: new RandomSource(1),
      options,
    });
    preconditionByWriting(this.ftl, { slots: IN_USE });
    this.ftl.stats.reset();
  }

  run(n: number): void {
    this.target = this.operations + n;
    for (let job = 0; job < QUEUE_DEPTH; job++) this.next(job);
    this.simulator.drain();
  }

  get operations(): number {
    // A page is a slot.
    const { stats } = this.ftl;
    return stats.programmed + stats.moveReads;
  }

  report(): Record<string, number> {
    const { stats } = this.ftl;
    const per1000 = (count: number): number => Math.round((1e6 * count) / stats.host) / 1000;
    return {
      waf: Math.round(100 * stats.writeAmplification) / 100,
      operationsPerWrite: Math.round((100 * this.operations) / stats.host) / 100,
      switchesPer1000: per1000(stats.switchMerges),
      partialsPer1000: per1000(stats.partialMerges),
      fullsPer1000: per1000(stats.fullMerges),
    };
  }

  ftlDone(job: number): void {
    this.next(job);
  }

  slotWord(): number {
    return 0;
  }

  slotRead(): void {}
  wordCopied(): void {}
  wordDead(): void {}

  private next(job: number): void {
    if (this.operations >= this.target) return;
    if (!this.sequential) {
      this.ftl.write(this.random.below(IN_USE), 1, 0, 0, job);
      return;
    }
    if (this.position + REQUEST > IN_USE) this.position = 0;
    this.ftl.write(this.position, REQUEST, 0, 0, job);
    this.position += REQUEST;
  }
}

function row(scheme: string, sequential: boolean): Benchmark {
  let writer: Writer | null = null;
  const started = (): Writer => {
    writer ??= new Writer(scheme, sequential);
    return writer;
  };
  return {
    name: `ftl: ${scheme}, ${sequential ? 'sequential' : 'random'} write, timeline, flash operations`,
    n: 2_000_000,
    // In sequence every program is a host write of its own, with all that a host write takes.
    bar: sequential ? 1_500_000 : 3_000_000,
    run: (n) => started().run(n),
    teardown: () => {
      writer = null;
    },
    report: () => started().report(),
  };
}

export const benchmarks: readonly Benchmark[] = ['block', 'bast', 'sast', 'fast', 'last'].flatMap((scheme) => [
  row(scheme, false),
  row(scheme, true),
]);

import { RandomSource, type RandomStream } from '@flashstack/sim';
import type { Ftl, FtlClient, SegmentView } from '../contract.js';
import { ShadowClient } from './shadow.js';

/** What the implementation under test can do. */
export interface FtlSupports {
  /** `powerCut` of the subject works. */
  readonly powerCut: boolean;
  /** `step` of the subject works. Default false. */
  readonly steps?: boolean;
  /** The FTL is written by segments, which subjects then describe in `segments`. Default false. */
  readonly appendOnly?: boolean;
}

/** One random run: the subject is made for it. */
export interface FtlScenario {
  readonly seed: number;
  /** Make program and erase failures likely (but no bit errors, so no data may be lost before the drive is worn out). */
  readonly faults: boolean;
}

/** An FTL with everything around it that the suite needs. */
export interface FtlSubject {
  readonly ftl: Ftl;
  /** Of an append-only FTL. */
  readonly segments?: SegmentView;
  /** Content word of a physical slot. */
  wordAt(psn: number): number;
  /** Lets some of what is in flight happen; `amount` is 0 … 1. */
  advance(amount: number): void;
  /** Lets everything happen. */
  drain(): void;
  /**
   * Lets some of what is in flight happen, as little as may make a difference to a power cut. False: nothing was in flight.
   * Needed if `supports.steps`.
   */
  step?(): boolean;
  /** Power is lost now, and the FTL recovers; `ftl` may be used again on return. */
  powerCut(): void;
  /** Checks the implementation's own invariants; throws if one does not hold. */
  inspect(): void;
  /** Physical slots that hold the handle `word` now, if the implementation can tell. */
  slotsOfHandle?(word: number): number;
}

/** How the suite is run. */
export interface FtlConformanceOptions {
  /** The test function of a test runner. */
  readonly test: (name: string, run: () => void) => void;
  readonly factory: (scenario: FtlScenario, client: FtlClient) => FtlSubject;
  readonly supports: FtlSupports;
  /** Random runs per group of tests. Default 50. */
  readonly seeds?: number;
  /**
   * Each of the two groups with power cuts goes on with further seeds until it has made half so many. Default 0: as many
   * as the seeds happen to make.
   */
  readonly powerCuts?: number;
  /** First seed. Default 1. */
  readonly firstSeed?: number;
  /** Operations per run. Default 400. */
  readonly operations?: number;
  /** With `supports.steps`: short histories, seed after seed, whose recovery is cut at some of its steps. Default 1. */
  readonly nestedSeeds?: number;
  /** It is cut at each so many steps, from a random one on. Default 16. */
  readonly nestedEvery?: number;
}

/** Operations before the first of several cuts in a row. */
const SHORT_HISTORY = 60;

/** One random run against one subject. */
export class Run {
  readonly subject: FtlSubject;
  /** Power cuts so far. */
  cutsMade = 0;
  protected readonly shadow: ShadowClient;
  protected readonly random: RandomStream;
  protected readonly slots: number;
  private readonly options: FtlConformanceOptions;
  private readonly scenario: FtlScenario;
  private readonly cuts: boolean;

  constructor(options: FtlConformanceOptions, scenario: FtlScenario, cuts: boolean) {
    this.options = options;
    this.scenario = scenario;
    this.cuts = cuts;
    this.random = new RandomSource(scenario.seed).stream('conformance');
    // The client must exist before the FTL whose size it needs.
    const probe = options.factory(scenario, new ShadowClient(0, true));
    this.slots = probe.ftl.logicalSlots;
    this.shadow = new ShadowClient(this.slots, scenario.faults);
    this.subject = options.factory(scenario, this.shadow);
    this.shadow.wordAt = (psn) => this.subject.wordAt(psn);
  }

  run(): void {
    const { random, subject } = this;
    const operations = this.options.operations ?? 400;
    this.fill();
    for (let i = 0; i < operations; i++) {
      this.operate();
      if (random.below(4) === 0) subject.advance(random.nextFloat());
      if (random.below(50) === 0) this.inspect();
      if (this.cuts && random.below(120) === 0) this.cut();
      this.check();
    }
    this.drain();
    this.readAll();
    this.inspect();
    this.checkHandles();
  }

  /**
   * A short history, a power cut, another one so many steps into the recovery, and a third one in the recovery after that.
   * @returns false if the first recovery was over before.
   */
  runNested(steps: number): boolean {
    const { random, subject } = this;
    this.fill();
    for (let i = 0; i < SHORT_HISTORY; i++) {
      this.operate();
      if (random.below(4) === 0) subject.advance(random.nextFloat() / 4);
      this.check();
    }
    this.cut();
    const goesOn = this.stepOn(steps);
    this.cut();
    this.stepOn(random.below(Math.max(2, steps)));
    this.cut();
    for (let i = 0; i < SHORT_HISTORY / 3; i++) this.operate();
    this.drain();
    this.readAll();
    this.inspect();
    this.checkHandles();
    return goesOn;
  }

  /** @returns false if nothing was in flight before the last step. */
  private stepOn(steps: number): boolean {
    if (this.subject.step === undefined) throw this.error('the subject has no step, although it supports steps');
    for (let i = 0; i < steps; i++) {
      if (!this.subject.step()) return false;
      this.check();
    }
    return true;
  }

  readUnwritten(): void {
    this.subject.ftl.read(0, Math.min(8, this.slots), this.shadow.begin('read', 0, Math.min(8, this.slots)));
    if (this.shadow.open.size !== 1) throw this.error('the read was reported done from inside the call');
    this.drain();
  }

  refuseOutside(): void {
    const { ftl } = this.subject;
    for (const [lpn, count] of [
      [-1, 1],
      [0, 0],
      [this.slots, 1],
      [this.slots - 1, 2],
    ]) {
      for (const call of [
        () => ftl.read(lpn, count, 0),
        () => ftl.write(lpn, count, 0, 0, 0),
        () => ftl.trim(lpn, count, 0),
      ]) {
        let refused = false;
        try {
          call();
        } catch (error) {
          refused = error instanceof RangeError;
        }
        if (!refused) throw this.error(`a request of ${count} slots from ${lpn} was not refused with a RangeError`);
      }
    }
    this.drain();
    this.inspect();
  }

  /** Most of the device, so that collection has to work. */
  protected fill(): void {
    for (let lpn = 0; lpn < this.slots; lpn += 4) {
      if (this.random.below(10) === 0) continue;
      this.write(lpn, Math.min(4, this.slots - lpn));
    }
    this.drain();
  }

  protected operate(): void {
    this.operateWithin(this.slots);
  }

  /** A random operation on the first `slots` slots. */
  protected operateWithin(slots: number): void {
    const { random } = this;
    const kind = random.below(100);
    // Half of the accesses go to an eighth of the slots.
    const range = random.below(2) === 0 ? slots : Math.ceil(slots / 8);
    const lpn = random.below(range);
    const count = Math.min(1 + random.below(random.below(8) === 0 ? 24 : 3), slots - lpn);
    if (kind < 70) this.write(lpn, count);
    else if (kind < 85) this.subject.ftl.read(lpn, count, this.shadow.begin('read', lpn, count));
    else if (kind < 95) this.subject.ftl.trim(lpn, count, this.shadow.begin('trim', lpn, count));
    else if (kind < 99) this.flush();
    else this.subject.ftl.idle(Number.MAX_SAFE_INTEGER);
  }

  protected write(lpn: number, count: number): void {
    const job = this.shadow.begin('write', lpn, count);
    this.subject.ftl.write(lpn, count, this.random.below(256), this.random.below(4), job);
  }

  protected flush(): void {
    this.subject.ftl.flush(this.shadow.begin('flush'));
  }

  protected cut(): void {
    this.cutsMade++;
    this.shadow.powerCut();
    this.subject.powerCut();
    this.inspect();
    this.shadow.recovering = true;
    for (let lpn = 0; lpn < this.slots; lpn++) this.subject.ftl.read(lpn, 1, this.shadow.begin('read', lpn, 1));
    this.shadow.recovering = false;
    this.check();
  }

  private readAll(): void {
    for (let lpn = 0; lpn < this.slots; lpn++) this.subject.ftl.read(lpn, 1, this.shadow.begin('read', lpn, 1));
    this.drain();
  }

  protected drain(): void {
    // A write may wait for its program unit to fill until a flush pads it.
    this.flush();
    this.subject.drain();
    this.check();
    if (this.shadow.open.size > 0) throw this.error(`${this.shadow.open.size} jobs were never reported done`);
  }

  protected inspect(): void {
    try {
      this.subject.inspect();
    } catch (error) {
      throw this.error((error as Error).message);
    }
  }

  private checkHandles(): void {
    const { subject } = this;
    if (subject.slotsOfHandle === undefined) return;
    for (const [word, count] of this.shadow.handles) {
      const found = subject.slotsOfHandle(word);
      if (found !== count) throw this.error(`handle ${word} stands in ${found} slots, but ${count} were reported`);
    }
  }

  private check(): void {
    if (this.shadow.problem !== null) throw this.error(this.shadow.problem);
  }

  protected error(what: string): Error {
    return new Error(`seed ${this.scenario.seed}: ${what}`);
  }
}

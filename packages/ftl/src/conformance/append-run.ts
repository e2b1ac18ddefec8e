import type { SegmentView } from '../contract.js';
import { type FtlConformanceOptions, type FtlScenario, Run } from './run.js';

/** A random run against an FTL that is written by segments. */
export class AppendRun extends Run {
  private readonly view: SegmentView;
  /** Per segment: slots written or on their way, and the operation that finished it (0: none since its release). */
  private readonly pointer: number[];
  private readonly finishedOp: number[];
  private readonly releasedOp: number[];

  constructor(options: FtlConformanceOptions, scenario: FtlScenario, cuts: boolean) {
    super(options, scenario, cuts);
    if (this.subject.segments === undefined) throw this.error('the subject does not describe its segments');
    this.view = this.subject.segments;
    this.pointer = new Array<number>(this.view.count).fill(0);
    this.finishedOp = new Array<number>(this.view.count).fill(0);
    this.releasedOp = new Array<number>(this.view.count).fill(0);
  }

  protected override fill(): void {
    for (let lpn = 0; lpn < this.view.first; lpn += 4) this.write(lpn, Math.min(4, this.view.first - lpn));
    for (let segment = 0; segment < this.view.count; segment++) {
      const upTo =
        this.random.below(3) === 0 ? this.random.below(this.view.capacityOf(segment)) : this.capacity(segment);
      while (this.pointer[segment] < upTo) this.append(segment, Math.min(5, upTo - this.pointer[segment]));
    }
    this.drain();
  }

  protected override operate(): void {
    const { random, view, shadow } = this;
    if (view.first > 0 && random.below(3) === 0) {
      this.operateWithin(view.first);
      return;
    }
    const kind = random.below(100);
    const segment = random.below(random.below(2) === 0 ? view.count : Math.ceil(view.count / 4));
    // A drive that has worn out may refuse anything: the model no longer knows its pointers.
    if (shadow.wornOut) this.readSome();
    else if (kind < 70) this.appendOrRelease(segment);
    else if (kind < 82) this.readSome();
    else if (kind < 88) this.misplace(segment);
    else if (kind < 91) this.trimPart(segment);
    else if (kind < 93) this.release(segment);
    else if (kind < 94) this.finish(segment);
    else if (kind < 99) this.flush();
    else this.subject.ftl.idle(Number.MAX_SAFE_INTEGER);
  }

  private capacity(segment: number): number {
    return this.view.capacityOf(segment);
  }

  private start(segment: number): number {
    return this.view.first + segment * this.view.stride;
  }

  private isFull(segment: number): boolean {
    return this.finishedOp[segment] > 0 || this.pointer[segment] === this.capacity(segment);
  }

  private appendOrRelease(segment: number): void {
    const count = 1 + this.random.below(this.random.below(6) === 0 ? 40 : 4);
    if (!this.isFull(segment)) this.append(segment, count);
    else if (!this.view.overwrite || this.random.below(2) === 0) this.release(segment);
    else this.overwriteFromStart(segment, Math.min(count, this.capacity(segment)));
  }

  /** Appends, sometimes on into the next segment. */
  private append(segment: number, wanted: number): void {
    const room = this.capacity(segment) - this.pointer[segment];
    const next = segment + 1;
    const fillsStride = this.capacity(segment) === this.view.stride;
    const goesOn = wanted > room && fillsStride && next < this.view.count && this.pointer[next] === 0;
    const further = goesOn && this.finishedOp[next] === 0 ? Math.min(wanted - room, this.capacity(next)) : 0;
    const count = Math.min(wanted, room) + further;
    const lpn = this.start(segment) + this.pointer[segment];
    this.pointer[segment] += count - further;
    if (further > 0) this.pointer[next] = further;
    this.write(lpn, count);
  }

  private overwriteFromStart(segment: number, count: number): void {
    this.forget(segment);
    this.pointer[segment] = count;
    const job = this.shadow.begin('write', this.start(segment), count, this.capacity(segment));
    this.subject.ftl.write(this.start(segment), count, this.random.below(256), 0, job);
  }

  private forget(segment: number): void {
    this.pointer[segment] = 0;
    this.finishedOp[segment] = 0;
    this.releasedOp[segment] = this.shadow.ops + 1;
  }

  private release(segment: number): void {
    const count = this.capacity(segment);
    const first = this.start(segment);
    this.forget(segment);
    if (this.random.below(2) === 0) this.view.reset(segment, this.shadow.begin('reset', first, count));
    else this.subject.ftl.trim(first, count, this.shadow.begin('trim', first, count));
  }

  /** A trim of less than a segment changes nothing. */
  private trimPart(segment: number): void {
    const capacity = this.capacity(segment);
    if (capacity < 2) return;
    const from = this.random.below(2);
    const count = Math.min(1 + this.random.below(capacity - 1), capacity - from);
    if (count < capacity) this.subject.ftl.trim(this.start(segment) + from, count, this.shadow.begin('read'));
  }

  /** A write anywhere but at the pointer is refused, and changes nothing. */
  private misplace(segment: number): void {
    const { random } = this;
    const capacity = this.view.stride;
    const offset = random.below(capacity);
    const count = Math.min(1 + random.below(3), capacity - offset);
    const overwrites = this.view.overwrite && offset === 0;
    const fits = offset === this.pointer[segment] && !this.isFull(segment) && offset + count <= this.capacity(segment);
    const lpn = this.start(segment) + offset;
    if (overwrites || fits || lpn + count > this.slots) return;
    this.subject.ftl.write(lpn, count, 0, 0, this.shadow.begin('refused', lpn, count));
  }

  private finish(segment: number): void {
    if (this.view.zones === null) return;
    const job = this.shadow.begin('finish', this.start(segment), this.capacity(segment));
    if (!this.isFull(segment)) this.finishedOp[segment] = this.shadow.ops;
    this.view.finish(segment, job);
  }

  private readSome(): void {
    const lpn = this.random.below(this.slots);
    const count = Math.min(1 + this.random.below(24), this.slots - lpn);
    this.subject.ftl.read(lpn, count, this.shadow.begin('read', lpn, count));
  }

  /** After a cut each segment holds a run of slots from its start, and nothing else. */
  protected override cut(): void {
    super.cut();
    const { view, shadow } = this;
    for (let segment = 0; segment < view.count; segment++) {
      const pointer = view.pointerOf(segment);
      for (let offset = 0; offset < view.stride && this.start(segment) + offset < this.slots; offset++) {
        const holds = shadow.wordOf(this.start(segment) + offset) !== null;
        if (holds === offset < pointer) continue;
        throw this.error(
          `after a power cut slot ${offset} of segment ${segment} holds ${holds ? 'data' : 'nothing'}, its pointer is ${pointer}`,
        );
      }
      this.checkFinished(segment);
      this.pointer[segment] = pointer;
      this.finishedOp[segment] = view.isFinished(segment) ? Math.max(1, this.finishedOp[segment]) : 0;
    }
  }

  private checkFinished(segment: number): void {
    const { view, shadow } = this;
    const finished = view.isFinished(segment);
    if (!finished && this.finishedOp[segment] > 0 && shadow.flushedOp > this.finishedOp[segment]) {
      throw this.error(`segment ${segment} was finished and flushed, but takes writes after a power cut`);
    }
    if (finished && this.finishedOp[segment] === 0 && shadow.flushedOp > this.releasedOp[segment]) {
      throw this.error(`segment ${segment} is finished after a power cut, although nobody finished it`);
    }
  }
}

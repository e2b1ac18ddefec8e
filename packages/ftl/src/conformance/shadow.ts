import { CONTENT_HANDLE, type FtlClient, FtlStatus } from '../contract.js';

/** What a job was. */
const JobKind = { write: 0, read: 1, trim: 2, flush: 3, refused: 4, reset: 5, finish: 6 } as const;

interface Job {
  readonly kind: number;
  readonly lpn: number;
  readonly count: number;
  /** Order of issue of all operations. */
  readonly op: number;
  /** Slots from `lpn` on that a write at the start of a segment releases. */
  readonly releases: number;
}

/** A version of a slot: the word written by an operation, or null after a trim and before the first write. */
interface Version {
  readonly op: number;
  readonly word: number | null;
}

/**
 * The client side of an FTL, as a plain model: what each slot must read as, what it may read as after a power cut, and
 * how often each content handle must stand in physical slots.
 */
export class ShadowClient implements FtlClient {
  /** First contradiction found; checked by the suite after every step, because callbacks come from an event loop. */
  problem: string | null = null;
  /** Jobs issued and not done. */
  readonly open: Map<number, Job> = new Map();
  /** Physical slots that hold each handle, as the FTL reported them. */
  readonly handles: Map<number, number> = new Map();
  /** Order of issue of the latest flush that has ended well. */
  flushedOp = 0;
  /** The reads that follow are the first ones after a recovery. */
  recovering = false;
  private readonly slots: number;
  private readonly mapped: Version[];
  /** Versions that a power cut may bring back: the last durable one first. */
  private readonly candidates: Version[][];
  /** Failing blocks may wear the drive out; from then on slots may be lost and operations refused. */
  private readonly mayWearOut: boolean;
  wornOut = false;
  ops = 0;
  private words = 0;
  private freeJobs: number[] = [];
  private nextJob = 0;

  constructor(slots: number, mayWearOut: boolean) {
    this.slots = slots;
    this.mayWearOut = mayWearOut;
    this.mapped = Array.from({ length: slots }, () => ({ op: 0, word: null }));
    this.candidates = this.mapped.map((version) => [version]);
  }

  /**
   * A job of kind `refused` must end as misplaced. A `reset` is a trim, and a `finish` a read of nothing, that is durable for
   * its slots when it ends. `releases`: see `Job`.
   */
  begin(kind: keyof typeof JobKind, lpn = 0, count = 0, releases = 0): number {
    const job = this.freeJobs.pop() ?? this.nextJob++;
    this.ops++;
    this.open.set(job, { kind: JobKind[kind], lpn, count, op: this.ops, releases });
    const gone = kind === 'trim' || kind === 'reset' ? count : releases;
    for (let slot = lpn; slot < lpn + gone; slot++) this.addCandidate(slot, { op: this.ops, word: null });
    return job;
  }

  ftlDone(job: number, status: number): void {
    const done = this.open.get(job);
    if (done === undefined) {
      this.fail(`job ${job} was reported done, but is not open`);
      return;
    }
    this.open.delete(job);
    this.freeJobs.push(job);
    const expected = done.kind === JobKind.refused ? FtlStatus.misplaced : FtlStatus.ok;
    if (status >= FtlStatus.readOnly && status !== expected && this.mayWearOut) this.wornOut = true;
    if (status !== expected && !this.wornOut) this.fail(`job ${job} of kind ${done.kind} ended with status ${status}`);
    if (isTrim(done)) this.applyTrim(done);
    if (status !== FtlStatus.ok) return;
    if (done.kind === JobKind.flush) this.applyFlush(done.op);
    else if (done.kind === JobKind.reset) this.settle(done.lpn, done.count, done.op + 1);
    else if (done.kind === JobKind.finish) this.settle(done.lpn, done.count, done.op);
  }

  slotWord(job: number, lpn: number): number {
    const write = this.open.get(job);
    if (write === undefined || write.kind !== JobKind.write || lpn < write.lpn || lpn >= write.lpn + write.count) {
      this.fail(`the word of slot ${lpn} was asked for job ${job}, which does not write it`);
      return 0;
    }
    if (write.releases > 0 && lpn === write.lpn) this.release(write);
    const word = ++this.words;
    const version = { op: write.op, word };
    this.mapped[lpn] = version;
    this.addCandidate(lpn, version);
    if (word % 2 === 0) return word;
    this.handles.set(word, (this.handles.get(word) ?? 0) + 1);
    return word + CONTENT_HANDLE;
  }

  slotRead(_job: number, lpn: number, psn: number): void {
    if (this.recovering) {
      this.recovered(lpn, psn);
      return;
    }
    const word = psn < 0 ? null : this.wordAt(psn);
    if (word === this.mapped[lpn].word) return;
    const released = (job: Job): number => (isTrim(job) ? job.count : job.releases);
    const trimmed = [...this.open.values()].some(
      (job) => job.op > this.mapped[lpn].op && lpn >= job.lpn && lpn < job.lpn + released(job),
    );
    if (word === null && (trimmed || this.wornOut)) return;
    this.fail(`slot ${lpn} reads as ${word}, expected ${this.mapped[lpn].word}`);
  }

  wordCopied(word: number): void {
    const count = this.handles.get(word);
    if (count === undefined) this.fail(`handle ${word} was copied after its last slot had died`);
    else this.handles.set(word, count + 1);
  }

  wordDead(word: number): void {
    const count = this.handles.get(word);
    if (count === undefined) this.fail(`handle ${word} died more often than it was stored`);
    else if (count === 1) this.handles.delete(word);
    else this.handles.set(word, count - 1);
  }

  /** The word that a slot must read as; null: nothing. */
  wordOf(lpn: number): number | null {
    return this.mapped[lpn].word;
  }

  /** The words of the array under test. */
  wordAt: (psn: number) => number = () => 0;

  /** Power is gone: open jobs will never be reported. */
  powerCut(): void {
    this.open.clear();
    this.freeJobs = [];
    this.nextJob = 0;
  }

  /** Slot `lpn` holds what slot `psn` says (−1: nothing): one of the versions that may have survived. */
  private recovered(lpn: number, psn: number): void {
    const word = psn < 0 ? null : this.wordAt(psn);
    const version = this.candidates[lpn].find((candidate) => candidate.word === word);
    if (version === undefined) {
      const expected = this.candidates[lpn].map((candidate) => String(candidate.word)).join(', ');
      this.fail(`after a power cut slot ${lpn} reads as ${word}; it may be one of ${expected}`);
      return;
    }
    const now = { op: this.ops, word };
    this.mapped[lpn] = now;
    this.candidates[lpn] = [now];
  }

  /** Candidates are kept in order of issue; parked writes are mapped after later trims were issued. */
  private addCandidate(lpn: number, version: Version): void {
    const versions = this.candidates[lpn];
    let at = versions.length;
    while (at > 0 && versions[at - 1].op > version.op) at--;
    versions.splice(at, 0, version);
  }

  private release(write: Job): void {
    for (let slot = write.lpn; slot < write.lpn + write.releases; slot++) {
      this.mapped[slot] = { op: write.op, word: null };
    }
  }

  private applyTrim(trim: Job): void {
    for (let slot = trim.lpn; slot < trim.lpn + trim.count; slot++) {
      if (this.mapped[slot].op < trim.op) this.mapped[slot] = { op: trim.op, word: null };
    }
  }

  private applyFlush(op: number): void {
    this.flushedOp = Math.max(this.flushedOp, op);
    this.settle(0, this.slots, op);
  }

  /** Of the operations issued before one, only the last one on each slot can be what a power cut leaves. */
  private settle(first: number, count: number, op: number): void {
    for (let slot = first; slot < first + count; slot++) {
      const versions = this.candidates[slot];
      let last = 0;
      for (let i = 1; i < versions.length; i++) if (versions[i].op < op) last = i;
      if (last > 0) versions.splice(0, last);
    }
  }

  private fail(what: string): void {
    this.problem ??= what;
  }
}

function isTrim({ kind }: Job): boolean {
  return kind === JobKind.trim || kind === JobKind.reset;
}

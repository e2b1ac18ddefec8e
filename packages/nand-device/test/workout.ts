import type { RandomStream } from '@flashstack/sim';
import { NAND_PHASES, NandClass, type Token, type TransactionScheduler } from '../src/index.js';
import type { Simulator } from './support.js';

/** One command as it was issued, and what became of it. */
export interface Issued {
  readonly atNs: number;
  readonly op: 'read' | 'program' | 'cacheProgram' | 'erase' | 'copyback' | 'run';
  /** ppns; blocks of an erase; source and destination of a copyback. */
  readonly at: readonly number[];
  readonly slotMask: number;
  readonly cls: number;
  /** Commands (by number) that it came after. */
  readonly after: readonly number[];
  /** Also after every program issued before. */
  readonly fenced: boolean;
  /** Index of the page whose end is `doneNs`, for a run. */
  doneNs: number;
  readyNs: number;
  phases: number[];
}

/** Which commands a workout may use. */
export interface Repertoire {
  readonly planes: boolean;
  readonly cache: boolean;
  readonly copyback: boolean;
}

/**
 * Issues random commands that keep the rules (pages in order, erase before reuse, nothing read that is not finished),
 * with chains such as those of garbage collection, on any scheduler. Everything that ends is recorded.
 */
export class Workout {
  readonly log: Issued[] = [];
  outstanding = 0;
  private readonly open = new Set<number>();
  private readonly usersOfBlock: Int32Array;
  private readonly erasing: Uint8Array;

  constructor(
    readonly scheduler: TransactionScheduler,
    readonly simulator: Simulator,
    readonly random: RandomStream,
    readonly repertoire: Repertoire,
  ) {
    this.usersOfBlock = new Int32Array(scheduler.array.geometry.blocks);
    this.erasing = new Uint8Array(scheduler.array.geometry.blocks);
  }

  /** Issues `count` commands in bursts, then lets everything end. */
  run(count: number, meanGapNs: number): void {
    while (this.log.length < count) {
      if (this.random.below(4) === 0) this.simulator.runUntil(this.simulator.now + this.random.below(2 * meanGapNs));
      this.issueOne();
    }
    this.simulator.drain();
  }

  private issueOne(): void {
    const { copyback, cache } = this.repertoire;
    const draw = this.random.below(10);
    if (draw === 0) this.eraseSome();
    else if (draw === 1) this.move();
    else if (draw === 2 && copyback) this.copyback();
    else if (draw === 3 && cache) this.runOfReads();
    else if (draw < 7) this.programSome(this.programmable(), 0, []);
    else this.readSome();
  }

  private readSome(): void {
    const ppn = this.readable();
    if (ppn < 0) return;
    const { geometry } = this.scheduler.array;
    const mates = this.repertoire.planes ? this.matesOf(ppn, (other) => this.isReadable(other)) : [];
    const cls = [NandClass.mappingRead, NandClass.userRead, NandClass.gcRead][this.random.below(3)];
    if (mates.length > 0) {
      const at = [ppn, ...mates];
      this.watch(this.note('read', at, 2 ** geometry.slotsPerPage - 1, cls, []), (after) =>
        this.scheduler.readPlanes(Int32Array.from(at), at.length, cls, after),
      );
      return;
    }
    const mask = 1 + this.random.below(2 ** geometry.slotsPerPage - 1);
    this.watch(this.note('read', [ppn], mask, cls, []), (after) => this.scheduler.read(ppn, mask, cls, after));
  }

  private programSome(ppn: number, after: Token, afterLog: number[]): void {
    if (ppn < 0) return;
    const cls = after !== 0 ? NandClass.gcWrite : [NandClass.userWrite, NandClass.mappingWrite][this.random.below(2)];
    const mates = this.repertoire.planes ? this.matesOf(ppn, (other) => this.isProgrammable(other)) : [];
    const at = [ppn, ...mates];
    const { scheduler } = this;
    if (mates.length > 0) {
      this.watch(
        this.note('program', at, 0, cls, afterLog),
        (token) => scheduler.programPlanes(Int32Array.from(at), at.length, cls, token),
        after,
      );
    } else if (this.repertoire.cache && this.random.below(2) === 0) {
      this.watch(
        this.note('cacheProgram', at, 0, cls, afterLog),
        (token) => scheduler.programCache(ppn, cls, token),
        after,
      );
    } else {
      this.watch(this.note('program', at, 0, cls, afterLog), (token) => scheduler.program(ppn, cls, token), after);
    }
  }

  /** A page's move through the controller: a program after a read, or after two. */
  private move(): void {
    const from = this.readable();
    const to = this.programmable();
    if (from < 0 || to < 0) return;
    const { geometry } = this.scheduler.array;
    const mask = 2 ** geometry.slotsPerPage - 1;
    const first = this.note('read', [from], mask, NandClass.gcRead, []);
    let after = this.begin(first, (token) => this.scheduler.read(from, mask, NandClass.gcRead, token));
    const numbers = [first];
    const second = this.random.below(2) === 0 ? this.readable() : -1;
    if (second >= 0) {
      const number = this.note('read', [second], mask, NandClass.gcRead, []);
      after = this.scheduler.join(
        after,
        this.begin(number, (token) => this.scheduler.read(second, mask, NandClass.gcRead, token)),
      );
      numbers.push(number);
    }
    this.programSome(to, after, numbers);
  }

  private copyback(): void {
    const { geometry, config, copybacks } = this.scheduler.array;
    const from = this.readable();
    if (from < 0 || (copybacks as Uint8Array)[from] >= config.features.maxCopybacks) return;
    const unit = geometry.unitOfBlock(geometry.blockOf(from));
    const to = this.programmable((block) => geometry.unitOfBlock(block) === unit && block !== geometry.blockOf(from));
    if (to < 0) return;
    this.watch(this.note('copyback', [from, to], 0, NandClass.gcWrite, []), (after) =>
      this.scheduler.copyback(from, to, NandClass.gcWrite, after),
    );
  }

  private runOfReads(): void {
    const first = this.readable();
    if (first < 0) return;
    const at = [first];
    while (at.length < 4 && this.isReadable(first + at.length)) at.push(first + at.length);
    const run = new Int32Array(at.length);
    const number = this.note('run', at, 0, NandClass.userRead, []);
    this.scheduler.readCache(Int32Array.from(at), at.length, NandClass.userRead, 0, run);
    this.claim(number);
    let left = at.length;
    run.forEach((token, index) => {
      this.whenDone(token, () => {
        const entry = this.log[number];
        entry.phases.push(...this.phasesOf(token));
        if (--left > 0) return;
        if (index !== at.length - 1) throw new Error('the pages of a run ended out of order');
        this.ended(number, token);
      });
    });
  }

  private eraseSome(): void {
    const { geometry, nextPage } = this.scheduler.array;
    const block = this.random.below(geometry.blocks);
    const erasable = (other: number) =>
      nextPage[other] > 0 && this.usersOfBlock[other] === 0 && this.erasing[other] === 0;
    if (!erasable(block)) return;
    const mates = this.repertoire.planes
      ? this.matesOf(block * geometry.pagesPerBlock, (ppn) => erasable(geometry.blockOf(ppn))).map((p) =>
          geometry.blockOf(p),
        )
      : [];
    const at = [block, ...mates];
    for (const each of at) this.erasing[each] = 1;
    const fenced = this.random.below(2) === 0;
    const number = this.note('erase', at, 0, NandClass.gcErase, [], fenced);
    this.watch(
      number,
      (after) =>
        at.length > 1
          ? this.scheduler.erasePlanes(Int32Array.from(at), at.length, NandClass.gcErase, after)
          : this.scheduler.erase(block, NandClass.gcErase, after),
      fenced ? this.scheduler.fence() : 0,
    );
  }

  private note(op: Issued['op'], at: number[], slotMask: number, cls: number, after: number[], fenced = false): number {
    const entry = {
      atNs: this.simulator.now,
      op,
      at,
      slotMask,
      cls,
      after,
      fenced,
      doneNs: -1,
      readyNs: -1,
      phases: [],
    };
    return this.log.push(entry) - 1;
  }

  private begin(number: number, issue: (after: Token) => Token, after: Token = 0): Token {
    const token = issue(after);
    this.claim(number);
    return token;
  }

  private watch(number: number, issue: (after: Token) => Token, after: Token = 0): void {
    const token = this.begin(number, issue, after);
    this.whenDone(token, () => {
      this.log[number].phases.push(...this.phasesOf(token));
      this.ended(number, token);
    });
  }

  private whenDone(token: Token, done: () => void): void {
    this.outstanding++;
    this.scheduler.then(
      token,
      {
        nandDone: () => {
          this.outstanding--;
          done();
        },
      },
      0,
    );
  }

  private phasesOf(token: Token): number[] {
    return [...this.scheduler.phasesNs.subarray(token * NAND_PHASES, (token + 1) * NAND_PHASES)];
  }

  /** Blocks of a command are in use until it has ended. */
  private claim(number: number): void {
    this.open.add(number);
    for (const block of this.blocksOf(number)) this.usersOfBlock[block]++;
  }

  private ended(number: number, token: Token): void {
    const entry = this.log[number];
    entry.doneNs = this.simulator.now;
    entry.readyNs = this.scheduler.readyNs[token];
    for (const each of [number, ...entry.after]) {
      this.open.delete(each);
      for (const block of this.blocksOf(each)) {
        this.usersOfBlock[block]--;
        if (this.log[each].op === 'erase') this.erasing[block] = 0;
      }
    }
  }

  private blocksOf(number: number): number[] {
    const { geometry } = this.scheduler.array;
    const entry = this.log[number];
    return entry.op === 'erase' ? [...entry.at] : entry.at.map((ppn) => geometry.blockOf(ppn));
  }

  private isReadable(ppn: number): boolean {
    const { geometry, nextPage } = this.scheduler.array;
    if (ppn >= geometry.pages) return false;
    return geometry.pageOf(ppn) < nextPage[geometry.blockOf(ppn)] && !this.scheduler.isProgramming(ppn);
  }

  private readable(): number {
    const { geometry } = this.scheduler.array;
    for (let i = 0; i < 20; i++) {
      const ppn = this.random.below(geometry.pages);
      if (this.isReadable(ppn)) return ppn;
    }
    return -1;
  }

  private isProgrammable(ppn: number): boolean {
    const { geometry, nextPage } = this.scheduler.array;
    const block = geometry.blockOf(ppn);
    return this.erasing[block] === 0 && nextPage[block] === geometry.pageOf(ppn);
  }

  private programmable(accept: (block: number) => boolean = () => true): number {
    const { geometry, nextPage } = this.scheduler.array;
    for (let i = 0; i < 20; i++) {
      const block = this.random.below(geometry.blocks);
      if (this.erasing[block] === 0 && nextPage[block] < geometry.pagesPerBlock && accept(block)) {
        return geometry.ppn(block, nextPage[block]);
      }
    }
    return -1;
  }

  /** Pages of the same index on other planes of the die that `accept` allows. */
  private matesOf(ppn: number, accept: (ppn: number) => boolean): number[] {
    const { geometry } = this.scheduler.array;
    const block = geometry.blockOf(ppn);
    const mates: number[] = [];
    for (let plane = 0; plane < geometry.planes; plane++) {
      if (plane === geometry.planeOfBlock[block]) continue;
      const unit = geometry.dieOfBlock[block] * geometry.planes + plane;
      const other = geometry.ppn(
        unit * geometry.blocksPerPlane + this.random.below(geometry.blocksPerPlane),
        geometry.pageOf(ppn),
      );
      if (accept(other) && this.random.below(3) > 0) mates.push(other);
    }
    return mates;
  }
}

import type { Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { Completions } from './completions.js';
import { NandClass, type NandClient, type Token } from './contract.js';
import type { InFlight } from './in-flight.js';
import type { PhaseTrace } from './phase-trace.js';
import { Placement } from './placement.js';
import { cutPower, type PowerCut } from './power-cut.js';
import { QuickPlacement } from './quick-placement.js';
import { popcount } from './reliability.js';
import { TransactionScheduler } from './scheduler.js';
import { OpKind } from './transactions.js';

/** Options of `TimelineScheduler`. */
export interface TimelineOptions {
  /** Future reservations a channel remembers. Default 1024. */
  readonly reservations?: number;
}

/**
 * The fast scheduler: places every phase of an operation when it is issued, at the earliest time its resources are
 * free. Exact when the controller issues in order of arrival; priorities and suspension need `EventScheduler`.
 */
export class TimelineScheduler extends TransactionScheduler {
  protected readonly placement: Placement;
  private readonly flight: InFlight;
  /** Null unless the part is plain; see `isQuick`. */
  private readonly quick: QuickPlacement | null;
  /** Per block: when everything that supersedes its data is durable. */
  private readonly guardedUntilNs: Float64Array;

  constructor(array: NandArray, simulator: Simulator, options: TimelineOptions = {}) {
    super(array, simulator);
    this.placement = new Placement(array, this.tokens, this.durations, simulator, options.reservations ?? 1024, true);
    this.flight = this.placement.flight as InFlight;
    this.guardedUntilNs = new Float64Array(array.geometry.blocks);
    this.quick = QuickPlacement.fits(array)
      ? new QuickPlacement(array, this.tokens, this.durations, this.placement)
      : null;
  }

  /** Who is told of every booking, or null. */
  get trace(): PhaseTrace | null {
    return this.placement.trace;
  }

  set trace(trace: PhaseTrace | null) {
    this.placement.trace = trace;
  }

  /** ns for which each die has been booked, also in the future. */
  get dieBusyNs(): Float64Array {
    return this.placement.times.dieBusyNs;
  }

  /** ns for which each channel has been booked, also in the future. */
  get channelBusyNs(): Float64Array {
    return this.placement.bus.busyNs;
  }

  override read(ppn: number, slotMask: number, cls: number, after: Token): Token {
    const { quick } = this;
    if (quick === null || this.isWatched) return super.read(ppn, slotMask, cls, after);
    const { array, tokens, durations } = this;
    tokens.check(after);
    if (after === 0) this.checkFinished(ppn);
    const status = array.read(ppn, slotMask);
    const block = array.geometry.blockOf(ppn);
    const token = this.openReady(status, after);
    const page = ppn - block * array.geometry.pagesPerBlock;
    quick.read(token, block, durations.readOfPage[page], durations.readTransfer[popcount(slotMask)], cls);
    this.counts.reads[cls]++;
    return token;
  }

  override program(ppn: number, cls: number, after: Token): Token {
    const { quick } = this;
    if (quick === null || this.isWatched) return super.program(ppn, cls, after);
    const { array, tokens } = this;
    tokens.check(after);
    const status = array.program(ppn);
    const token = this.openReady(status, after);
    quick.program(token, ppn, array.geometry.blockOf(ppn), array.undoState[0], cls);
    this.counts.programs[cls]++;
    return token;
  }

  override programPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token {
    const { quick } = this;
    if (quick === null || this.isWatched) return super.programPlanes(ppns, count, cls, after);
    const { array, tokens } = this;
    tokens.check(after);
    const status = array.programPlanes(ppns, count);
    const token = this.openReady(status, after);
    quick.programPlanes(token, ppns, count, array.undoState, cls);
    this.counts.programs[cls] += count;
    return token;
  }

  override relocate(from: number, to: number): void {
    const { quick, array, durations } = this;
    const { geometry } = array;
    const source = geometry.blockOf(from);
    const block = geometry.blockOf(to);
    if (quick === null || this.isWatched || geometry.dieOfBlock[source] !== geometry.dieOfBlock[block]) {
      super.relocate(from, to);
      return;
    }
    this.checkFinished(from);
    array.relocate(from, to);
    quick.relocate(from, durations.readTransfer[geometry.slotsPerPage], to, block, array.undoState[0]);
    const done = array.busyUntilNs[block];
    if (done > this.guardedUntilNs[source]) this.guardedUntilNs[source] = done;
    this.counts.reads[NandClass.gcRead]++;
    this.counts.programs[NandClass.gcWrite]++;
  }

  override rewrite(from: number, to: number): void {
    const { quick, array, durations } = this;
    if (quick === null || this.isWatched) {
      super.rewrite(from, to);
      return;
    }
    const { geometry } = array;
    const source = geometry.blockOf(from);
    const block = geometry.blockOf(to);
    this.checkFinished(from);
    array.relocate(from, to);
    quick.rewrite(from, source, durations.readTransfer[geometry.slotsPerPage], to, block, array.undoState[0]);
    const done = array.busyUntilNs[block];
    if (done > this.guardedUntilNs[source]) this.guardedUntilNs[source] = done;
    this.counts.reads[NandClass.mappingRead]++;
    this.counts.programs[NandClass.mappingWrite]++;
  }

  /** The one that is done later; its status becomes the worse of the two. */
  join(a: Token, b: Token): Token {
    const { tokens } = this;
    tokens.check(a);
    tokens.check(b);
    if (a === 0 || b === 0) return a + b;
    const later = tokens.doneNs[b] > tokens.doneNs[a] ? b : a;
    const other = a + b - later;
    if (tokens.status[other] > tokens.status[later]) tokens.status[later] = tokens.status[other];
    tokens.release(other);
    return later;
  }

  fence(): Token {
    const done = this.placement.lastProgramNs[0];
    if (done <= this.simulator.now) return 0;
    const { tokens } = this;
    const token = tokens.open();
    tokens.kind[token] = OpKind.none;
    tokens.status[token] = 0;
    tokens.readyNs[token] = done;
    tokens.doneNs[token] = done;
    return token;
  }

  guard(block: number, token: Token): void {
    const done = this.tokens.doneNs[token];
    if (done > this.guardedUntilNs[block]) this.guardedUntilNs[block] = done;
  }

  drop(token: Token): void {
    if (token === 0) return;
    this.tokens.check(token);
    this.tokens.release(token);
  }

  // biome-ignore lint/suspicious/noThenProperty: the contract's name; a scheduler is never awaited
  then(token: Token, client: NandClient, arg: number): void {
    const { tokens } = this;
    tokens.check(token);
    const now = this.simulator.now;
    const bound = token === 0 ? this.doneToken() : token;
    const done = tokens.doneNs[bound];
    this.callAt(Math.max(done, now), bound, client, arg);
  }

  isProgramming(ppn: number): boolean {
    const { geometry, busyUntilNs } = this.array;
    const block = geometry.blockOf(ppn);
    if (busyUntilNs[block] <= this.simulator.now) return false;
    return this.flight.isProgramming(geometry.dieOfBlock[block], ppn);
  }

  isIdle(ppn: number): boolean {
    const { times } = this.placement;
    times.io[0] = 0;
    times.waitForDie(this.array.geometry.dieOf(ppn));
    return times.io[0] <= this.simulator.now;
  }

  /**
   * Power fails now: operations in progress are torn, those that have not begun are undone, all tokens are void and no
   * client is called any more. The scheduler can be used again at once, by whoever recovers.
   */
  powerCut(): PowerCut {
    const result = cutPower(this.array, this.flight, this.simulator.now);
    this.placement.clear();
    this.guardedUntilNs.fill(0);
    this.tokens.clear();
    this.completions.alive = false;
    this.completions = new Completions(this.tokens);
    return result;
  }

  protected start(token: Token, after: Token): void {
    const { tokens } = this;
    const now = this.simulator.now;
    let ready = now;
    if (after !== 0) {
      if (tokens.doneNs[after] > now) ready = tokens.doneNs[after];
      tokens.release(after);
    }
    if (tokens.kind[token] === OpKind.erase) {
      const base = token * tokens.planesPerDie;
      for (let i = base; i < base + tokens.count[token]; i++) {
        ready = Math.max(ready, this.guardedUntilNs[tokens.address[i]]);
      }
    }
    tokens.readyNs[token] = ready;
    if (tokens.kind[token] === OpKind.readRun) {
      for (let page = tokens.mate[token]; page !== 0; page = tokens.mate[page]) tokens.readyNs[page] = ready;
    }
    this.placement.place(token);
  }

  /** Somebody wants to see every phase or transaction. */
  private get isWatched(): boolean {
    return this.placement.times.trace !== null || this.probe !== null;
  }

  /** A token whose `readyNs` follows from `after`, which is used up; its phases are still to be filled. */
  private openReady(status: number, after: Token): Token {
    const { tokens } = this;
    let ready = this.simulator.now;
    if (after !== 0) {
      if (tokens.doneNs[after] > ready) ready = tokens.doneNs[after];
      tokens.release(after);
    }
    const token = tokens.take();
    tokens.status[token] = status;
    tokens.readyNs[token] = ready;
    return token;
  }

  /** A token that is done now, for `then(0, …)`. */
  private doneToken(): Token {
    const { tokens } = this;
    const token = tokens.open();
    tokens.kind[token] = OpKind.none;
    tokens.status[token] = 0;
    tokens.readyNs[token] = this.simulator.now;
    tokens.doneNs[token] = this.simulator.now;
    return token;
  }
}

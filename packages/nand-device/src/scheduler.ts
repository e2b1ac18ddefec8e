import type { Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { Completions } from './completions.js';
import { NandClass, type NandClient, type NandScheduler, type Token } from './contract.js';
import { DurationTable } from './durations.js';
import type { PowerCut } from './power-cut.js';
import type { NandProbe } from './probe.js';
import { popcount } from './reliability.js';
import { NandCounts } from './stats.js';
import { OpKind, TokenState, Transactions } from './transactions.js';

/**
 * What the timed schedulers share: they check and apply a command to the array, describe it as a transaction (a token's
 * columns), and hand it to `start`.
 */
export abstract class TransactionScheduler implements NandScheduler {
  readonly array: NandArray;
  /** Operations by kind and class. */
  readonly counts: NandCounts = new NandCounts();
  /** Who is told of every transaction, or null. */
  probe: NandProbe | null = null;
  protected readonly simulator: Simulator;
  protected readonly tokens: Transactions;
  protected readonly durations: DurationTable;
  protected completions: Completions;

  constructor(array: NandArray, simulator: Simulator) {
    this.array = array;
    this.simulator = simulator;
    array.clock = simulator;
    this.tokens = new Transactions(array.geometry.planes);
    this.durations = new DurationTable(array);
    this.completions = new Completions(this.tokens);
  }

  /** Per token, valid from issue: its `NandStatus`. */
  get status(): Uint8Array {
    return this.tokens.status;
  }

  /** `phasesNs[token * NAND_PHASES + phase]`, ns. */
  get phasesNs(): Float64Array {
    return this.tokens.phasesNs;
  }

  /** Per token: when it is done, ns; on `timeline` valid from issue, on `event` in `nandDone`. */
  get doneNs(): Float64Array {
    return this.tokens.doneNs;
  }

  /** Per token: when it could begin: its issue, or the end of its `after`. Valid as `doneNs` is. */
  get readyNs(): Float64Array {
    return this.tokens.readyNs;
  }

  read(ppn: number, slotMask: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    if (after === 0) this.checkFinished(ppn);
    const status = array.read(ppn, slotMask);
    const block = geometry.blockOf(ppn);
    const token = tokens.open();
    tokens.status[token] = status;
    tokens.kind[token] = OpKind.read;
    tokens.cls[token] = cls;
    tokens.die[token] = geometry.dieOfBlock[block];
    tokens.planes[token] = 1 << geometry.planeOfBlock[block];
    tokens.count[token] = 1;
    tokens.address[token * geometry.planes] = ppn;
    tokens.commandNs[token] = durations.commandNs;
    tokens.arrayNs[token] = durations.readOfPage[ppn - block * geometry.pagesPerBlock];
    tokens.transferNs[token] = durations.readTransfer[popcount(slotMask)];
    tokens.retries[token] = array.lastRetries;
    tokens.softReads[token] = array.lastSoftReads;
    this.counts.reads[cls]++;
    this.issue(token, after);
    return token;
  }

  relocate(from: number, to: number): void {
    this.readAndProgram(from, to, NandClass.gcRead, NandClass.gcWrite);
  }

  rewrite(from: number, to: number): void {
    this.readAndProgram(from, to, NandClass.mappingRead, NandClass.mappingWrite);
  }

  /**
   * Multi-plane read of whole pages, one per plane, same page index. Its status is the worst of its planes, its retries
   * those of the plane that needs most.
   */
  readPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    if (after === 0) for (let i = 0; i < count; i++) this.checkFinished(ppns[i]);
    const status = array.readPlanes(ppns, count);
    const token = this.openPlanes(OpKind.read, ppns, count, cls, status);
    tokens.commandNs[token] = durations.onBus(count, durations.commandNs);
    tokens.arrayNs[token] = durations.readOfPage[geometry.pageOf(ppns[0])];
    tokens.transferNs[token] = count * durations.readTransfer[geometry.slotsPerPage];
    tokens.retries[token] = array.lastRetries;
    tokens.softReads[token] = array.lastSoftReads;
    this.counts.reads[cls] += count;
    this.issue(token, after);
    return token;
  }

  /**
   * Cache reads of whole pages of one plane: the array reads the next page while this one is transferred. `run[i]`
   * becomes the token of page i. Retries lengthen the array phase of their page. @throws NandRuleError `cache`.
   */
  readCache(ppns: Int32Array, count: number, cls: number, after: Token, run: Int32Array): void {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    array.rules.cacheRun(ppns, count);
    if (after === 0) for (let i = 0; i < count; i++) this.checkFinished(ppns[i]);
    const retryNs = array.config.timing.featureNs + durations.pageTransferNs;
    for (let i = 0; i < count; i++) {
      const status = array.read(ppns[i], 2 ** geometry.slotsPerPage - 1);
      const token = this.openPlanes(OpKind.readRun, ppns.subarray(i, i + 1), 1, cls, status);
      const tR = durations.readOfPage[geometry.pageOf(ppns[i])];
      tokens.arrayNs[token] = tR * (1 + array.lastRetries + array.lastSoftReads) + retryNs * array.lastRetries;
      tokens.commandNs[token] = durations.commandNs;
      tokens.transferNs[token] = durations.pageTransferNs;
      run[i] = token;
      if (i > 0) tokens.mate[run[i - 1]] = token;
    }
    this.counts.reads[cls] += count;
    this.issue(run[0], after);
  }

  program(ppn: number, cls: number, after: Token): Token {
    return this.programPage(ppn, OpKind.program, cls, after);
  }

  /** Cache program: the register is free for the next page's data while the array works. @throws NandRuleError `cache`. */
  programCache(ppn: number, cls: number, after: Token): Token {
    this.array.rules.cache();
    return this.programPage(ppn, OpKind.cacheProgram, cls, after);
  }

  programPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    tokens.check(after);
    const status = array.programPlanes(ppns, count);
    const token = this.openPlanes(OpKind.program, ppns, count, cls, status);
    let arrayNs = 0;
    for (let i = 0; i < count; i++) arrayNs = Math.max(arrayNs, durations.programNs(ppns[i]));
    tokens.commandNs[token] = durations.onBus(count, durations.commandNs + durations.programTransferNs);
    tokens.arrayNs[token] = arrayNs;
    this.counts.programs[cls] += count;
    this.issue(token, after);
    return token;
  }

  erase(block: number, cls: number, after: Token): Token {
    const { array, tokens } = this;
    const { geometry } = array;
    tokens.check(after);
    const status = array.erase(block);
    const token = tokens.open();
    tokens.status[token] = status;
    tokens.kind[token] = OpKind.erase;
    tokens.cls[token] = cls;
    tokens.die[token] = geometry.dieOfBlock[block];
    tokens.planes[token] = 1 << geometry.planeOfBlock[block];
    tokens.count[token] = 1;
    tokens.address[token * geometry.planes] = block;
    tokens.undo[token * geometry.planes] = array.undoState[0];
    tokens.commandNs[token] = array.config.timing.eraseCommandNs;
    tokens.arrayNs[token] = this.durations.eraseNs(block);
    this.counts.erases[cls]++;
    this.issue(token, after);
    return token;
  }

  /** Multi-plane erase: blocks of one die, pairwise different planes; one tBERS. */
  erasePlanes(blocks: Int32Array, count: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    const status = array.erasePlanes(blocks, count);
    const pages = Int32Array.from(blocks.subarray(0, count), (block) => block * geometry.pagesPerBlock);
    const token = this.openPlanes(OpKind.erase, pages, count, cls, status);
    let arrayNs = 0;
    for (let i = 0; i < count; i++) {
      tokens.address[token * geometry.planes + i] = blocks[i];
      arrayNs = Math.max(arrayNs, durations.eraseNs(blocks[i]));
    }
    tokens.commandNs[token] = durations.onBus(count, array.config.timing.eraseCommandNs);
    tokens.arrayNs[token] = arrayNs;
    this.counts.erases[cls] += count;
    this.issue(token, after);
    return token;
  }

  copyback(from: number, to: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    if (after === 0) this.checkFinished(from);
    const status = array.copyback(from, to);
    const block = geometry.blockOf(to);
    const token = tokens.open();
    tokens.status[token] = status;
    tokens.kind[token] = OpKind.copyback;
    tokens.cls[token] = cls;
    tokens.die[token] = geometry.dieOfBlock[block];
    tokens.planes[token] = 1 << geometry.planeOfBlock[block];
    tokens.count[token] = 1;
    tokens.address[token * geometry.planes] = to;
    tokens.undo[token * geometry.planes] = array.undoState[0];
    tokens.commandNs[token] = durations.commandNs;
    tokens.sourcePpn[token] = from;
    tokens.sourceNs[token] = durations.readOfPage[geometry.pageOf(from)];
    tokens.transferNs[token] = array.config.features.copybackCheck ? durations.pageTransferNs : 0;
    tokens.arrayNs[token] = durations.programNs(to);
    this.counts.programs[cls]++;
    this.counts.copybacks[cls]++;
    this.issue(token, after);
    return token;
  }

  /** ns for which each die, and each channel, has been taken; on `timeline` also booked time in the future. */
  abstract readonly dieBusyNs: Float64Array;
  abstract readonly channelBusyNs: Float64Array;
  /**
   * Power fails now: operations in progress are torn, those that have not begun are undone, all tokens are void and no
   * client is called any more. The scheduler can be used again at once, by whoever recovers.
   */
  abstract powerCut(): PowerCut;
  abstract join(a: Token, b: Token): Token;
  abstract fence(): Token;
  abstract guard(block: number, token: Token): void;
  abstract drop(token: Token): void;
  abstract isProgramming(ppn: number): boolean;
  abstract isIdle(ppn: number): boolean;
  // biome-ignore lint/suspicious/noThenProperty: the contract's name; a scheduler is never awaited
  abstract then(token: Token, client: NandClient, arg: number): void;

  /** Schedules a transaction whose columns are filled; `after` has been checked and is used up. */
  protected abstract start(token: Token, after: Token): void;

  private readAndProgram(from: number, to: number, readClass: number, programClass: number): void {
    const { geometry } = this.array;
    if (!this.array.isIntact) throw this.array.rules.imperfect(from);
    const read = this.read(from, 2 ** geometry.slotsPerPage - 1, readClass, 0);
    const program = this.program(to, programClass, read);
    this.guard(geometry.blockOf(from), program);
    this.drop(program);
  }

  private issue(token: Token, after: Token): void {
    if (this.probe !== null) {
      const { mate } = this.tokens;
      for (let each = token; each !== 0; each = mate[each]) this.tell(this.probe, each);
    }
    this.start(token, after);
  }

  private tell(probe: NandProbe, token: Token): void {
    const { tokens } = this;
    const at = token * tokens.planesPerDie;
    probe.issued(
      token,
      tokens.kind[token],
      tokens.cls[token],
      tokens.status[token],
      tokens.address,
      at,
      tokens.count[token],
    );
  }

  private programPage(ppn: number, kind: number, cls: number, after: Token): Token {
    const { array, tokens, durations } = this;
    const { geometry } = array;
    tokens.check(after);
    const status = array.program(ppn);
    const block = geometry.blockOf(ppn);
    const token = tokens.open();
    tokens.status[token] = status;
    tokens.kind[token] = kind;
    tokens.cls[token] = cls;
    tokens.die[token] = geometry.dieOfBlock[block];
    tokens.planes[token] = 1 << geometry.planeOfBlock[block];
    tokens.count[token] = 1;
    tokens.address[token * geometry.planes] = ppn;
    tokens.undo[token * geometry.planes] = array.undoState[0];
    tokens.commandNs[token] = durations.commandNs + durations.programTransferNs;
    tokens.arrayNs[token] = durations.programNs(ppn);
    this.counts.programs[cls]++;
    this.issue(token, after);
    return token;
  }

  /** A token for a command on several planes; the undo states are those the array has just left. */
  private openPlanes(kind: number, ppns: Int32Array, count: number, cls: number, status: number): Token {
    const { tokens } = this;
    const { geometry, undoState } = this.array;
    const token = tokens.open();
    tokens.status[token] = status;
    tokens.kind[token] = kind;
    tokens.cls[token] = cls;
    tokens.die[token] = geometry.dieOf(ppns[0]);
    tokens.count[token] = count;
    let planes = 0;
    for (let i = 0; i < count; i++) {
      planes |= 1 << geometry.planeOfBlock[geometry.blockOf(ppns[i])];
      tokens.address[token * geometry.planes + i] = ppns[i];
      tokens.undo[token * geometry.planes + i] = undoState[i];
    }
    tokens.planes[token] = planes;
    return token;
  }

  /** @throws NandRuleError `read-unfinished` if the page's program has not ended and the read does not wait for it. */
  protected checkFinished(ppn: number): void {
    const { array } = this;
    const block = array.geometry.blockOf(ppn);
    if (array.busyUntilNs[block] > this.simulator.now && this.isProgramming(ppn)) throw array.rules.unfinished(ppn);
  }

  /** `then` for a token whose end is known. */
  protected callAt(timeNs: number, token: Token, client: NandClient, arg: number): void {
    const { tokens } = this;
    tokens.state[token] = TokenState.bound;
    tokens.client[token] = client;
    tokens.arg[token] = arg;
    this.simulator.at(timeNs, this.completions, token);
  }
}

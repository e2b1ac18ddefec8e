import type { NandArray } from './array.js';
import type { Token } from './contract.js';
import { OpKind, type Transactions } from './transactions.js';

/**
 * Keeps, whatever the priorities, the two orders that a block demands: its pages are programmed in ascending order, and
 * it is erased only after everything issued for it before has ended.
 */
export class BlockOrder {
  private readonly array: NandArray;
  private readonly tokens: Transactions;
  /** Page that the next program to start must have; valid while programs of the block wait. */
  private readonly nextStart: Int32Array;
  /** Programs issued and not started. */
  private readonly unstarted: Int32Array;
  /** Programs issued and not ended. */
  private readonly unended: Int32Array;
  /** Reads (of programmed pages) and programs issued and not ended. */
  private readonly uses: Int32Array;
  /** Parts with partial or any-order programs: pages with unended programs; otherwise null. */
  private readonly openPages: Map<number, number> | null;

  constructor(array: NandArray, tokens: Transactions) {
    this.array = array;
    this.tokens = tokens;
    const { blocks } = array.geometry;
    this.nextStart = new Int32Array(blocks);
    this.unstarted = new Int32Array(blocks);
    this.unended = new Int32Array(blocks);
    this.uses = new Int32Array(blocks);
    const { randomPageProgram, nop } = array.config.features;
    this.openPages = randomPageProgram || nop > 1 ? new Map() : null;
  }

  /** A read has been issued; `sign` −1: it has ended. */
  read(token: Token, sign: number): void {
    const { tokens } = this;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) this.uses[this.array.geometry.blockOf(tokens.address[i])] += sign;
  }

  /** A program has been issued. */
  programIssued(token: Token): void {
    const { tokens } = this;
    const { geometry, busyUntilNs } = this.array;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const ppn = tokens.address[i];
      const block = geometry.blockOf(ppn);
      if (this.unstarted[block]++ === 0) this.nextStart[block] = ppn - block * geometry.pagesPerBlock;
      this.unended[block]++;
      this.uses[block]++;
      busyUntilNs[block] = Number.POSITIVE_INFINITY;
      if (this.openPages !== null) this.openPages.set(ppn, (this.openPages.get(ppn) ?? 0) + 1);
    }
  }

  /** A block in which the program must wait for another, because its page is not the next one; −1: none. */
  programWaitsIn(token: Token): number {
    if (this.openPages !== null) return -1;
    const { tokens } = this;
    const { geometry } = this.array;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const ppn = tokens.address[i];
      const block = geometry.blockOf(ppn);
      if (ppn - block * geometry.pagesPerBlock !== this.nextStart[block]) return block;
    }
    return -1;
  }

  /** A program starts: its successors may follow. */
  programStarted(token: Token): void {
    const { tokens } = this;
    const { geometry } = this.array;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const block = geometry.blockOf(tokens.address[i]);
      this.nextStart[block] += geometry.programPages;
      this.unstarted[block]--;
    }
  }

  programEnded(token: Token): void {
    const { tokens } = this;
    const { geometry, busyUntilNs } = this.array;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const ppn = tokens.address[i];
      const block = geometry.blockOf(ppn);
      this.uses[block]--;
      if (--this.unended[block] === 0) busyUntilNs[block] = 0;
      if (this.openPages === null) continue;
      const left = (this.openPages.get(ppn) as number) - 1;
      if (left === 0) this.openPages.delete(ppn);
      else this.openPages.set(ppn, left);
    }
  }

  eraseIssued(token: Token): void {
    this.setBusy(token, Number.POSITIVE_INFINITY);
  }

  /** A block of this erase for which something issued before has not ended; −1: none. */
  eraseWaitsIn(token: Token): number {
    const { tokens } = this;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) if (this.uses[tokens.address[i]] > 0) return tokens.address[i];
    return -1;
  }

  eraseEnded(token: Token): void {
    this.setBusy(token, 0);
  }

  /** True while a program of this page has not ended. */
  isProgramming(ppn: number): boolean {
    if (this.openPages !== null) return this.openPages.has(ppn);
    const { geometry, nextPage } = this.array;
    const block = geometry.blockOf(ppn);
    const unended = this.unended[block];
    if (unended === 0) return false;
    // Programs of a block end in page order, so the unended ones are its last pages.
    return geometry.pageOf(ppn) >= nextPage[block] - unended * geometry.programPages;
  }

  clear(): void {
    this.unstarted.fill(0);
    this.unended.fill(0);
    this.uses.fill(0);
    this.openPages?.clear();
  }

  /** A copyback's source counts as a read, beside its program. */
  source(ppn: number, sign: number): void {
    this.uses[this.array.geometry.blockOf(ppn)] += sign;
  }

  private setBusy(token: Token, untilNs: number): void {
    const { tokens } = this;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) this.array.busyUntilNs[tokens.address[i]] = untilNs;
  }
}

/** True for the kinds that program pages. */
export function isProgram(kind: number): boolean {
  return kind === OpKind.program || kind === OpKind.cacheProgram || kind === OpKind.copyback;
}

/** True for the kinds that only read. */
export function isRead(kind: number): boolean {
  return kind === OpKind.read || kind === OpKind.readRun;
}

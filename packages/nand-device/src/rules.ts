import type { NandArray } from './array.js';
import { type NandRule, NandRuleError } from './errors.js';

/**
 * The rules of a part: what order its pages are programmed in, what a multi-plane command or a copyback may combine, what
 * waits for an erase. A violation throws; nothing is repaired, and nothing has been changed.
 */
export class NandRules {
  private readonly array: NandArray;

  constructor(array: NandArray) {
    this.array = array;
  }

  /** @throws NandRuleError `cache` on a part without cache registers. */
  cache(): void {
    if (!this.array.config.features.cacheRegister) {
      throw new NandRuleError('cache', 'a cache command on a part without cacheRegister');
    }
  }

  /** @throws NandRuleError `cache`, `plane-count`, `address` unless these pages of one plane may be read as a run. */
  cacheRun(ppns: Int32Array, count: number): void {
    const { geometry } = this.array;
    this.cache();
    if (count < 1 || count > ppns.length) throw new NandRuleError('cache', `a cache read run of ${count} pages`);
    for (let i = 0; i < count; i++) {
      if (ppns[i] >>> 0 >= geometry.pages) throw this.broken('address', ppns[i], 'is no page of this device');
      if (geometry.unitOfBlock(geometry.blockOf(ppns[i])) !== geometry.unitOfBlock(geometry.blockOf(ppns[0]))) {
        throw this.broken(
          'cache',
          ppns[i],
          `in a cache read run that began on another plane: ${geometry.describe(ppns[0])}`,
        );
      }
    }
  }

  /** The error for a read of a page whose program has not ended: the controller still holds its data. */
  unfinished(ppn: number): NandRuleError {
    return this.broken('read-unfinished', ppn, 'read while it is being programmed; take its data from controller RAM');
  }

  /** The error for a relocation whose outcome would have to be looked at. */
  imperfect(ppn: number): NandRuleError {
    return this.broken('relocate', ppn, 'relocated on an array with faults or damaged pages: read it, look, program');
  }

  /** @throws NandRuleError unless the program unit at `ppn` may be programmed now. */
  program(ppn: number): void {
    const { geometry } = this.array;
    if (ppn >>> 0 >= geometry.pages) throw this.broken('address', ppn, 'is no page of this device');
    const block = geometry.blockOf(ppn);
    const page = geometry.pageOf(ppn);
    if (page === 0 && this.array.busyUntilNs[block] > this.array.clock.now) {
      throw this.broken('block-erasing', ppn, 'programmed before the erase of its block is done');
    }
    if (this.array.nextPage[block] !== page || this.array.bad[block] !== 0 || this.array.partial !== null)
      this.order(ppn, block, page);
    if (geometry.programPages > 1 && page % geometry.programPages !== 0) {
      throw this.broken('program-unit', ppn, `is not the first page of a word line of ${geometry.programPages} pages`);
    }
  }

  /** The full rules, for the cases that the quick comparison cannot decide. */
  private order(ppn: number, block: number, page: number): void {
    const { features } = this.array.config;
    if (this.array.bad[block] !== 0) throw this.broken('block-bad', ppn, 'is in a bad block');
    if (this.array.garbage[block] !== 0) {
      throw this.broken('block-garbage', ppn, 'is in a block whose erase was torn or failed: erase it first');
    }
    const next = this.array.nextPage[block];
    const programs = this.array.partial === null ? (page < next ? 1 : 0) : this.array.programsOf(ppn, block);
    if (programs >= features.nop) {
      const rule = features.nop === 1 ? 'page-programmed' : 'partial-programs';
      throw this.broken(rule, ppn, `was programmed ${programs} times since its erase; the part allows ${features.nop}`);
    }
    if (!features.randomPageProgram && page !== next && page !== next - 1) {
      throw this.broken('page-order', ppn, `programmed out of order; the next page of its block is ${next}`);
    }
    if (this.array.busyUntilNs[block] > this.array.clock.now && programs === 0 && this.array.nextPage[block] === 0) {
      throw this.broken('block-erasing', ppn, 'programmed before the erase of its block is done');
    }
  }

  /** @throws NandRuleError `address`, `block-bad`, `block-erasing`. */
  erase(block: number): void {
    if (block >>> 0 >= this.array.geometry.blocks) {
      throw new NandRuleError(
        'address',
        `block ${block} is none of this device's ${this.array.geometry.blocks} blocks`,
      );
    }
    if (this.array.bad[block] !== 0)
      throw this.broken('block-bad', this.array.geometry.ppn(block, 0), 'is in a bad block');
    const emptied = this.array.nextPage[block] === 0 || this.array.garbage[block] !== 0;
    if (emptied && this.array.busyUntilNs[block] > this.array.clock.now) {
      throw this.broken('block-erasing', this.array.geometry.ppn(block, 0), 'erased while its block is being erased');
    }
  }

  /** @throws NandRuleError `copyback…` and the rules of `program` for the destination. */
  copyback(from: number, to: number): void {
    const { geometry } = this.array;
    const { features } = this.array.config;
    if (this.array.copybacks === null) throw this.broken('copyback', from, 'copied back on a part without copyback');
    if (from >>> 0 >= geometry.pages) throw this.broken('address', from, 'is no page of this device');
    this.program(to);
    const source = geometry.blockOf(from);
    const target = geometry.blockOf(to);
    if (geometry.unitOfBlock(source) !== geometry.unitOfBlock(target)) {
      throw this.broken('copyback-plane', from, `copied back to another plane: ${geometry.describe(to)}`);
    }
    if (features.copybackParity && ((geometry.pageOf(from) ^ geometry.pageOf(to)) & 1) !== 0) {
      throw this.broken(
        'copyback-parity',
        from,
        `copied back between an odd and an even page: ${geometry.describe(to)}`,
      );
    }
    if (this.array.isErased(from)) throw this.broken('copyback-source', from, 'copied back although it is erased');
    if (this.array.copybacks[from] >= features.maxCopybacks) {
      throw this.broken(
        'copyback-count',
        from,
        `copied back ${this.array.copybacks[from]} times already (maxCopybacks)`,
      );
    }
    if (geometry.programPages > 1)
      throw this.broken('copyback', from, 'copied back on a part that programs word lines');
  }

  /** @throws NandRuleError unless the pages may form one multi-plane command. */
  planes(ppns: Int32Array, count: number): void {
    const { geometry } = this.array;
    const { features } = this.array.config;
    if (count < 1 || count > geometry.planes || count > ppns.length || (count > 1 && !features.multiPlane)) {
      const limit = features.multiPlane ? geometry.planes : 1;
      throw new NandRuleError('plane-count', `a multi-plane command of ${count} planes; this part allows 1 … ${limit}`);
    }
    let planes = 0;
    for (let i = 0; i < count; i++) {
      const ppn = ppns[i];
      if (ppn >>> 0 >= geometry.pages) throw this.broken('address', ppn, 'is no page of this device');
      const block = geometry.blockOf(ppn);
      const first = geometry.blockOf(ppns[0]);
      const plane = 1 << geometry.planeOfBlock[block];
      if (geometry.dieOfBlock[block] !== geometry.dieOfBlock[first])
        throw this.misfit('plane-die', ppn, 'on another die', ppns[0]);
      if ((planes & plane) !== 0) throw this.misfit('plane-distinct', ppn, 'on a plane that is used already', ppns[0]);
      planes |= plane;
      if (geometry.pageOf(ppn) !== geometry.pageOf(ppns[0]))
        throw this.misfit('plane-page', ppn, 'with another page index', ppns[0]);
      if (features.mpSameBlock && block % geometry.blocksPerPlane !== first % geometry.blocksPerPlane) {
        throw this.misfit('plane-block', ppn, 'with another block index (mpSameBlock)', ppns[0]);
      }
    }
  }

  /** The error for a broken rule: where, and what is wrong. */
  broken(rule: NandRule, ppn: number, what: string): NandRuleError {
    const known = ppn >>> 0 < this.array.geometry.pages;
    return new NandRuleError(rule, `${known ? this.array.geometry.describe(ppn) : `ppn ${ppn}`} ${what}`);
  }

  private misfit(rule: NandRule, ppn: number, what: string, first: number): NandRuleError {
    return this.broken(rule, ppn, `${what} in one multi-plane command with ${this.array.geometry.describe(first)}`);
  }
}

import type { BlockTable, FreeOrder } from '../block-table.js';
import { settle } from '../settle.js';
import { type PlacedFrontiers, Role } from './placed-frontiers.js';
import type { FrontierNumbers, Space } from './space.js';

/**
 * The log blocks of all domains, as columns by log number: `domain * logBlocks + k`. Each has a frontier of its own. An
 * owner is what a scheme associates with a log block: a logical block, a group of them, or nothing.
 */
export class LogBlocks {
  readonly perDomain: number;
  /** Block per log number, −1: not in use. */
  readonly block: Int32Array;
  /** Log number per block, −1: no log block. */
  readonly logOf: Int32Array;
  readonly owner: Int32Array;
  /** Log number that takes the next slot of an owner, −1: none. */
  readonly ofOwner: Int32Array;
  /** Whatever a scheme tells its log blocks apart by. */
  readonly kind: Uint8Array;
  /** Logical block of the first slot, and slots that follow each other from its offset 0 on; −1: others came between. */
  readonly lbn: Int32Array;
  readonly ordered: Int32Array;
  /** When it was written last, and when it was opened, in a count of writes. */
  readonly written: Float64Array;
  readonly opened: Float64Array;
  /** Log blocks in use per domain. */
  readonly used: Int32Array;
  private readonly table: BlockTable;
  private readonly frontiers: PlacedFrontiers;
  private readonly numbers: FrontierNumbers;
  private readonly space: Space;
  private readonly order: FreeOrder;
  private clock = 0;

  constructor(
    table: BlockTable,
    frontiers: PlacedFrontiers,
    numbers: FrontierNumbers,
    space: Space,
    order: FreeOrder,
    owners: number,
  ) {
    this.table = table;
    this.frontiers = frontiers;
    this.numbers = numbers;
    this.space = space;
    this.order = order;
    this.perDomain = numbers.logBlocks;
    const count = table.domains * numbers.logBlocks;
    this.block = new Int32Array(count).fill(-1);
    this.logOf = new Int32Array(table.blocks).fill(-1);
    this.owner = new Int32Array(count).fill(-1);
    this.ofOwner = new Int32Array(owners).fill(-1);
    this.kind = new Uint8Array(count);
    this.lbn = new Int32Array(count).fill(-1);
    this.ordered = new Int32Array(count);
    this.written = new Float64Array(count);
    this.opened = new Float64Array(count);
    this.used = new Int32Array(table.domains);
  }

  /** First log number of a domain. */
  first(domain: number): number {
    return domain * this.perDomain;
  }

  frontier(log: number): number {
    const domain = (log / this.perDomain) | 0;
    return domain * this.numbers.perDomain + this.numbers.logs + log - domain * this.perDomain;
  }

  /** True if the log block takes no more slots. */
  isFull(log: number): boolean {
    return this.frontiers.block[this.frontier(log)] < 0;
  }

  /** Valid slots of a log block. */
  valid(log: number): number {
    return this.table.valid[this.block[log]];
  }

  /** A log number of the domain that is not in use, −1: none. */
  spare(domain: number): number {
    if (this.used[domain] === this.perDomain) return -1;
    return this.block.indexOf(-1, this.first(domain));
  }

  /** Takes a free block for `log`; false if there is none for it now. */
  open(log: number, domain: number, owner: number, kind: number): boolean {
    const f = this.frontier(log);
    if (!this.space.openForHost(f, domain, this.order, Role.log)) return false;
    this.enter(log, this.frontiers.block[f], owner, kind);
    this.ordered[log] = 0;
    return true;
  }

  /** Takes over a block that recovery found; it is closed. */
  adopt(log: number, block: number, owner: number, kind: number): void {
    this.enter(log, block, owner, kind);
    this.frontiers.role[block] = Role.log;
    this.ordered[log] = -1;
  }

  /** The frontier of `log`, which takes `offset` of `lbn` next. */
  claim(log: number, lbn: number, offset: number): number {
    const f = this.frontier(log);
    const at = this.frontiers.positionAt(f);
    if (at === 0) this.lbn[log] = lbn;
    if (this.ordered[log] === at && offset === at && this.lbn[log] === lbn) this.ordered[log]++;
    else this.ordered[log] = -1;
    this.written[log] = ++this.clock;
    return f;
  }

  /** True if the log block holds offsets 0 … of one logical block in order, and can go on with the next one, or is full. */
  isInOrder(log: number): boolean {
    const k = this.ordered[log];
    if (k <= 0) return false;
    const f = this.frontier(log);
    return this.frontiers.block[f] < 0 ? k === this.table.slotsPerBlock : k === this.frontiers.positionAt(f);
  }

  /** True if `offset` is what the log block, so far in order, takes next. */
  isNext(log: number, offset: number): boolean {
    return this.ordered[log] === offset && this.frontiers.positionAt(this.frontier(log)) === offset;
  }

  /** True if the log block is in order, or empty, and has not come past `offset`. */
  isAt(log: number, offset: number): boolean {
    const at = this.frontiers.positionAt(this.frontier(log));
    return at <= offset && this.ordered[log] === at;
  }

  /** The log block of frontier `f`, −1: none. */
  atFrontier(f: number): number {
    const domain = (f / this.numbers.perDomain) | 0;
    const k = f - domain * this.numbers.perDomain - this.numbers.logs;
    if (k < 0 || k >= this.perDomain) return -1;
    const log = domain * this.perDomain + k;
    return this.block[log] < 0 ? -1 : log;
  }

  /** The log block of a kind (−1: any) that was written longest ago; −1 if there is none. */
  leastRecent(domain: number, kind: number): number {
    return this.least(this.written, domain, kind);
  }

  /** The log block of a kind (−1: any) that was opened first; −1 if there is none. */
  firstOpened(domain: number, kind: number): number {
    return this.least(this.opened, domain, kind);
  }

  /** Closes a log block; false if what it had to program for that failed. */
  close(log: number): boolean {
    const f = this.frontier(log);
    const block = this.block[log];
    if (this.frontiers.block[f] >= 0) settle(this.frontiers, f);
    if (this.frontiers.block[f] >= 0) this.frontiers.close(f);
    return this.block[log] === block;
  }

  /** `log` is not in use any more, whatever becomes of its block. */
  detach(log: number): void {
    const owner = this.owner[log];
    if (owner >= 0 && this.ofOwner[owner] === log) this.ofOwner[owner] = -1;
    this.logOf[this.block[log]] = -1;
    this.block[log] = -1;
    this.used[(log / this.perDomain) | 0]--;
  }

  /** Blocks are forgotten: power loss. */
  reset(): void {
    this.block.fill(-1);
    this.logOf.fill(-1);
    this.ofOwner.fill(-1);
    this.used.fill(0);
  }

  private least(column: Float64Array, domain: number, kind: number): number {
    const first = this.first(domain);
    let best = -1;
    for (let log = first; log < first + this.perDomain; log++) {
      if (this.block[log] < 0 || (kind >= 0 && this.kind[log] !== kind)) continue;
      if (best < 0 || column[log] < column[best]) best = log;
    }
    return best;
  }

  private enter(log: number, block: number, owner: number, kind: number): void {
    this.block[log] = block;
    this.logOf[block] = log;
    this.owner[log] = owner;
    if (owner >= 0) this.ofOwner[owner] = log;
    this.kind[log] = kind;
    this.lbn[log] = -1;
    this.opened[log] = ++this.clock;
    this.written[log] = this.clock;
    this.used[(log / this.perDomain) | 0]++;
  }
}

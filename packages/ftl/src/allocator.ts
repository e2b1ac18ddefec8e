import type { NandScheduler } from '@flashstack/nand-device';
import { groupsOfDomains } from './allocation.js';
import type { BlockTable } from './block-table.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import type { ResolvedFtlOptions } from './options.js';
import { MoveReason } from './stats.js';
import type { StreamPolicy } from './streams.js';

/** What makes room in a domain; the collector. */
export interface RoomMaker {
  makeRoom(domain: number): void;
  isStuck(domain: number): boolean;
}

/** What an allocator works on. */
export interface AllocatorParts {
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly options: ResolvedFtlOptions;
  readonly layout: FrontierLayout;
  readonly streams: StreamPolicy;
  readonly room: RoomMaker;
  readonly logicalSlots: number;
  /** Logical slot from which on translation pages are mapped. */
  readonly firstMapSlot: number;
}

/** Chooses the frontier that takes the next slot: of which domain for host data, of which kind for relocated data. */
export class Allocator {
  /** Domain per frontier. */
  readonly domainOf: Int32Array;
  scheduler: NandScheduler;
  private readonly table: BlockTable;
  private readonly frontiers: Frontiers;
  private readonly options: ResolvedFtlOptions;
  private readonly layout: FrontierLayout;
  private readonly room: RoomMaker;
  private readonly logicalSlots: number;
  private readonly firstMapSlot: number;
  /** The stream policy if it places relocated data, otherwise null. */
  private readonly moves: StreamPolicy | null;
  /** Index of `orders` for what belongs to no group of dies. */
  readonly anyGroup: number;
  /** Domains in allocation order: those of each group of dies; with several groups, all of them at last. */
  private readonly orders: readonly Int32Array[];
  /** Per order and frontier of a domain: index in the order of the domain that is next. */
  private readonly cursor: Int32Array;

  constructor(parts: AllocatorParts, scheduler: NandScheduler) {
    const { table, frontiers, options, layout, streams } = parts;
    this.table = table;
    this.frontiers = frontiers;
    this.options = options;
    this.layout = layout;
    this.room = parts.room;
    this.scheduler = scheduler;
    this.logicalSlots = parts.logicalSlots;
    this.firstMapSlot = parts.firstMapSlot;
    this.moves = streams.move === undefined ? null : streams;
    const { geometry } = frontiers.array;
    const groups = streams.groups ?? 1;
    this.orders = groupsOfDomains(geometry, options.domain, options.order, groups);
    this.anyGroup = groups === 1 ? 0 : groups;
    this.cursor = new Int32Array(this.orders.length * layout.total);
    this.domainOf = Int32Array.from({ length: table.domains * layout.total }, (_, f) => Math.floor(f / layout.total));
  }

  /**
   * Frontier with room for the next slot of host stream `stream` (or of the frontier `layout.map`) in a group of dies, or −1.
   * A group in which no room can be made any more is left.
   */
  hostFrontier(lpn: number, stream: number, group: number): number {
    const f = this.frontierIn(lpn, stream, group);
    if (f >= 0 || group === this.anyGroup || !this.orders[group].every((domain) => this.room.isStuck(domain))) return f;
    return this.frontierIn(lpn, stream, this.anyGroup);
  }

  /** True if frontier `f` belongs to a group of dies. */
  isIn(group: number, f: number): boolean {
    return this.orders[group].includes(this.domainOf[f]);
  }

  private frontierIn(lpn: number, stream: number, group: number): number {
    const { frontiers, options } = this;
    const order = this.orders[group];
    const cursor = group * this.layout.total + stream;
    const { perDomain } = frontiers;
    if (options.allocation === 'static') {
      const domain = this.staticDomain(lpn, group);
      return this.hasRoom(domain * perDomain + stream, domain) ? domain * perDomain + stream : -1;
    }
    const start = this.cursor[cursor];
    if (options.preferIdle && frontiers.collected(order[start] * perDomain + stream) === 0) {
      const idle = this.idleFrontier(order, cursor, stream);
      if (idle >= 0) return idle;
    }
    let at = start;
    do {
      const domain = order[at];
      const f = domain * perDomain + stream;
      const next = at + 1 === order.length ? 0 : at + 1;
      if (this.hasRoom(f, domain)) {
        this.cursor[cursor] = frontiers.unitRoom(f) === 1 ? next : at;
        return f;
      }
      // Strictly in turn: wait for this domain, unless it can never make room.
      if (options.allocation === 'striped' && !this.room.isStuck(domain)) return -1;
      at = next;
    } while (at !== start);
    return -1;
  }

  /** With static allocation: the domain of `lpn`. Whole program units go to one domain. */
  staticDomain(lpn: number, group: number): number {
    const order = this.orders[group];
    return order[Math.floor(lpn / this.frontiers.fullUnit) % order.length];
  }

  private idleFrontier(order: Int32Array, cursor: number, stream: number): number {
    const { frontiers, table } = this;
    const start = this.cursor[cursor];
    const { pagesPerBlock } = frontiers.array.geometry;
    for (let i = 0; i < order.length; i++) {
      const at = (start + i) % order.length;
      const domain = order[at];
      const f = domain * frontiers.perDomain + stream;
      const block = frontiers.block[f] >= 0 ? frontiers.block[f] : domain * table.blocksPerDomain;
      const ppn = table.memberBlock[block * table.members] * pagesPerBlock;
      if (!this.scheduler.isIdle(ppn) || !this.hasRoom(f, domain)) continue;
      this.cursor[cursor] = frontiers.unitRoom(f) === 1 ? (at + 1) % order.length : at;
      return f;
    }
    return -1;
  }

  private hasRoom(f: number, domain: number): boolean {
    const { frontiers, table, options } = this;
    // Collection needs the room of a shared frontier before the host does.
    if (frontiers.block[f] >= 0 && (!this.isShared(f, domain) || table.freeCount[domain] >= options.gcHard))
      return true;
    if (table.freeCount[domain] <= options.gcHard) {
      this.room.makeRoom(domain);
      if (frontiers.block[f] >= 0) return this.takesHostData(domain);
      if (table.freeCount[domain] <= options.gcHard) return false;
    }
    frontiers.open(f, domain, options.freeOrder);
    return true;
  }

  /** True if relocated slots go to the frontier too. */
  private isShared(f: number, domain: number): boolean {
    const { options, layout } = this;
    return options.placement === 'mixed' || f - domain * layout.total === layout.map;
  }

  /**
   * While a domain has no erased block, the one that collection took last holds nothing but copies: if power is cut before
   * their originals are erased, recovery gives it up and has an erased block again.
   */
  private takesHostData(domain: number): boolean {
    return this.table.freeCount[domain] > 0 || this.room.isStuck(domain);
  }

  /** Frontier for the relocated slot `lpn` of `block`, opened if necessary; −1 if no free block is left. */
  moveFrontier(domain: number, block: number, reason: number, lpn: number): number {
    const { frontiers, table, options, layout } = this;
    const isMap = lpn >= this.firstMapSlot;
    const f = isMap ? domain * layout.total + layout.map : this.targetOf(domain, block, reason, lpn);
    if (frontiers.block[f] >= 0) return f;
    if (table.freeCount[domain] === 0)
      return layout.isolates && lpn < this.logicalSlots ? this.openOfStream(domain, f) : this.anyOpen(domain);
    const cold = reason === MoveReason.wearLevelling && f % layout.total === layout.wear;
    frontiers.open(
      f,
      domain,
      cold ? 'oldest' : options.placement === 'mixed' ? options.freeOrder : options.gcFreeOrder,
    );
    return f;
  }

  /** An open frontier of the domain, whatever it is meant for; −1 if there is none. */
  private anyOpen(domain: number): number {
    const first = domain * this.layout.total;
    for (let f = first; f < first + this.layout.total; f++) if (this.frontiers.block[f] >= 0) return f;
    return -1;
  }

  /** The open frontier of the host for the stream of `f`, which is for relocated data; −1 if it is not open. */
  private openOfStream(domain: number, f: number): number {
    const { host, gc, total } = this.layout;
    const other = f - gc;
    return other < domain * total + host && this.frontiers.block[other] >= 0 ? other : -1;
  }

  /** The frontier that `moveFrontier` prefers for most slots of `block`, open or not. */
  moveTarget(domain: number, block: number, reason: number): number {
    const { table, layout } = this;
    if (table.stream[block] === layout.map) return domain * layout.total + layout.map;
    return this.targetOf(domain, block, reason, -1);
  }

  /** The frontier for data: slot `lpn` of `block`, or most of them (−1). */
  private targetOf(domain: number, block: number, reason: number, lpn: number): number {
    const { frontiers, table, options, layout, moves } = this;
    const first = domain * layout.total;
    if (reason === MoveReason.wearLevelling && !layout.isolates) {
      const f = first + layout.wear;
      if (frontiers.block[f] >= 0 || table.freeCount[domain] > options.gcHard) return f;
    }
    if (moves?.move !== undefined) return first + layout.gc + (lpn < this.logicalSlots ? moves.move(lpn, block) : 0);
    if (!options.gcKeepsStream) return first + layout.gc;
    const k = table.stream[block];
    return first + layout.gc + (k < layout.host ? k : k < layout.wear ? k - layout.host : 0);
  }
}

import type { NandArray } from '@flashstack/nand-device';

/** State of an allocation block (specification section 6.1). */
export const BlockState = {
  /** Erased and in the free pool. */
  free: 0,
  /** A write frontier programs it. */
  open: 1,
  /** Written; a candidate for garbage collection. */
  closed: 2,
  /** Its valid slots are being moved away. */
  victim: 3,
  /** Its erase is in flight, or waits until data that supersedes its own is durable. */
  erasing: 4,
  /** No good physical block is left in it. */
  bad: 5,
} as const;

/** What one allocation block spans: one plane's block, one block of every plane of a die, or one of every unit. */
export type DomainKind = 'unit' | 'die' | 'superblock';

/** Block indices of every plane that a table covers: `count` of them from `first` on. */
export interface BlockRange {
  readonly first: number;
  readonly count: number;
}

/** Allocation blocks of another shape than a `DomainKind` names. */
export interface BlockGroups {
  readonly domains: number;
  readonly blocksPerDomain: number;
  readonly members: number;
  /** Physical block numbers of member i of block b at `b * members + i`. */
  readonly memberBlock: Int32Array;
}

/** Order in which free blocks are handed out: fewest erases first, most erases first, or first freed first. */
export type FreeOrder = 'youngest' | 'oldest' | 'fifo';

/**
 * Columns of all allocation blocks, by block number. An allocation block is the unit of erasure of the FTL: a group
 * of one physical block per member (one member in the `unit` domain, one per plane of a die in `die`, one per
 * parallel unit in `superblock`). Blocks of a domain are numbered contiguously, `blocksPerDomain` each.
 *
 * Strategies read these columns; only the FTL writes them.
 */
export class BlockTable {
  readonly blocks: number;
  readonly domains: number;
  readonly blocksPerDomain: number;
  /** Physical blocks of an allocation block that has no bad member. */
  readonly members: number;
  /** Slots of a physical block. */
  readonly slotsPerMember: number;
  /** The block indices of every plane that the table covers. */
  readonly range: BlockRange;
  /** Allocation blocks are numbered as the physical ones are: one member each, and all of the device. */
  readonly direct: boolean;
  /** Slots of an allocation block that has no bad member. */
  readonly slotsPerBlock: number;
  /** `BlockState` per block. */
  readonly state: Uint8Array;
  /** Valid slots per block. */
  readonly valid: Int32Array;
  /** Slots a block can hold: fewer than `slotsPerBlock` if members are bad, 0 if all are. */
  readonly capacity: Int32Array;
  /** Good members per block; they come first in `memberBlock`. */
  readonly width: Int32Array;
  /** Physical block numbers of member i of block b at `b * members + i`. */
  readonly memberBlock: Int32Array;
  /** Allocation block of a physical block; −1 outside the range. */
  readonly blockOfPhysical: Int32Array;
  /** Order of closing; 0 = never closed. */
  readonly closedSeq: Float64Array;
  /** Host slot writes (the clock of the FTL) when the block was opened, and when it last lost a valid slot. */
  readonly openedAt: Float64Array;
  readonly lastInvalid: Float64Array;
  /** Erases of the block. */
  readonly eraseCount: Int32Array;
  /** Stream of the frontier that wrote the block. */
  readonly stream: Uint8Array;
  /** Free blocks per domain. */
  readonly freeCount: Int32Array;
  /** Slots of the free blocks per domain. */
  readonly freeSlots: Float64Array;
  /** Host slots written so far: the clock for ages. */
  clock = 0;
  /** Blocks closed so far; the largest `closedSeq`. */
  closings = 0;
  // The free blocks of each domain as a list sorted by erase count (ties: first freed first).
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly head: Int32Array;
  private readonly tail: Int32Array;
  private readonly sorted: boolean;
  private readonly wholeOnly: boolean;
  /** Members keep their places: bad ones are exchanged, not left out. */
  private readonly fixed: boolean;

  /**
   * `diesInOrder`: dies of the device in the order in which a superblock stripes over them. `range`: the block indices of
   * every plane that are managed here. Default: all. `wholeOnly`: a block with a bad member is not used at all.
   */
  constructor(
    array: NandArray,
    kind: DomainKind | BlockGroups,
    diesInOrder: Int32Array,
    freeSorted: boolean,
    wholeOnly = false,
    range: BlockRange = { first: 0, count: array.geometry.blocksPerPlane },
  ) {
    const g = array.geometry;
    this.range = range;
    const groups = typeof kind === 'object' ? kind : null;
    this.fixed = groups !== null;
    this.members = groups?.members ?? (kind === 'unit' ? 1 : kind === 'die' ? g.planes : g.units);
    this.direct = groups === null && this.members === 1 && range.count === g.blocksPerPlane;
    this.blocksPerDomain = groups?.blocksPerDomain ?? range.count;
    this.domains = groups?.domains ?? g.units / this.members;
    this.blocks = this.domains * this.blocksPerDomain;
    this.slotsPerMember = g.pagesPerBlock * g.slotsPerPage;
    this.slotsPerBlock = this.slotsPerMember * this.members;
    this.state = new Uint8Array(this.blocks);
    this.valid = new Int32Array(this.blocks);
    this.capacity = new Int32Array(this.blocks);
    this.width = new Int32Array(this.blocks);
    this.memberBlock = new Int32Array(this.blocks * this.members);
    this.blockOfPhysical = new Int32Array(g.blocks).fill(-1);
    this.closedSeq = new Float64Array(this.blocks);
    this.openedAt = new Float64Array(this.blocks);
    this.lastInvalid = new Float64Array(this.blocks);
    this.eraseCount = new Int32Array(this.blocks);
    this.stream = new Uint8Array(this.blocks);
    this.freeCount = new Int32Array(this.domains);
    this.freeSlots = new Float64Array(this.domains);
    this.next = new Int32Array(this.blocks).fill(-1);
    this.previous = new Int32Array(this.blocks).fill(-1);
    this.head = new Int32Array(this.domains).fill(-1);
    this.tail = new Int32Array(this.domains).fill(-1);
    this.sorted = freeSorted;
    this.wholeOnly = wholeOnly;
    for (let block = 0; block < this.blocks; block++) {
      const domain = this.domainOf(block);
      const index = block - domain * this.blocksPerDomain;
      for (let i = 0; i < this.members; i++) {
        const unit =
          kind === 'superblock'
            ? diesInOrder[Math.floor(i / g.planes)] * g.planes + (i % g.planes)
            : domain * this.members + i;
        const nominal = unit * g.blocksPerPlane + range.first + index;
        const physical = groups === null ? nominal : groups.memberBlock[block * this.members + i];
        this.memberBlock[block * this.members + i] = physical;
        this.blockOfPhysical[physical] = block;
      }
    }
    this.load(array);
    for (let block = 0; block < this.blocks; block++) if (this.capacity[block] > 0) this.release(block);
  }

  /** Takes erase counts and bad members from the array; no block is in the free pool, none holds valid slots. */
  load(array: NandArray): void {
    this.head.fill(-1);
    this.tail.fill(-1);
    this.freeCount.fill(0);
    this.freeSlots.fill(0);
    this.valid.fill(0);
    this.state.fill(BlockState.open);
    for (let block = 0; block < this.blocks; block++) {
      this.eraseCount[block] = array.eraseCount[this.memberBlock[block * this.members]];
      if (this.fixed) {
        this.width[block] = this.members;
        this.capacity[block] = this.slotsPerBlock;
      } else this.dropBadMembers(block, array.bad);
    }
  }

  domainOf(block: number): number {
    return this.domains === 1 ? 0 : Math.floor(block / this.blocksPerDomain);
  }

  /** True if the table covers the physical block. */
  covers(physical: number): boolean {
    return this.blockOfPhysical[physical] >= 0;
  }

  /** Moves bad members behind the good ones and narrows the block. One that has none left, or is not to be narrowed, is bad. */
  dropBadMembers(block: number, bad: Uint8Array): void {
    const from = block * this.members;
    let good = 0;
    for (let i = 0; i < this.members; i++) {
      const physical = this.memberBlock[from + i];
      if (bad[physical] !== 0) continue;
      // Keep the order of the good members: pages of one die must stay adjacent for multi-plane programs.
      for (let j = from + i; j > from + good; j--) this.memberBlock[j] = this.memberBlock[j - 1];
      this.memberBlock[from + good] = physical;
      good++;
    }
    const usable = this.wholeOnly && good < this.members ? 0 : good;
    this.width[block] = usable;
    this.capacity[block] = usable * this.slotsPerMember;
    if (usable === 0) this.state[block] = BlockState.bad;
  }

  /** Puts an erased block into the free pool of its domain. */
  release(block: number): void {
    const domain = this.domainOf(block);
    this.state[block] = BlockState.free;
    let after = this.tail[domain];
    if (this.sorted) {
      const erases = this.eraseCount[block];
      while (after >= 0 && this.eraseCount[after] > erases) after = this.previous[after];
    }
    const before = after < 0 ? this.head[domain] : this.next[after];
    this.previous[block] = after;
    this.next[block] = before;
    if (after < 0) this.head[domain] = block;
    else this.next[after] = block;
    if (before < 0) this.tail[domain] = block;
    else this.previous[before] = block;
    this.freeCount[domain]++;
    this.freeSlots[domain] += this.capacity[block];
  }

  /** The free block that `take` would hand out, or −1. */
  peekFree(domain: number, order: FreeOrder): number {
    return order === 'oldest' ? this.tail[domain] : this.head[domain];
  }

  /** Takes a block out of the free pool and opens it; the pool must not be empty. */
  open(domain: number, order: FreeOrder, stream: number): number {
    const block = this.peekFree(domain, order);
    this.unlink(block, domain);
    this.state[block] = BlockState.open;
    this.stream[block] = stream;
    this.openedAt[block] = this.clock;
    this.lastInvalid[block] = this.clock;
    return block;
  }

  /** Takes a free block out of the pool for good: it becomes bad. */
  retire(block: number): void {
    this.unlink(block, this.domainOf(block));
    this.state[block] = BlockState.bad;
    this.capacity[block] = 0;
  }

  /** Puts another physical block in place of a member. @returns the old one, which belongs to no block then. */
  exchange(block: number, member: number, physical: number): number {
    const at = block * this.members + member;
    const old = this.memberBlock[at];
    this.memberBlock[at] = physical;
    this.blockOfPhysical[old] = -1;
    this.blockOfPhysical[physical] = block;
    return old;
  }

  /** A block without room, or one that takes no more programs, becomes a candidate for collection. */
  close(block: number): void {
    this.state[block] = BlockState.closed;
    this.closedSeq[block] = ++this.closings;
  }

  /** True if some closed block of the domain holds a slot that is not valid, so that collecting can gain space. */
  reclaimable(domain: number): boolean {
    const end = (domain + 1) * this.blocksPerDomain;
    for (let block = domain * this.blocksPerDomain; block < end; block++) {
      if (this.state[block] === BlockState.closed && this.valid[block] < this.capacity[block]) return true;
    }
    return false;
  }

  /** The closed block of the domain with the fewest valid slots, by a scan; −1 if there is none. */
  leastValid(domain: number): number {
    const end = (domain + 1) * this.blocksPerDomain;
    let least = -1;
    for (let block = domain * this.blocksPerDomain; block < end; block++) {
      if (this.state[block] !== BlockState.closed) continue;
      if (least < 0 || this.valid[block] < this.valid[least]) least = block;
    }
    return least;
  }

  /** Bytes of the columns. */
  get bytes(): number {
    let sum = 0;
    for (const value of Object.values(this)) if (ArrayBuffer.isView(value)) sum += value.byteLength;
    return sum;
  }

  private unlink(block: number, domain: number): void {
    const { next, previous } = this;
    const before = previous[block];
    const after = next[block];
    if (before < 0) this.head[domain] = after;
    else next[before] = after;
    if (after < 0) this.tail[domain] = before;
    else previous[after] = before;
    this.freeCount[domain]--;
    this.freeSlots[domain] -= this.capacity[block];
  }
}

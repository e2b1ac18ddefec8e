import { mix32 } from '@flashstack/sim';
import { PAGE_BYTES } from '@flashstack/vfs';

/** What is known of a cached page. A page that is not up to date is on its way from the device. */
export const PageFlag = {
  upToDate: 1,
  dirty: 2,
  writeback: 4,
  referenced: 8,
  active: 16,
  /** Reading it starts the next read-ahead window. */
  marker: 32,
  /** The page holds bytes: `word` is their number in `payloads`. Otherwise `word` is its tag. */
  bytes: 64,
  mapped: 128,
} as const;

/** Frames 0 and 1 are the heads of the inactive and the active list. */
const FIRST_FRAME = 2;

/**
 * All cached pages of a host as columns, one frame each, found by (file, page) through one hash table. Frame 0: no page.
 * Pages of a file that follow each other lie side by side in the table, four at a time: more
 * would make removal slow.
 */
export class PageFrames {
  /** File of the frame, −1 if it is free. */
  owner: Int32Array;
  /** Page number inside the file; the next free frame of one that is free. */
  page: Int32Array;
  /** `PageFlag` bits. */
  flags: Uint8Array;
  /** Tag, or number of the bytes. */
  word: Uint32Array;
  /** Neighbours in the list of recency: circular, towards the tail and towards the head. */
  older: Int32Array;
  newer: Int32Array;
  /** Neighbours in the list of the pages of the file, 0 at the ends. */
  fileNext: Int32Array;
  filePrevious: Int32Array;
  /** Neighbours in the list of the dirty pages of the file. While the page is on its way `dirtyNext` is the read's number. */
  dirtyNext: Int32Array;
  dirtyPrevious: Int32Array;
  /** Frames in use. */
  used = 0;
  /** Bytes of the pages that hold bytes. */
  readonly payloads: Uint8Array[] = [];
  private readonly freePayloads: number[] = [];
  private readonly limit: number;
  private table: Int32Array;
  private mask: number;
  private firstFree = 0;
  private made = FIRST_FRAME;

  /** @param limit frames that are expected to be in use at most; more are possible. */
  constructor(limit: number) {
    this.limit = limit;
    const capacity = Math.min(1024, limit) + FIRST_FRAME;
    this.owner = new Int32Array(capacity).fill(-1);
    this.page = new Int32Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.word = new Uint32Array(capacity);
    [this.older, this.newer] = [new Int32Array(capacity), new Int32Array(capacity)];
    [this.fileNext, this.filePrevious] = [new Int32Array(capacity), new Int32Array(capacity)];
    [this.dirtyNext, this.dirtyPrevious] = [new Int32Array(capacity), new Int32Array(capacity)];
    this.older[1] = 1;
    this.newer[1] = 1;
    const slots = tableSlots(capacity);
    this.table = new Int32Array(slots);
    this.mask = slots - 1;
  }

  /** Memory of the columns and the table, without the bytes of pages that hold bytes. */
  get bookkeepingBytes(): number {
    const { owner, page, flags, word, older, newer, fileNext, filePrevious, dirtyNext, dirtyPrevious, table } = this;
    const columns = [owner, page, flags, word, older, newer, fileNext, filePrevious, dirtyNext, dirtyPrevious, table];
    return columns.reduce((sum, column) => sum + column.byteLength, 0);
  }

  /** The frame of a page, or 0. */
  find(owner: number, page: number): number {
    const { table, mask } = this;
    for (let at = this.home(owner, page); ; at = (at + 1) & mask) {
      const frame = table[at];
      if (frame === 0 || (this.page[frame] === page && this.owner[frame] === owner)) return frame;
    }
  }

  /** A frame for a page that has none, without flags. */
  add(owner: number, page: number): number {
    let frame = this.firstFree;
    if (frame !== 0) {
      this.firstFree = this.page[frame];
    } else {
      if (this.made === this.owner.length) this.grow();
      frame = this.made++;
    }
    this.owner[frame] = owner;
    this.page[frame] = page;
    this.flags[frame] = 0;
    this.word[frame] = 0;
    this.used++;
    this.insert(frame);
    return frame;
  }

  /** Frees a frame, which is in no list any more. */
  remove(frame: number): void {
    this.dropBytes(frame);
    this.takeOut(frame);
    this.owner[frame] = -1;
    this.page[frame] = this.firstFree;
    this.firstFree = frame;
    this.used--;
  }

  /** The bytes of a page, or null if a tag stands for them. */
  bytesOf(frame: number): Uint8Array | null {
    return (this.flags[frame] & PageFlag.bytes) === 0 ? null : this.payloads[this.word[frame]];
  }

  /** Bytes to be written into the page; what it held before is lost. */
  giveBytes(frame: number): Uint8Array {
    if ((this.flags[frame] & PageFlag.bytes) !== 0) return this.payloads[this.word[frame]];
    let number = this.freePayloads.pop();
    if (number === undefined) {
      number = this.payloads.length;
      this.payloads.push(new Uint8Array(PAGE_BYTES));
    }
    this.word[frame] = number;
    this.flags[frame] |= PageFlag.bytes;
    return this.payloads[number];
  }

  /** Lets a tag stand for the contents. */
  setTag(frame: number, tag: number): void {
    this.dropBytes(frame);
    this.word[frame] = tag;
  }

  private dropBytes(frame: number): void {
    if ((this.flags[frame] & PageFlag.bytes) === 0) return;
    this.freePayloads.push(this.word[frame]);
    this.flags[frame] &= ~PageFlag.bytes;
  }

  private home(owner: number, page: number): number {
    return ((mix32(Math.imul(owner, 0x9e37_79b1) + (page >>> 2)) << 2) | (page & 3)) & this.mask;
  }

  private insert(frame: number): void {
    const { table, mask } = this;
    let at = this.home(this.owner[frame], this.page[frame]);
    while (table[at] !== 0) at = (at + 1) & mask;
    table[at] = frame;
  }

  /** Takes a frame out of the table, and moves up those behind it that would not be found any more. */
  private takeOut(frame: number): void {
    const { table, mask } = this;
    let gap = this.home(this.owner[frame], this.page[frame]);
    while (table[gap] !== frame) gap = (gap + 1) & mask;
    for (let at = (gap + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
      const home = this.home(this.owner[table[at]], this.page[table[at]]);
      if (((at - home) & mask) < ((at - gap) & mask)) continue;
      table[gap] = table[at];
      gap = at;
    }
    table[gap] = 0;
  }

  private grow(): void {
    const before = this.owner.length;
    const wanted = Math.min(2 * before, this.limit + FIRST_FRAME);
    const capacity = wanted > before ? wanted : Math.ceil(before * 1.25) + 64;
    const longer = <T extends Int32Array | Uint32Array | Uint8Array>(column: T, made: T): T => {
      made.set(column);
      return made;
    };
    const wider = (column: Int32Array): Int32Array => longer(column, new Int32Array(capacity));
    this.owner = wider(this.owner);
    this.page = wider(this.page);
    this.flags = longer(this.flags, new Uint8Array(capacity));
    this.word = longer(this.word, new Uint32Array(capacity));
    [this.older, this.newer] = [wider(this.older), wider(this.newer)];
    [this.fileNext, this.filePrevious] = [wider(this.fileNext), wider(this.filePrevious)];
    [this.dirtyNext, this.dirtyPrevious] = [wider(this.dirtyNext), wider(this.dirtyPrevious)];
    const slots = tableSlots(capacity);
    if (slots === this.table.length) return;
    this.table = new Int32Array(slots);
    this.mask = slots - 1;
    // All frames are in use: otherwise there was no need to grow.
    for (let frame = FIRST_FRAME; frame < before; frame++) this.insert(frame);
  }
}

/** At most 80 per cent of the table is full. */
function tableSlots(capacity: number): number {
  let slots = 16;
  while (slots < (capacity - FIRST_FRAME) * 1.25) slots *= 2;
  return slots;
}

import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { BLOCK_BYTES } from './layout.js';
import type { Metadata } from './metadata.js';

/** Pages whose blocks are named in the inode. */
export const DIRECT = 12;
/** Block numbers in an indirect block. */
export const FAN: number = BLOCK_BYTES / 4;
/** Words of the map in an inode: direct blocks, the first indirect block, the block of the other indirect blocks. */
export const MAP_WORDS: number = DIRECT + 2;
/** Pages of the largest file. */
export const MOST_PAGES: number = DIRECT + FAN + FAN * FAN;

/** Number of the indirect block of a page: 0 is named in the inode, others in the double one; −1: a direct page. */
function groupOf(page: number): number {
  return page < DIRECT ? -1 : Math.floor((page - DIRECT) / FAN);
}

/** Which blocks the pages of a file are in. All of it is in memory; a page that is absent is a hole. */
export class BlockMap {
  /** What the inode says. */
  readonly words: Uint32Array = new Uint32Array(MAP_WORDS);
  private readonly metadata: Metadata;
  /** Number of the inode. */
  private readonly ino: number;
  /** The block of each page, 0 for a hole; pages behind its end are holes. */
  private pages: Uint32Array = new Uint32Array(DIRECT);
  private mapped = 0;
  /** Indirect blocks, and how many pages each names. */
  private readonly groups: Map<number, { readonly block: number; pages: number }> = new Map();
  /** Pages, and indirect blocks (as −2 − group; −1: the double one), that have been promised a block. */
  private readonly promised: Set<number> = new Set();

  constructor(metadata: Metadata, ino: number) {
    this.metadata = metadata;
    this.ino = ino;
  }

  /** Blocks in use and promised. */
  get blocks(): number {
    return this.mapped + this.groups.size + (this.words[DIRECT + 1] === 0 ? 0 : 1) + this.promised.size;
  }

  /** Reads what `words` leads to. @throws FsError EIO, EUCLEAN */
  *load(): Task<void> {
    const seen = new Set<number>();
    for (let page = 0; page < DIRECT; page++) {
      if (this.words[page] === 0) continue;
      this.claim(this.words[page], `page ${page}`, seen);
      this.set(page, this.words[page]);
    }
    if (this.words[DIRECT] !== 0) yield* this.loadGroup(0, this.words[DIRECT], seen);
    if (this.words[DIRECT + 1] === 0) return;
    this.claim(this.words[DIRECT + 1], 'double indirect block', seen);
    const children = wordsOf(yield* this.metadata.load(this.words[DIRECT + 1], Origin.node));
    for (let at = 0; at < FAN; at++) {
      const block = children.getUint32(at * 4, true);
      if (block !== 0) yield* this.loadGroup(at + 1, block, seen);
    }
  }

  /** The block of a page, 0 for a hole. */
  get(page: number): number {
    return page < this.pages.length ? this.pages[page] : 0;
  }

  /** Blocks that these pages need and have not been promised. */
  missing(first: number, count: number): number {
    let missing = 0;
    let counted = -1;
    let double = false;
    for (let page = first; page < first + count; page++) {
      if (this.get(page) !== 0) continue;
      if (!this.promised.has(page)) missing++;
      const group = groupOf(page);
      if (group < 0 || group === counted || this.groups.has(group)) continue;
      counted = group;
      if (!this.promised.has(-2 - group)) missing++;
      if (group > 0 && this.words[DIRECT + 1] === 0 && !this.promised.has(-1) && !double) {
        double = true;
        missing++;
      }
    }
    return missing;
  }

  /** Promises these pages the blocks that they need; there are enough. */
  promise(first: number, count: number): void {
    for (let page = first; page < first + count; page++) {
      if (this.get(page) !== 0) continue;
      this.promiseOne(page);
      const group = groupOf(page);
      if (group < 0 || this.groups.has(group)) continue;
      this.promiseOne(-2 - group);
      if (group > 0 && this.words[DIRECT + 1] === 0) this.promiseOne(-1);
    }
  }

  /** Gives a page, which is a hole, a block; zeroed and part of the journal for metadata. */
  allocate(page: number, metadata: boolean): number {
    const block = this.takeFor(page, metadata);
    this.set(page, block);
    const group = groupOf(page);
    if (group < 0) {
      this.words[page] = block;
      return block;
    }
    const indirect = this.groupFor(group);
    indirect.pages++;
    const at = (page - DIRECT) % FAN;
    wordsOf(this.metadata.change(indirect.block)).setUint32(at * 4, block, true);
    return block;
  }

  /** Gives up the blocks and promises of all pages from `first` on. */
  truncate(first: number): void {
    for (let page = first; page < this.pages.length; page++) {
      const block = this.pages[page];
      if (block === 0) continue;
      this.pages[page] = 0;
      this.mapped--;
      this.metadata.release(block);
      this.forget(page);
    }
    for (const key of this.promised) if (key >= first) this.unpromise(key);
    const groups = new Set<number>();
    for (const key of this.promised) if (key >= 0) groups.add(groupOf(key));
    const second = [...groups].some((group) => group > 0);
    for (const key of this.promised) {
      if (key < 0 && !(key === -1 ? second : groups.has(-2 - key))) this.unpromise(key);
    }
  }

  private set(page: number, block: number): void {
    if (page >= this.pages.length) {
      const larger = new Uint32Array(2 ** (32 - Math.clz32(page)));
      larger.set(this.pages);
      this.pages = larger;
    }
    if (this.pages[page] === 0) this.mapped++;
    this.pages[page] = block;
  }

  /** Pages behind the last that has a block. */
  get end(): number {
    for (let page = this.pages.length; page > 0; page--) if (this.pages[page - 1] !== 0) return page;
    return 0;
  }

  private claim(block: number, what: string, seen: Set<number>): void {
    if (seen.has(block)) throw new FsError('EUCLEAN', `inode ${this.ino}, ${what}: block ${block} occurs twice`);
    seen.add(block);
    this.metadata.claim(block, this.ino, what);
  }

  private *loadGroup(group: number, block: number, seen: Set<number>): Task<void> {
    this.claim(block, `indirect block ${group}`, seen);
    const words = wordsOf(yield* this.metadata.load(block, Origin.node));
    const entry = { block, pages: 0 };
    this.groups.set(group, entry);
    for (let at = 0; at < FAN; at++) {
      const found = words.getUint32(at * 4, true);
      if (found === 0) continue;
      this.claim(found, `page ${DIRECT + group * FAN + at}`, seen);
      this.set(DIRECT + group * FAN + at, found);
      entry.pages++;
    }
  }

  private groupFor(group: number): { readonly block: number; pages: number } {
    const known = this.groups.get(group);
    if (known !== undefined) return known;
    const entry = { block: this.takeFor(-2 - group, true), pages: 0 };
    this.groups.set(group, entry);
    if (group === 0) {
      this.words[DIRECT] = entry.block;
      return entry;
    }
    if (this.words[DIRECT + 1] === 0) this.words[DIRECT + 1] = this.takeFor(-1, true);
    wordsOf(this.metadata.change(this.words[DIRECT + 1])).setUint32((group - 1) * 4, entry.block, true);
    return entry;
  }

  /** A page has lost its block: its indirect block too if that was the last one. */
  private forget(page: number): void {
    const group = groupOf(page);
    if (group < 0) {
      this.words[page] = 0;
      return;
    }
    const entry = this.groups.get(group);
    if (entry === undefined) throw new Error(`page ${page} has a block, but no indirect block names it`);
    if (--entry.pages > 0) {
      wordsOf(this.metadata.change(entry.block)).setUint32(((page - DIRECT) % FAN) * 4, 0, true);
      return;
    }
    this.groups.delete(group);
    this.metadata.release(entry.block);
    if (group === 0) {
      this.words[DIRECT] = 0;
      return;
    }
    wordsOf(this.metadata.change(this.words[DIRECT + 1])).setUint32((group - 1) * 4, 0, true);
    for (const left of this.groups.keys()) if (left > 0) return;
    this.metadata.release(this.words[DIRECT + 1]);
    this.words[DIRECT + 1] = 0;
  }

  private takeFor(key: number, zeroed: boolean): number {
    this.unpromise(key);
    return zeroed ? this.metadata.takeZeroed(this.ino) : this.metadata.take(this.ino);
  }

  private promiseOne(key: number): void {
    if (this.promised.has(key)) return;
    this.promised.add(key);
    this.metadata.reserved++;
  }

  private unpromise(key: number): void {
    if (this.promised.delete(key)) this.metadata.reserved--;
  }
}

function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import { expandTag, tagOfBytes } from '@flashstack/block-device';

const NONE = 0;

/**
 * Contents of slots, by integer handle with a reference count.
 *
 * A record holds one 32-bit tag per block of the slot (tag t stands for the block filled with t as little-endian
 * words) or, once real bytes have been written to any of its blocks, the bytes of the whole slot.
 * Handle 0 means "no record".
 */
export class ContentPool {
  readonly blockBytes: number;
  readonly blocksPerSlot: number;
  /** Chain of the records of one request; free for the owner of the record. */
  next: Int32Array;
  private refs: Int32Array;
  private tags: Uint32Array;
  private readonly bytes: (Uint8Array | null)[];
  private readonly freeBytes: Uint8Array[] = [];
  private freeHead = NONE;
  /** Records in use. */
  live = 0;

  constructor(blockBytes: number, blocksPerSlot: number) {
    this.blockBytes = blockBytes;
    this.blocksPerSlot = blocksPerSlot;
    this.next = new Int32Array(0);
    this.refs = new Int32Array(0);
    this.tags = new Uint32Array(0);
    this.bytes = [];
    this.grow(256);
  }

  /** A new record of zeroes with one reference. */
  acquire(): number {
    if (this.freeHead === NONE) this.grow(this.refs.length * 2);
    const id = this.freeHead;
    this.freeHead = this.next[id];
    this.next[id] = NONE;
    this.refs[id] = 1;
    this.live++;
    const from = id * this.blocksPerSlot;
    this.tags.fill(0, from, from + this.blocksPerSlot);
    return id;
  }

  retain(id: number): void {
    this.refs[id]++;
  }

  release(id: number): void {
    if (--this.refs[id] > 0) return;
    const bytes = this.bytes[id];
    if (bytes !== null) {
      this.freeBytes.push(bytes);
      this.bytes[id] = null;
    }
    this.next[id] = this.freeHead;
    this.freeHead = id;
    this.live--;
  }

  /** True if nobody else holds this record, so that it may be changed. */
  isExclusive(id: number): boolean {
    return this.refs[id] === 1;
  }

  setTag(id: number, block: number, tag: number): void {
    const bytes = this.bytes[id];
    if (bytes === null) this.tags[id * this.blocksPerSlot + block] = tag;
    else expandTag(tag, bytes, block * this.blockBytes, this.blockBytes);
  }

  /** Copies one block from `source`, starting at `offset`. */
  setBytes(id: number, block: number, source: Uint8Array, offset: number): void {
    const bytes = this.expand(id);
    const to = block * this.blockBytes;
    bytes.set(source.subarray(offset, offset + this.blockBytes), to);
  }

  /** Writes one block to `target`, starting at `offset`. */
  copyBytes(id: number, block: number, target: Uint8Array, offset: number): void {
    const bytes = this.bytes[id];
    if (bytes === null) {
      expandTag(this.tags[id * this.blocksPerSlot + block], target, offset, this.blockBytes);
      return;
    }
    const from = block * this.blockBytes;
    target.set(bytes.subarray(from, from + this.blockBytes), offset);
  }

  /** The tag of a block, or −1 if it holds bytes that no tag stands for. */
  tagOf(id: number, block: number): number {
    const bytes = this.bytes[id];
    if (bytes === null) return this.tags[id * this.blocksPerSlot + block];
    return tagOfBytes(bytes, block * this.blockBytes, this.blockBytes);
  }

  /** The tag that stands for the whole slot, or −1 if its blocks differ or hold bytes. */
  uniformTag(id: number): number {
    if (this.bytes[id] !== null) return -1;
    const from = id * this.blocksPerSlot;
    const tag = this.tags[from];
    for (let i = 1; i < this.blocksPerSlot; i++) if (this.tags[from + i] !== tag) return -1;
    return tag;
  }

  /** Copies the blocks of `mask` from one record to another. */
  overlay(target: number, source: number, mask: number): void {
    for (let block = 0; block < this.blocksPerSlot; block++) {
      if ((mask & (1 << block)) === 0) continue;
      const bytes = this.bytes[source];
      if (bytes === null) this.setTag(target, block, this.tags[source * this.blocksPerSlot + block]);
      else this.setBytes(target, block, bytes, block * this.blockBytes);
    }
  }

  /** A copy with one reference. */
  clone(id: number): number {
    const copy = this.acquire();
    this.overlay(copy, id, -1);
    return copy;
  }

  /** Forgets all references: what still stands in the array is counted anew with `restore` after a power cut. */
  beginRecount(): void {
    for (let id = 1; id < this.refs.length; id++) if (this.refs[id] > 0) this.refs[id] = -this.refs[id];
  }

  /** Counts one reference during a recount. */
  restore(id: number): void {
    this.refs[id] = this.refs[id] < 0 ? 1 : this.refs[id] + 1;
  }

  /** Frees the records that nobody restored. */
  endRecount(): void {
    for (let id = 1; id < this.refs.length; id++) {
      if (this.refs[id] >= 0) continue;
      this.refs[id] = 1;
      this.release(id);
    }
  }

  private expand(id: number): Uint8Array {
    const present = this.bytes[id];
    if (present !== null) return present;
    const bytes = this.freeBytes.pop() ?? new Uint8Array(this.blocksPerSlot * this.blockBytes);
    const from = id * this.blocksPerSlot;
    for (let block = 0; block < this.blocksPerSlot; block++)
      expandTag(this.tags[from + block], bytes, block * this.blockBytes, this.blockBytes);
    this.bytes[id] = bytes;
    return bytes;
  }

  private grow(capacity: number): void {
    const old = this.refs.length;
    const next = new Int32Array(capacity);
    next.set(this.next);
    const refs = new Int32Array(capacity);
    refs.set(this.refs);
    const tags = new Uint32Array(capacity * this.blocksPerSlot);
    tags.set(this.tags);
    this.next = next;
    this.refs = refs;
    this.tags = tags;
    for (let id = old; id < capacity; id++) this.bytes.push(null);
    for (let id = capacity - 1; id >= Math.max(old, 1); id--) {
      next[id] = this.freeHead;
      this.freeHead = id;
    }
  }
}

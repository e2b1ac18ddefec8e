import { type BlockDevice, BlockOp, IoBatch, tagOfBytes } from '@flashstack/block-device';
import { PAGE_BYTES, type PageIo } from './page-cache.js';
import type { SimpleMapping } from './simple-mapping.js';

/** One piece of pages that go to the device. */
interface WritePiece {
  readonly offset: number;
  readonly length: number;
  readonly block: number;
  readonly origin: number;
  readonly flags: number;
  readonly stream: number;
}

/** What a file system says in one call of `readPages` or `writePages`, and the requests that follow from it. */
export class PageRequests implements PageIo {
  private readonly device: BlockDevice | null;
  private readonly mapping: SimpleMapping;
  private readonly first: number;
  /** Per page of a read: bytes whose place is known. */
  private readonly known: Int32Array;
  private data: Uint8Array | null = null;
  private readonly reads: { readonly page: number; readonly index: number }[] = [];
  private readonly writes: WritePiece[] = [];
  private batch: IoBatch | null = null;

  /** @param first first page of a read and their number; 0, 0 for a write. */
  constructor(device: BlockDevice | null, mapping: SimpleMapping, first: number, count: number) {
    this.device = device;
    this.mapping = mapping;
    this.first = first;
    this.known = new Int32Array(count);
  }

  /** True if a request has failed. */
  get failed(): boolean {
    return this.batch !== null && this.batch.status !== 0;
  }

  read(offset: number, length: number, block: number, origin: number): void {
    const start = this.checkRead(offset, length);
    this.data ??= new Uint8Array(this.known.length * PAGE_BYTES);
    const batch = this.need();
    const request = batch.add(BlockOp.read, block, length / this.blockBytes());
    request.data = this.data.subarray(start, start + length);
    request.origin = origin;
    for (let page = Math.floor(offset / PAGE_BYTES); page * PAGE_BYTES < offset + length; page++) {
      this.reads.push({ page, index: batch.size - 1 });
    }
  }

  readHole(offset: number, length: number): void {
    this.checkRead(offset, length);
  }

  write(offset: number, length: number, block: number, origin: number, flags: number, stream: number): void {
    this.writes.push({ offset, length, block, origin, flags, stream });
  }

  done(_page: number): void {}

  /** The requests, to be waited for; null: there are none. */
  submission(): IoBatch | null {
    for (const piece of this.writes) {
      const request = this.need().add(BlockOp.write, piece.block, piece.length / this.blockBytes());
      request.origin = piece.origin;
      request.flags = piece.flags;
      request.stream = piece.stream;
      request.tags = this.tagsOf(piece);
      if (request.tags === null) request.data = this.bytesOf(piece);
    }
    return this.batch;
  }

  /** Gives the pages of a read their contents, but for those whose request failed. @throws Error for a page left out. */
  fillPages(): void {
    const { batch, data, first, known, mapping } = this;
    const lost = new Set<number>();
    if (batch !== null) for (const { page, index } of this.reads) if (batch.at(index).status !== 0) lost.add(page);
    for (let at = 0; at < known.length; at++) {
      const page = first + at;
      if (mapping.isCached(page) || lost.has(page)) continue;
      const needed = Math.min(PAGE_BYTES, mapping.inode.size - page * PAGE_BYTES);
      if (known[at] < needed) throw new Error(`readPages left out page ${page} of inode ${mapping.inode.ino}`);
      if (data === null) {
        mapping.fill(page, null, 0);
        continue;
      }
      const tag = tagOfBytes(data, at * PAGE_BYTES, PAGE_BYTES);
      const bytes = tag >= 0 ? null : data.subarray(at * PAGE_BYTES, (at + 1) * PAGE_BYTES);
      mapping.fill(page, bytes, Math.max(tag, 0));
    }
  }

  private checkRead(offset: number, length: number): number {
    const start = offset - this.first * PAGE_BYTES;
    if (start < 0 || length <= 0 || start + length > this.known.length * PAGE_BYTES) {
      throw new RangeError(`bytes ${offset}+${length} are not within the pages that were asked for`);
    }
    for (let at = start; at < start + length; ) {
      const part = Math.min(PAGE_BYTES - (at % PAGE_BYTES), start + length - at);
      this.known[Math.floor(at / PAGE_BYTES)] += part;
      at += part;
    }
    return start;
  }

  private tagsOf(piece: WritePiece): Uint32Array | null {
    const block = this.blockBytes();
    const first = Math.floor(piece.offset / PAGE_BYTES);
    const last = Math.floor((piece.offset + piece.length - 1) / PAGE_BYTES);
    for (let page = first; page <= last; page++) if (this.mapping.bytes(page) !== null) return null;
    const tags = new Uint32Array(piece.length / block);
    for (let at = 0; at < tags.length; at++)
      tags[at] = this.mapping.tag(Math.floor((piece.offset + at * block) / PAGE_BYTES));
    return tags;
  }

  private bytesOf(piece: WritePiece): Uint8Array {
    const data = new Uint8Array(piece.length);
    this.mapping.copyOut(piece.offset, piece.length, data);
    return data;
  }

  private need(): IoBatch {
    if (this.batch === null) {
      if (this.device === null) throw new Error('the page cache has no device to reach the pages of this file system');
      this.batch = new IoBatch(this.device);
    }
    return this.batch;
  }

  private blockBytes(): number {
    return this.device === null ? PAGE_BYTES : this.device.blockBytes;
  }
}

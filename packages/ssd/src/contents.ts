import { BlockStatus, expandTag } from '@flashstack/block-device';
import { CONTENT_HANDLE, SlotFlag } from '@flashstack/ftl';
import type { NandArray } from '@flashstack/nand-device';
import type { ContentPool } from './content-pool.js';
import type { RequestTable } from './request-table.js';

/** Moves contents between requests, buffer records and the content words of the array. */
export class RequestContents {
  private readonly pool: ContentPool;
  private readonly table: RequestTable;
  private readonly words: Uint32Array;
  private readonly flags: Uint8Array;

  /** The array must keep contents. */
  constructor(pool: ContentPool, table: RequestTable, array: NandArray) {
    this.pool = pool;
    this.table = table;
    this.words = array.word as Uint32Array;
    this.flags = array.flags as Uint8Array;
  }

  /** Takes the contents of a write at submission: one record per slot, chained in `table.record[h]`. */
  capture(h: number): void {
    const { pool, table } = this;
    const request = table.request[h];
    if (request === null) return;
    const { data, tags } = request;
    let tail = 0;
    let done = 0;
    let block = table.head[h];
    while (done < table.blocks[h]) {
      const record = pool.acquire();
      for (; block < pool.blocksPerSlot && done < table.blocks[h]; block++, done++) {
        if (data !== null) pool.setBytes(record, block, data, done * pool.blockBytes);
        else if (tags !== null) pool.setTag(record, block, tags[done]);
      }
      block = 0;
      if (tail === 0) table.record[h] = record;
      else pool.next[tail] = record;
      tail = record;
    }
  }

  /** The record of the next slot of a write; a record of zeroes if it has none (WRITE_ZEROES). */
  take(h: number): number {
    const { pool, table } = this;
    const record = table.record[h];
    if (record === 0) return pool.acquire();
    table.record[h] = pool.next[record];
    pool.next[record] = 0;
    return record;
  }

  /** The records of the next `count` slots of a write, as a chain of their own. */
  takeChain(h: number, count: number): number {
    const { pool, table } = this;
    const first = table.record[h];
    let last = first;
    for (let i = 1; i < count; i++) last = pool.next[last];
    table.record[h] = pool.next[last];
    pool.next[last] = 0;
    return first;
  }

  nextOf(record: number): number {
    return this.pool.next[record];
  }

  /** The content word of a record: its tag, or its handle plus `CONTENT_HANDLE` with one more reference. */
  wordOf(record: number): number {
    const tag = this.pool.uniformTag(record);
    if (tag >= 0) return tag;
    this.pool.retain(record);
    return record + CONTENT_HANDLE;
  }

  copyOf(record: number): number {
    return this.pool.clone(record);
  }

  /** Overlays the blocks of `mask` and releases `newer`. The target must be nobody else's. */
  overlayRecord(target: number, newer: number, mask: number): void {
    this.pool.overlay(target, newer, mask);
    this.pool.release(newer);
  }

  /** Fills the blocks of `mask` of a buffer record with what flash holds. */
  fillRecord(record: number, mask: number, psn: number): void {
    const { pool } = this;
    if (psn < 0) return;
    const word = this.words[psn];
    if (this.isHandle(psn)) {
      pool.overlay(record, word, mask);
      return;
    }
    for (let block = 0; block < pool.blocksPerSlot; block++) {
      if ((mask & (1 << block)) !== 0) pool.setTag(record, block, word);
    }
  }

  /** Gives a reading host what flash holds; `psn` −1: zeroes. */
  deliverSlot(h: number, lpn: number, mask: number, psn: number): void {
    const request = this.table.request[h];
    // Mostly nobody wants the contents: then what flash holds need not be fetched from memory.
    if (request === null || (request.data === null && request.tags === null)) return;
    if (psn >= 0 && this.isHandle(psn)) this.deliverRecord(h, lpn, mask, this.words[psn]);
    else this.deliverTag(h, lpn, mask, psn < 0 ? 0 : this.words[psn]);
  }

  /** The content word of a physical slot, with one more reference if it is a handle; `psn` −1: zeroes. */
  wordAt(psn: number): number {
    if (psn < 0) return 0;
    const word = this.words[psn];
    if (!this.isHandle(psn)) return word;
    this.pool.retain(word);
    return word + CONTENT_HANDLE;
  }

  /** Gives back the reference of a content word. */
  releaseWord(word: number): void {
    if (word >= CONTENT_HANDLE) this.pool.release(word - CONTENT_HANDLE);
  }

  /** Gives a reading host blocks of a content word. */
  deliverWord(h: number, lpn: number, mask: number, word: number): void {
    if (word >= CONTENT_HANDLE) this.deliverRecord(h, lpn, mask, word - CONTENT_HANDLE);
    else this.deliverTag(h, lpn, mask, word);
  }

  private deliverTag(h: number, lpn: number, mask: number, tag: number): void {
    const request = this.table.request[h];
    if (request === null) return;
    const { pool } = this;
    const at = this.firstBlock(h, lpn);
    for (let block = 0; block < pool.blocksPerSlot; block++) {
      if ((mask & (1 << block)) === 0) continue;
      const index = at + block;
      if (request.data !== null) expandTag(tag, request.data, index * pool.blockBytes, pool.blockBytes);
      else if (request.tags !== null) request.tags[index] = tag;
    }
  }

  /** Gives a reading host blocks of a record. */
  deliverRecord(h: number, lpn: number, mask: number, record: number): void {
    const request = this.table.request[h];
    if (request === null) return;
    const { pool } = this;
    const at = this.firstBlock(h, lpn);
    for (let block = 0; block < pool.blocksPerSlot; block++) {
      if ((mask & (1 << block)) === 0) continue;
      const index = at + block;
      if (request.data !== null) pool.copyBytes(record, block, request.data, index * pool.blockBytes);
      else if (request.tags !== null) {
        const tag = pool.tagOf(record, block);
        if (tag < 0) this.table.status[h] = BlockStatus.notTagged;
        else request.tags[index] = tag;
      }
    }
  }

  retain(record: number): void {
    this.pool.retain(record);
  }

  release(record: number): void {
    this.pool.release(record);
  }

  /** Releases a chain of records that nobody asked for. */
  releaseChain(first: number): void {
    let record = first;
    while (record !== 0) {
      const next = this.pool.next[record];
      this.pool.release(record);
      record = next;
    }
  }

  private isHandle(psn: number): boolean {
    return (this.flags[psn] & SlotFlag.handle) !== 0;
  }

  /** Position, within the request, of block 0 of slot `lpn`; negative in the first slot of an unaligned request. */
  private firstBlock(h: number, lpn: number): number {
    return (lpn - this.table.lpn[h]) * this.pool.blocksPerSlot - this.table.head[h];
  }
}

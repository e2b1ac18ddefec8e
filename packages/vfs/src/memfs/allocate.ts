import type { Task } from '@flashstack/sim';
import { FsError } from '../errors.js';
import { FallocateMode } from '../file-system.js';
import type { Inode } from '../inode.js';
import { PAGE_BYTES, type PageCache, WritebackReason } from '../page-cache.js';
import { PAGE_LIMIT } from '../page-table.js';
import { fileOf } from './mem-node.js';

/** Truncates or extends a file. @throws FsError EFBIG */
export function* setSize(inode: Inode, size: number, cache: PageCache): Task<void> {
  if (size > PAGE_LIMIT * PAGE_BYTES) throw new FsError('EFBIG');
  if (size <= inode.size) {
    yield* emptyCache(inode, Math.ceil(size / PAGE_BYTES), Math.ceil(inode.size / PAGE_BYTES), cache);
    inode.size = size;
    const file = fileOf(inode);
    zeroPart(inode, size, Math.ceil(size / PAGE_BYTES) * PAGE_BYTES, cache);
    const first = Math.ceil(size / PAGE_BYTES);
    file.free(first, Math.max(file.limit - first, 0));
    countSectors(inode);
  } else {
    inode.size = size;
  }
}

/** `fallocate`, with a mode that is offered. @throws FsError EINVAL, EFBIG, ENOSPC */
export function* allocateRange(
  inode: Inode,
  mode: number,
  offset: number,
  length: number,
  cache: PageCache,
): Task<void> {
  const end = offset + length;
  if ((mode & FallocateMode.punchHole) !== 0) yield* emptyRange(inode, offset, end, true, cache);
  else if ((mode & FallocateMode.collapseRange) !== 0) yield* collapse(inode, offset, length, cache);
  else if ((mode & FallocateMode.insertRange) !== 0) yield* insert(inode, offset, length, cache);
  else {
    const first = Math.floor(offset / PAGE_BYTES);
    fileOf(inode).take(first, Math.ceil(end / PAGE_BYTES) - first);
    if ((mode & FallocateMode.zeroRange) !== 0) yield* emptyRange(inode, offset, end, false, cache);
    if ((mode & FallocateMode.keepSize) === 0 && end > inode.size) inode.size = end;
  }
  countSectors(inode);
}

/** Makes bytes read as zero; whole pages lose their space too if `free`. */
function* emptyRange(inode: Inode, offset: number, end: number, free: boolean, cache: PageCache): Task<void> {
  const first = Math.ceil(offset / PAGE_BYTES);
  // A hole that reaches beyond the end of the file takes its last page along, of which nothing else is left.
  const limit = Math.floor(Math.max(end, free && end > inode.size ? pageEnd(inode.size) : 0) / PAGE_BYTES);
  yield* emptyCache(inode, first, limit, cache);
  zeroPart(inode, offset, Math.min(end, first * PAGE_BYTES), cache);
  if (limit >= first) zeroPart(inode, limit * PAGE_BYTES, end, cache);
  if (limit <= first) return;
  if (free) fileOf(inode).free(first, limit - first);
  else fileOf(inode).empty(first, limit - first);
}

/** Where the page ends that holds the byte before `offset`. */
function pageEnd(offset: number): number {
  return Math.ceil(offset / PAGE_BYTES) * PAGE_BYTES;
}

function* collapse(inode: Inode, offset: number, length: number, cache: PageCache): Task<void> {
  if (offset % PAGE_BYTES !== 0 || length % PAGE_BYTES !== 0) throw new FsError('EINVAL', 'not whole pages');
  if (offset + length >= inode.size) throw new FsError('EINVAL', 'the range to collapse reaches the end of the file');
  yield* settleContents(inode, offset, cache);
  const file = fileOf(inode);
  file.free(offset / PAGE_BYTES, length / PAGE_BYTES);
  file.shift(offset / PAGE_BYTES, -length / PAGE_BYTES);
  inode.size -= length;
}

function* insert(inode: Inode, offset: number, length: number, cache: PageCache): Task<void> {
  if (offset % PAGE_BYTES !== 0 || length % PAGE_BYTES !== 0) throw new FsError('EINVAL', 'not whole pages');
  if (offset >= inode.size) throw new FsError('EINVAL', 'the range to insert begins behind the end of the file');
  const file = fileOf(inode);
  if (inode.size + length > PAGE_LIMIT * PAGE_BYTES || file.limit + length / PAGE_BYTES > PAGE_LIMIT) {
    throw new FsError('EFBIG');
  }
  yield* settleContents(inode, offset, cache);
  file.shift(offset / PAGE_BYTES, length / PAGE_BYTES);
  inode.size += length;
}

/** What the cache holds of the file from `offset` on is stored, and the cache is empty there. */
function* settleContents(inode: Inode, offset: number, cache: PageCache): Task<void> {
  const first = offset / PAGE_BYTES;
  const limit = Math.ceil(inode.size / PAGE_BYTES);
  const mapping = cache.mapping(inode);
  for (;;) {
    yield* cache.writeBack(inode, WritebackReason.range, offset);
    const settled = cache.settle(inode, first, limit - first);
    if (typeof settled !== 'number') yield* settled;
    let page = first;
    while (page < limit && !mapping.isDirty(page)) page++;
    if (page === limit) break;
  }
  mapping.drop(first, limit - first);
}

function* emptyCache(inode: Inode, first: number, limit: number, cache: PageCache): Task<void> {
  if (limit <= first) return;
  const settled = cache.settle(inode, first, limit - first);
  if (typeof settled !== 'number') yield* settled;
  cache.mapping(inode).drop(first, limit - first);
}

/** Zeroes bytes within one page. */
function zeroPart(inode: Inode, offset: number, end: number, cache: PageCache): void {
  if (end <= offset) return;
  const page = Math.floor(offset / PAGE_BYTES);
  cache.mapping(inode).zero(page, offset - page * PAGE_BYTES, end - offset);
  fileOf(inode).zero(page, offset - page * PAGE_BYTES, end - offset);
}

function countSectors(inode: Inode): void {
  inode.sectors = fileOf(inode).taken * (PAGE_BYTES / 512);
}

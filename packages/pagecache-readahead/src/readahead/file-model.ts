import { MemoryAdvice, PAGE_BYTES } from '@flashstack/vfs';
import { faultHit, faultMissed } from './faults.js';
import type { ReadaheadPages, ReadaheadPolicy } from './policy.js';
import { type ReadaheadLimits, ReadaheadState } from './state.js';

const CACHED = 1;
const MARKED = 2;
const MAPPED = 4;
/** Pages that one fault may map along. */
const FAULT_AROUND = 16;

/** What a `ReadaheadFile` is made of. */
export interface ReadaheadFileOptions {
  readonly fileBytes: number;
  readonly limits: ReadaheadLimits;
  /** Whether folios of more than one page may be used. Default false. */
  readonly largeFolios?: boolean;
  /** Told of each request that leaves for the device. */
  readonly onFetch?: (firstPage: number, count: number) => void;
}

/**
 * A cached file on a device that answers at once and on a machine that never runs out of memory: what a policy fetches,
 * request by request, without any time. Descriptors are made by `open`.
 */
export class ReadaheadFile implements ReadaheadPages {
  readonly pageCount: number;
  readonly roomPages: number = Number.POSITIVE_INFINITY;
  readonly largeFolios: boolean;
  readonly fileBytes: number;
  readonly policy: ReadaheadPolicy;
  /** Requests sent to the device, and pages in them. */
  requests = 0;
  pagesFetched = 0;
  /** Pages that reads asked for, and how many of them were there before. */
  pagesRead = 0;
  pagesHit = 0;
  private readonly flags: Uint8Array;
  private readonly orders: Uint8Array;
  private readonly limits: ReadaheadLimits;
  private readonly onFetch: ((firstPage: number, count: number) => void) | null;
  private growingFirst = 0;
  private growingCount = 0;

  constructor(policy: ReadaheadPolicy, options: ReadaheadFileOptions) {
    const { fileBytes } = options;
    if (!Number.isSafeInteger(fileBytes) || fileBytes < 0) {
      throw new RangeError(`fileBytes must be an integer of at least 0, found ${fileBytes}`);
    }
    this.policy = policy;
    this.fileBytes = fileBytes;
    this.pageCount = Math.ceil(fileBytes / PAGE_BYTES);
    this.largeFolios = options.largeFolios ?? false;
    this.limits = options.limits;
    this.onFetch = options.onFetch ?? null;
    this.flags = new Uint8Array(this.pageCount);
    this.orders = new Uint8Array(this.pageCount);
  }

  /** State of a new descriptor. */
  open(): ReadaheadState {
    return new ReadaheadState(this.limits);
  }

  /** pread(2) of `length` bytes at `offset`. */
  read(state: ReadaheadState, offset: number, length: number): void {
    checkRange(offset, length);
    const end = Math.min(offset + length, this.fileBytes);
    if (end <= offset) return;
    const last = Math.ceil((offset + length) / PAGE_BYTES);
    const endPage = Math.ceil(end / PAGE_BYTES);
    for (let page = Math.floor(offset / PAGE_BYTES); page < endPage; page++) {
      this.pagesRead++;
      if (this.isPresent(page)) this.pagesHit++;
      else this.missed(state, page, last - page);
      this.passMarker(state, page, last - page);
    }
    state.prevPos = this.policy.positionAfter(end);
  }

  /** A load from a shared mapping of the file. `advice`: a `MemoryAdvice`. */
  touch(state: ReadaheadState, page: number, advice: number): void {
    if ((this.flags[page] & MAPPED) !== 0 || this.mapAround(state, page)) return;
    if (this.isPresent(page)) {
      faultHit(state);
      if (advice !== MemoryAdvice.random) this.passMarker(state, page, state.raPages);
    } else {
      faultMissed(this.policy, state, this, page, advice);
      this.endRequest();
      if (!this.isPresent(page)) this.fetch(page, 1, -1);
    }
    this.flags[page] |= MAPPED;
  }

  /** FADV_WILLNEED or readahead(2) of the pages that the bytes touch. */
  willNeed(state: ReadaheadState, offset: number, length: number): void {
    checkRange(offset, length);
    const first = Math.floor(offset / PAGE_BYTES);
    this.policy.force(state, this, first, Math.ceil((offset + length) / PAGE_BYTES) - first);
  }

  /** FADV_DONTNEED: drops the pages that lie fully inside; `length` 0 is to the end of the file. */
  dontNeed(offset: number, length: number): void {
    checkRange(offset, length);
    const end = length === 0 ? this.fileBytes : offset + length;
    const endPage = end >= this.fileBytes ? this.pageCount : Math.floor(end / PAGE_BYTES);
    for (let page = Math.ceil(offset / PAGE_BYTES); page < endPage; page++) {
      const folioPages = 2 ** this.orders[page];
      const head = page - (page % folioPages);
      if (head * PAGE_BYTES < offset || head + folioPages > endPage) continue;
      this.flags[page] = 0;
    }
  }

  isPresent(page: number): boolean {
    return (this.flags[page] & CACHED) !== 0;
  }

  orderOf(page: number): number {
    return this.orders[page];
  }

  fetch(first: number, count: number, marker: number): void {
    this.endRequest();
    for (let page = first; page < first + count; page++) {
      if (this.isPresent(page)) this.endRequest();
      else this.add(page, 0, page === marker);
    }
    this.endRequest();
  }

  fetchFolio(first: number, order: number, marked: boolean): boolean {
    for (let page = first; page < first + 2 ** order; page++) if (this.isPresent(page)) return false;
    this.add(first, order, marked);
    return true;
  }

  private missed(state: ReadaheadState, page: number, wanted: number): void {
    this.policy.miss(state, this, page, wanted);
    this.endRequest();
    if (!this.isPresent(page)) this.fetch(page, 1, -1);
  }

  private passMarker(state: ReadaheadState, page: number, wanted: number): void {
    const head = page - (page % 2 ** this.orders[page]);
    if ((this.flags[head] & MARKED) === 0) return;
    this.flags[head] &= ~MARKED;
    this.policy.marker(state, this, head, wanted + page - head);
    this.endRequest();
  }

  /** Maps what is cached and not marked among the sixteen pages about this one; true: this one is mapped. */
  private mapAround(state: ReadaheadState, page: number): boolean {
    const first = page - (page % FAULT_AROUND);
    const end = Math.min(first + FAULT_AROUND, this.pageCount);
    for (let at = first; at < end; at++) {
      const head = at - (at % 2 ** this.orders[at]);
      if ((this.flags[at] & (CACHED | MAPPED)) !== CACHED || (this.flags[head] & MARKED) !== 0) continue;
      this.flags[at] |= MAPPED;
      faultHit(state);
    }
    return (this.flags[page] & MAPPED) !== 0;
  }

  private add(first: number, order: number, marked: boolean): void {
    const count = 2 ** order;
    this.flags.fill(CACHED, first, first + count);
    this.orders.fill(order, first, first + count);
    if (marked) this.flags[first] |= MARKED;
    if (this.growingCount === 0) this.growingFirst = first;
    this.growingCount += count;
  }

  private endRequest(): void {
    if (this.growingCount === 0) return;
    this.requests++;
    this.pagesFetched += this.growingCount;
    this.onFetch?.(this.growingFirst, this.growingCount);
    this.growingCount = 0;
  }
}

function checkRange(offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError(`offset must be an integer ≥ 0, found ${offset}`);
  if (!Number.isSafeInteger(length) || length < 0)
    throw new RangeError(`length must be an integer ≥ 0, found ${length}`);
}

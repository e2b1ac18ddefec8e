import { FtlStatus } from '@flashstack/ftl';
import type { CommandContext } from './command-context.js';
import type { ReadCacheConfig } from './config.js';
import { CacheState, ReadCache } from './read-cache.js';
import type { ReadCacheCounters } from './stats.js';
import { Waiters } from './waiters.js';

const NONE = -1;

/** Who goes on with a read when the slot it waited for is here. */
export interface CacheOwner {
  /** A slot of a request that waited is here; `ok`: it could be read. */
  cacheFilled(h: number, ok: boolean): void;
  /** The slot will not come: the request must read it from flash. */
  cacheLost(h: number, lpn: number): void;
}

/**
 * Reads through the cache. A slot is entered when its read goes to the FTL, with the content that the mapping shows then,
 * and serves reads once flash has delivered it. A write or discard takes it out, read or not; and while the write buffer
 * holds a version of a slot, what flash holds of it is not entered, because it is going to change.
 */
export class CachedReads {
  readonly counters: ReadCacheCounters;
  private readonly context: CommandContext;
  private readonly owner: CacheOwner;
  private readonly cache: ReadCache;
  private readonly waiters: Waiters = new Waiters();
  /** Requests to be told of a slot, between calls empty. */
  private readonly woken: number[] = [];

  constructor(context: CommandContext, owner: CacheOwner, config: ReadCacheConfig, counters: ReadCacheCounters) {
    this.context = context;
    this.owner = owner;
    this.counters = counters;
    this.cache = new ReadCache(config.slots);
  }

  /** True if the slot is here or on its way, so that reading it ahead would be in vain. */
  holds(lpn: number): boolean {
    return this.cache.find(lpn) !== NONE;
  }

  /** True if the slot is here: the blocks of `mask` have been delivered. False: `awaits` or flash. */
  serve(h: number, lpn: number, mask: number): boolean {
    const { cache, counters } = this;
    const entry = cache.find(lpn);
    if (entry === NONE || !cache.isValid(entry)) return false;
    cache.touch(entry);
    counters.hits++;
    this.context.contents?.deliverWord(h, lpn, mask, cache.content[entry]);
    return true;
  }

  /** True if somebody reads the slot already: the request will hear of it. */
  awaits(h: number, lpn: number): boolean {
    const entry = this.cache.find(lpn);
    if (entry === NONE) {
      this.counters.misses++;
      return false;
    }
    this.counters.waits++;
    this.cache.waiters[entry] = this.waiters.link(h, false, this.cache.waiters[entry]);
    return true;
  }

  /** A job is about to read slots: enters those that may be. False if one of them found no room. */
  begin(job: number, lpn: number, count: number): boolean {
    const { cache } = this;
    const { buffer } = this.context;
    for (let slot = lpn; slot < lpn + count; slot++) {
      if (cache.find(slot) !== NONE || (buffer.used > 0 && buffer.find(slot) !== NONE)) continue;
      if (cache.victim !== NONE) this.remove(cache.victim);
      if (cache.begin(slot, job) === NONE) return false;
    }
    return true;
  }

  /** The FTL has looked a slot up for a job. */
  lookedUp(job: number, lpn: number, psn: number): void {
    const { cache } = this;
    const entry = cache.find(lpn);
    const { contents } = this.context;
    if (entry === NONE || cache.isValid(entry) || cache.job[entry] !== job || contents === null) return;
    contents.releaseWord(cache.content[entry]);
    cache.content[entry] = contents.wordAt(psn);
  }

  /** A job has read its slots, or failed to. `ahead`: nobody had asked for them. */
  jobDone(job: number, lpn: number, count: number, status: number, ahead: boolean): void {
    const { cache, woken } = this;
    const ok = status === FtlStatus.ok;
    const from = woken.length;
    for (let slot = lpn; slot < lpn + count; slot++) {
      const entry = cache.find(slot);
      if (entry === NONE || cache.isValid(entry) || cache.job[entry] !== job) continue;
      this.deliver(entry, ok);
      if (ok) cache.filled(entry, ahead && woken.length === from);
      else this.remove(entry);
    }
    // Only now, because a request that ends makes room for others, which use the cache.
    const to = woken.length;
    for (let i = from; i < to; i++) this.owner.cacheFilled(woken[i], ok);
    woken.length = from;
  }

  /** Takes slots out: they have been written or discarded. */
  invalidate(lpn: number, count: number): void {
    const { cache } = this;
    if (count <= cache.used) {
      for (let slot = lpn; slot < lpn + count; slot++) this.drop(cache.find(slot));
    } else if (cache.used > 0) {
      for (let entry = 0; entry < cache.state.length; entry++) {
        const inside = cache.lpn[entry] >= lpn && cache.lpn[entry] < lpn + count;
        if (cache.state[entry] !== CacheState.free && inside) this.drop(entry);
      }
    }
  }

  /** Enters a slot that has just been programmed, with the content of its buffer record. */
  keep(lpn: number, record: number): void {
    const { cache } = this;
    const { contents } = this.context;
    if (cache.find(lpn) !== NONE) return;
    if (cache.victim !== NONE) this.remove(cache.victim);
    const entry = cache.begin(lpn, NONE);
    if (entry === NONE) return;
    if (contents !== null) cache.content[entry] = contents.wordOf(record);
    cache.filled(entry, false);
  }

  private drop(entry: number): void {
    if (entry === NONE) return;
    const { cache, waiters, owner } = this;
    const lpn = cache.lpn[entry];
    let link = cache.waiters[entry];
    this.remove(entry);
    while (link !== NONE) {
      const h = waiters.request[link];
      link = waiters.release(link);
      owner.cacheLost(h, lpn);
    }
  }

  /** Gives a slot to the reads that waited for it and lists them in `woken`. */
  private deliver(entry: number, ok: boolean): void {
    const { cache, waiters } = this;
    const { contents, table } = this.context;
    const lpn = cache.lpn[entry];
    let link = cache.waiters[entry];
    cache.waiters[entry] = NONE;
    while (link !== NONE) {
      const h = waiters.request[link];
      link = waiters.release(link);
      this.woken.push(h);
      if (!ok || contents === null) continue;
      contents.deliverWord(h, lpn, this.context.maskOf(h, lpn - table.lpn[h]), cache.content[entry]);
    }
  }

  private remove(entry: number): void {
    this.context.contents?.releaseWord(this.cache.content[entry]);
    this.cache.remove(entry);
  }
}

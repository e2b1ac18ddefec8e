import { Condition, type LayerStats, type Simulator } from '@flashstack/sim';
import { PAGE_BYTES } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import { PageFrames } from './frames.js';
import { type Evictor, PageLru } from './lru.js';
import { type PageCacheOptions, resolvePageCacheOptions } from './options.js';
import { PageCacheStats } from './stats.js';

/** Pages that reclaim frees at a time, so that it need not be called for each page. */
const RECLAIM_PAGES = 32;

/** Something that writes dirty pages when told to. */
interface Flusher {
  wakeUp(): void;
}

/** The memory of a host's page cache: frames, recency, limits of dirty pages. All mounted file systems share one. */
export class PageMemory implements Evictor {
  readonly simulator: Simulator;
  readonly options: Required<PageCacheOptions>;
  readonly frames: PageFrames;
  readonly lru: PageLru;
  readonly stats: PageCacheStats = new PageCacheStats();
  /** Pages that may be cached. */
  readonly limitPages: number;
  /** Dirty pages above which write-back begins, above which writers are paced, and which they never exceed. */
  readonly backgroundPages: number;
  readonly pacedPages: number;
  readonly dirtyLimitPages: number;
  /** Bytes that one write should change at most: it is held back between such pieces. A multiple of a page. */
  readonly pieceBytes: number;
  /** Pages that are dirty, and under write-back, in all files. */
  dirtyPages = 0;
  writebackPages = 0;
  /** Pages that writers are about to make dirty. */
  reservedPages = 0;
  /** Told whenever pages become clean or free. */
  readonly progress: Condition;
  /** Writers that are held back at the moment. */
  throttled = 0;
  /** Those of them that wait until what they write fits under the limit. */
  overLimit = 0;
  /** Somebody waits for memory that only write-back can free. */
  shortOfMemory = false;
  private readonly files: (FileMapping | null)[] = [];
  private readonly flushers: Flusher[] = [];

  /** @throws InputError see `resolvePageCacheOptions`. */
  constructor(simulator: Simulator, options: PageCacheOptions = {}) {
    this.simulator = simulator;
    this.options = resolvePageCacheOptions(options);
    this.limitPages = Math.floor(this.options.memoryBytes / PAGE_BYTES);
    this.backgroundPages = Math.floor((this.limitPages * this.options.dirtyBackgroundRatio) / 100);
    this.dirtyLimitPages = Math.max(1, Math.floor((this.limitPages * this.options.dirtyRatio) / 100));
    this.pieceBytes = Math.max(1, Math.min(this.dirtyLimitPages >>> 2, this.limitPages >>> 3)) * PAGE_BYTES;
    this.pacedPages = (this.backgroundPages + this.dirtyLimitPages) >>> 1;
    this.frames = new PageFrames(this.limitPages);
    this.lru = new PageLru(this.frames, this.limitPages, this.stats);
    this.progress = new Condition(simulator, 'pages becoming clean or free');
  }

  /** Memory that the cache itself takes, bytes of pages not included. */
  get bookkeepingBytes(): number {
    return this.frames.bookkeepingBytes + this.lru.bookkeepingBytes;
  }

  /** Pages that could still be filled without harm: half of those that are free or inactive. */
  get roomPages(): number {
    const free = Math.max(0, this.limitPages - this.frames.used);
    return Math.floor((this.lru.inactive + free) / 2);
  }

  /** Pages that are dirty, about to be, or being written. */
  get unwrittenPages(): number {
    return this.dirtyPages + this.writebackPages + this.reservedPages;
  }

  /** Whether `count` more pages fit, after evicting clean ones if needed. */
  makeRoom(count: number): boolean {
    const missing = this.frames.used + count - this.limitPages;
    if (missing <= 0) return true;
    this.lru.reclaim(Math.max(missing, Math.min(RECLAIM_PAGES, this.limitPages >>> 4)), this);
    return this.frames.used + count <= this.limitPages;
  }

  evict(frame: number): void {
    this.files[this.frames.owner[frame]]?.removeFrame(frame);
  }

  /** A number for a new file; numbers are not used twice, since shadows may know of them. */
  register(file: FileMapping): number {
    return this.files.push(file) - 1;
  }

  unregister(number: number): void {
    this.files[number] = null;
  }

  addFlusher(flusher: Flusher): void {
    this.flushers.push(flusher);
  }

  removeFlusher(flusher: Flusher): void {
    const at = this.flushers.indexOf(flusher);
    if (at >= 0) this.flushers.splice(at, 1);
  }

  /** Some file system writes dirty pages by itself. */
  get hasFlushers(): boolean {
    return this.flushers.length > 0;
  }

  wakeFlushers(): void {
    for (const flusher of this.flushers) flusher.wakeUp();
  }

  /** Starts all counters again. */
  resetStats(): void {
    Object.assign(this.stats, new PageCacheStats());
  }

  /** Registers counters and sizes, for results. */
  registerStats(layer: LayerStats): void {
    layer.counters(this.stats);
    layer.gauge('cachedPages', () => this.frames.used);
    layer.gauge('dirtyPages', () => this.dirtyPages);
    layer.gauge('activePages', () => this.lru.active);
  }
}

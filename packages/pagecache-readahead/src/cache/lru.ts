import { PageFlag, type PageFrames } from './frames.js';
import { Shadows } from './shadows.js';
import type { PageCacheStats } from './stats.js';

const INACTIVE = 0;
const ACTIVE = 1;
/** Pages that reclaim looks at together. */
const BATCH = 32;

/** Takes an evicted page out of its file. */
export interface Evictor {
  evict(frame: number): void;
}

/** Two lists of recency, with shadows of evicted pages. New pages enter the inactive list; a second access makes active. */
export class PageLru {
  /** Pages of each list. */
  inactive = 0;
  active = 0;
  private readonly frames: PageFrames;
  private readonly stats: PageCacheStats;
  private readonly shadows: Shadows;
  /** Active pages for one inactive page at most. */
  private readonly ratio: number;
  /** Evictions and activations so far, 32 bits. */
  private age = 0;

  constructor(frames: PageFrames, limitPages: number, stats: PageCacheStats) {
    this.frames = frames;
    this.stats = stats;
    this.shadows = new Shadows(limitPages);
    const gibibytes = limitPages / 262_144;
    this.ratio = Math.max(1, Math.floor(Math.sqrt(10 * gibibytes)));
  }

  get bookkeepingBytes(): number {
    return this.shadows.bookkeepingBytes;
  }

  /** A new page. One that went not long ago becomes active at once. */
  add(frame: number): void {
    const { frames, stats } = this;
    const distance = this.shadows.take(frames.owner[frame], frames.page[frame], this.age);
    if (distance >= 0) stats.refaults++;
    if (distance >= 0 && distance <= this.active) {
      stats.refaultsActivated++;
      this.age = (this.age + 1) | 0;
      frames.flags[frame] |= PageFlag.active;
      this.link(frame, ACTIVE);
      this.active++;
    } else {
      this.link(frame, INACTIVE);
      this.inactive++;
    }
  }

  /** An access: the first is remembered, the second makes an inactive page active. */
  touch(frame: number): void {
    const flags = this.frames.flags[frame];
    if ((flags & PageFlag.referenced) === 0) {
      this.frames.flags[frame] = flags | PageFlag.referenced;
    } else if ((flags & PageFlag.active) === 0) {
      this.unlink(frame);
      this.inactive--;
      this.frames.flags[frame] = (flags & ~PageFlag.referenced) | PageFlag.active;
      this.link(frame, ACTIVE);
      this.active++;
      this.age = (this.age + 1) | 0;
      this.stats.activated++;
    }
  }

  remove(frame: number): void {
    this.unlink(frame);
    if ((this.frames.flags[frame] & PageFlag.active) !== 0) this.active--;
    else this.inactive--;
  }

  /** Evicts clean pages, at least `count` if there are so many; how many there were. */
  reclaim(count: number, evictor: Evictor): number {
    let evicted = 0;
    // A round of the inactive list that brings nothing is followed by one with what has been active.
    for (let rounds = 0; rounds < 3 && evicted < count; rounds++) {
      this.ageActive(rounds > 0);
      let look = this.inactive;
      while (look > 0 && evicted < count) {
        evicted += this.scan(Math.min(look, BATCH), evictor);
        look -= BATCH;
        this.ageActive(false);
      }
    }
    return evicted;
  }

  private scan(pages: number, evictor: Evictor): number {
    const { frames } = this;
    let evicted = 0;
    for (let left = pages; left > 0 && this.inactive > 0; left--) {
      const frame = frames.newer[INACTIVE];
      const flags = frames.flags[frame];
      const busy = (flags & PageFlag.upToDate) === 0 || (flags & (PageFlag.dirty | PageFlag.writeback)) !== 0;
      const wanted = (flags & (PageFlag.mapped | PageFlag.referenced)) === (PageFlag.mapped | PageFlag.referenced);
      if (busy || wanted) {
        if (wanted) frames.flags[frame] = flags & ~PageFlag.referenced;
        this.unlink(frame);
        this.link(frame, INACTIVE);
      } else {
        this.shadows.put(frames.owner[frame], frames.page[frame], this.age);
        this.age = (this.age + 1) | 0;
        this.stats.evicted++;
        evictor.evict(frame);
        evicted++;
      }
    }
    return evicted;
  }

  /** Moves the tail of the active list over while the inactive list is short, or once if it must. */
  private ageActive(must: boolean): void {
    const { frames } = this;
    let force = must ? BATCH : 0;
    while (this.active > 0 && (this.inactive * this.ratio < this.active || force > 0)) {
      const frame = frames.newer[ACTIVE];
      this.unlink(frame);
      frames.flags[frame] &= ~(PageFlag.active | PageFlag.referenced);
      this.link(frame, INACTIVE);
      this.active--;
      this.inactive++;
      this.stats.deactivated++;
      force--;
    }
  }

  /** Puts a frame at the head: `older[list]` is the head of a list, `newer[list]` its tail. */
  private link(frame: number, list: number): void {
    const { older, newer } = this.frames;
    const head = older[list];
    older[frame] = head;
    newer[frame] = list;
    newer[head] = frame;
    older[list] = frame;
  }

  private unlink(frame: number): void {
    const { older, newer } = this.frames;
    newer[older[frame]] = newer[frame];
    older[newer[frame]] = older[frame];
  }
}

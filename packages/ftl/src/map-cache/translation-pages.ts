import { type NandArray, NandClass, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import type { Allocator } from '../allocator.js';
import type { Collector } from '../collector.js';
import type { Frontiers } from '../frontier.js';
import type { FrontierLayout } from '../frontier-layout.js';
import { isInRam } from '../host-reads.js';
import { FROM_TRANSLATION, UNMAPPED } from '../slot-contents.js';
import type { FtlStats } from '../stats.js';
import type { MapPages } from './options.js';

/** Origin under which translation pages are accounted: one that no layer above hands out. */
const TRANSLATION_ORIGIN = 30;

/** The parts of an FTL that read and write translation pages. */
export interface TranslationTarget {
  readonly array: NandArray;
  readonly scheduler: NandScheduler;
  readonly frontiers: Frontiers;
  readonly allocator: Allocator;
  readonly collector: Collector;
  readonly layout: FrontierLayout;
  readonly stats: FtlStats;
}

/** Whose pages these are. */
export interface TranslationOwner {
  /** A slot of a page cannot be read: its entries are unknown. */
  slotUnreadable(lpn: number): void;
}

/**
 * Translation pages in flash: page p is mapped at the logical slots from `firstSlot + p * slotsPerPage` on, behind those of
 * the host and of the trim map, written like data to a frontier of its own and collected like data.
 */
export class TranslationPages {
  readonly firstSlot: number;
  readonly layout: MapPages;
  private readonly ftl: TranslationTarget;
  private readonly owner: TranslationOwner;
  /** Per slot of a page: 1 once its program is known to have ended, since asking is costly where much is in flight. */
  private readonly inFlash: Uint8Array;

  constructor(firstSlot: number, layout: MapPages, ftl: TranslationTarget, owner: TranslationOwner) {
    this.firstSlot = firstSlot;
    this.layout = layout;
    this.ftl = ftl;
    this.owner = owner;
    this.inFlash = new Uint8Array(layout.pages * layout.slotsPerPage);
  }

  /** Slot `lpn` of a page stands elsewhere now. */
  moved(lpn: number): void {
    this.inFlash[lpn - this.firstSlot] = 0;
  }

  /** Nothing is known any more: power loss. */
  reset(): void {
    this.inFlash.fill(0);
  }

  /** True if the page has been written. */
  exists(page: number): boolean {
    return this.ftl.frontiers.l2p[this.firstSlot + page * this.layout.slotsPerPage] !== UNMAPPED;
  }

  /** Reads a page: each flash page that holds slots of it once. @returns what to wait for, 0 if all of it is in RAM. */
  read(page: number): Token {
    const { slotsPerPage } = this.layout;
    const first = this.firstSlot + page * slotsPerPage;
    let all: Token = 0;
    let last = -1;
    for (let lpn = first; lpn < first + slotsPerPage; lpn++) {
      const ppn = this.pageToRead(lpn);
      if (ppn < 0 || ppn === last) continue;
      last = ppn;
      const token = this.readPage(ppn, lpn, first + slotsPerPage);
      all = all === 0 ? token : this.ftl.scheduler.join(all, token);
    }
    return all;
  }

  /**
   * Writes a page anew, after a read of what it says unless `whole`: then all of it is in RAM. False if there is no room
   * now; then slots of it may have been written, and it must be written again.
   */
  write(page: number, whole: boolean): boolean {
    const { ftl } = this;
    const { frontiers, allocator, stats, layout } = ftl;
    const first = this.firstSlot + page * this.layout.slotsPerPage;
    if (this.layout.slotsPerPage === 1 && frontiers.simple && !whole) return this.rewrite(first);
    const end = first + this.layout.slotsPerPage;
    let after: Token = 0;
    let last = -1;
    for (let lpn = first; lpn < end; lpn++) {
      const f = allocator.hostFrontier(lpn, layout.map, allocator.anyGroup);
      if (f < 0) {
        if (after !== 0) ftl.scheduler.drop(after);
        return false;
      }
      // Making room may have moved the page.
      const ppn = whole ? -1 : this.pageToRead(lpn);
      if (ppn >= 0 && ppn !== last) {
        if (after !== 0) ftl.scheduler.drop(after);
        after = this.readPage(ppn, lpn, end);
        last = ppn;
      }
      frontiers.keepToken = lpn + 1 < end;
      frontiers.append(f, lpn, TRANSLATION_ORIGIN, FROM_TRANSLATION, -1, after);
      frontiers.keepToken = false;
      stats.mapping++;
      // As in a relocation: if the program went out, the rest goes after it, or is read again.
      after = frontiers.keptToken;
      frontiers.keptToken = 0;
      if (after === 0 && frontiers.collected(f) === 0) last = -1;
      ftl.collector.afterHostWrite(allocator.domainOf[f]);
    }
    if (after !== 0) ftl.scheduler.drop(after);
    return true;
  }

  /** `write` where the page is one of flash: the read and the program are one step, if nothing can go wrong. */
  private rewrite(lpn: number): boolean {
    const { frontiers, scheduler, allocator, array, stats, layout, collector } = this.ftl;
    const f = allocator.hostFrontier(lpn, layout.map, allocator.anyGroup);
    if (f < 0) return false;
    const ppn = this.pageToRead(lpn);
    if (ppn >= 0 && array.isIntact) {
      stats.mapReads++;
      const psn = frontiers.mapNext(f, lpn, TRANSLATION_ORIGIN, FROM_TRANSLATION, -1);
      scheduler.rewrite(ppn, psn);
      frontiers.advance(f);
    } else {
      const after = ppn < 0 ? 0 : this.readPage(ppn, lpn, lpn + 1);
      frontiers.append(f, lpn, TRANSLATION_ORIGIN, FROM_TRANSLATION, -1, after);
    }
    stats.mapping++;
    collector.afterHostWrite(allocator.domainOf[f]);
    return true;
  }

  /** The flash page that must be read for slot `lpn`; −1 if there is none, or its data is in RAM. */
  private pageToRead(lpn: number): number {
    const psn = this.ftl.frontiers.l2p[lpn];
    if (psn === UNMAPPED) return -1;
    if (this.inFlash[lpn - this.firstSlot] === 0) {
      if (isInRam(this.ftl.frontiers, psn)) return -1;
      this.inFlash[lpn - this.firstSlot] = 1;
    }
    return Math.floor(psn / this.ftl.array.geometry.slotsPerPage);
  }

  /** Reads the slots from `lpn` to `end` that are in flash page `ppn`. */
  private readPage(ppn: number, lpn: number, end: number): Token {
    const { frontiers, scheduler, array, stats } = this.ftl;
    const m = array.geometry.slotsPerPage;
    let mask = 0;
    for (let slot = lpn; slot < end; slot++) {
      const psn = frontiers.l2p[slot];
      if (psn !== UNMAPPED && Math.floor(psn / m) === ppn) mask |= 1 << (psn - ppn * m);
    }
    stats.mapReads++;
    const token = scheduler.read(ppn, mask, NandClass.mappingRead, 0);
    if (array.reliability !== null && scheduler.status[token] === NandStatus.uncorrectable) {
      for (let slot = lpn; slot < end; slot++) {
        const psn = frontiers.l2p[slot];
        if (psn !== UNMAPPED && Math.floor(psn / m) === ppn) this.owner.slotUnreadable(slot);
      }
    }
    return token;
  }
}

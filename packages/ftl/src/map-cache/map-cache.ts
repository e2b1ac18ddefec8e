import type { BlockTable } from '../block-table.js';
import { FtlError } from '../errors.js';
import type { MapListener } from '../frontier-parts.js';
import { mappingTables } from '../mapping-size.js';
import { UNMAPPED } from '../slot-contents.js';
import { DirtyEntries } from './dirty-entries.js';
import { EntryMarks } from './entry-marks.js';
import { type LookUpOwner, LookUps } from './look-ups.js';
import type { MapCacheOptions, MapPages } from './options.js';
import { OwedPages } from './owed-pages.js';
import { SegmentedLru } from './segmented-lru.js';
import { StoredMap } from './stored-map.js';
import { TranslationPages, type TranslationTarget } from './translation-pages.js';

/** The FTL whose map is cached. */
export interface MapCacheTarget extends LookUpOwner, TranslationTarget {
  readonly stats: TranslationTarget['stats'];
  readonly table: BlockTable;
  readonly logicalSlots: number;
}

/**
 * Demand paging of the map (Gupta, Kim and Urgaonkar, "DFTL", 2009; specification section 10): entries are cached in RAM,
 * all of them are in translation pages in flash. The simulator's map stays the book of truth; the cache decides which
 * look-ups cost a read of a translation page, and when one is written.
 */
export class MapCache implements MapListener {
  /** First logical slot of translation pages. */
  readonly firstSlot: number;
  readonly layout: MapPages;
  readonly lru: SegmentedLru;
  readonly lookUps: LookUps;
  readonly owed: OwedPages;
  /** Keys that are cached; with granularity `entry` also those that are owed. */
  private readonly marks: EntryMarks;
  private readonly ftl: MapCacheTarget;
  private readonly options: MapCacheOptions;
  private readonly pages: TranslationPages;
  /** Null if the array keeps nothing. */
  private readonly stored: StoredMap | null;
  private readonly dirty: DirtyEntries;
  /** Per entry: record of the read that brings it, −1: it is there. */
  private readonly waits: Int32Array;
  /** Granularity `page`, per page: 1 if all of a page that is owed is in RAM. */
  private readonly whole: Uint8Array;
  private readonly paged: boolean;

  constructor(ftl: MapCacheTarget, options: MapCacheOptions, layout: MapPages, firstSlot: number) {
    const { logicalSlots, array } = ftl;
    this.ftl = ftl;
    this.options = options;
    this.layout = layout;
    this.firstSlot = firstSlot;
    this.paged = options.granularity === 'page';
    this.marks = new EntryMarks(this.paged ? layout.pages : logicalSlots);
    this.lru = new SegmentedLru(this.marks, layout.capacity, options.protectedShare);
    this.dirty = new DirtyEntries(layout.capacity, layout.pages, this.lru.key, this.paged ? 1 : layout.entriesPerPage);
    this.waits = new Int32Array(layout.capacity).fill(-1);
    this.owed = new OwedPages(layout.pages, layout.entriesPerPage, this.paged ? null : this.marks);
    this.whole = new Uint8Array(layout.pages);
    this.lookUps = new LookUps(ftl);
    this.pages = new TranslationPages(firstSlot, layout, ftl, this);
    const slots = layout.pages * layout.slotsPerPage;
    this.stored =
      array.keeps === 'nothing' ? null : new StoredMap(logicalSlots, firstSlot, slots, layout.entriesPerSlot);
  }

  /** Bytes of RAM that cache and directory of the modelled controller take. */
  tableBytes(slotBytes: number): number {
    const { capacity, entriesPerPage } = this.layout;
    const { entryBytes } = this.options;
    const parts = mappingTables('dftl', {
      capacityBytes: this.ftl.logicalSlots * slotBytes,
      slotBytes,
      entryBytes,
      cmtEntries: capacity,
      translationPageBytes: entriesPerPage * entryBytes,
    });
    // Cached pages hold physical addresses only, behind the number of the page.
    const cached = this.paged ? capacity * (entriesPerPage + 1) * entryBytes : parts[0].bytes;
    return cached + parts[1].bytes;
  }

  /** Bytes of RAM that the simulation takes for it. */
  get bytes(): number {
    const entries = this.marks.byteLength + this.lru.tableBytes + (this.stored?.psn.byteLength ?? 0);
    return entries + this.layout.capacity * 34 + this.layout.pages * 18;
  }

  /** Looks up `lpn`. @returns the record of the read of a translation page that its entry comes with, −1: it is there. */
  lookUp(lpn: number, attended: boolean): number {
    const key = this.paged ? this.pageOf(lpn) : lpn;
    const entry = this.lru.find(key);
    if (entry < 0) return this.miss(lpn, key, attended);
    this.ftl.stats.mapHits++;
    this.lru.touch(entry);
    return this.waits[entry];
  }

  /** Looks up `lpn`, which is about to be written; `job` (−1: none) is not done before the look-up is. */
  lookUpForWrite(lpn: number, job: number): void {
    const record = this.lookUp(lpn, job >= 0);
    if (record < 0 || job < 0) return;
    this.ftl.jobs.addPart(job);
    this.lookUps.wait(record, -1, job);
  }

  /** The read of a record is done. */
  lookedUp(record: number): void {
    const { lookUps, lru, waits } = this;
    const first = lookUps.key[record];
    const end = first + lookUps.span[record];
    for (let key = first; key < end; key++) {
      const entry = lru.find(key);
      if (entry >= 0 && waits[entry] === record) waits[entry] = -1;
    }
    lookUps.done(record);
  }

  mapped(lpn: number, from: number): void {
    if (lpn >= this.firstSlot) this.pageMapped(lpn, from);
    else if (lpn < this.ftl.logicalSlots) {
      this.changed(lpn);
      // The entry of a write that had to wait may have been displaced since its look-up; it is due at once.
      if (from < 0 && this.owed.has(lpn)) this.owed.enqueue(this.pageOf(lpn));
    }
  }

  copiedBack(lpn: number): void {
    if (lpn < this.ftl.logicalSlots) this.changed(lpn);
    else if (lpn >= this.firstSlot) {
      this.pages.moved(lpn);
      this.stored?.moved(lpn, this.ftl.frontiers.l2p[lpn]);
    }
  }

  /** `lpn` maps to nothing any more. */
  unmapped(lpn: number): void {
    this.changed(lpn);
  }

  /** Slots of `block` have been relocated: pages with their entries are due. */
  relocated(block: number): void {
    const { table, array, logicalSlots } = this.ftl;
    const { owed } = this;
    for (let i = 0; i < table.width[block]; i++) {
      const first = table.memberBlock[block * table.members + i] * table.slotsPerMember;
      for (let psn = first; psn < first + table.slotsPerMember; psn++) {
        const lpn = array.lpn[psn];
        if (lpn < logicalSlots && owed.has(lpn)) owed.enqueue(this.pageOf(lpn));
      }
    }
  }

  /** Writes the pages that are due, as far as there is room. Pages that become due meanwhile have to wait. */
  writeBack(): void {
    const { owed } = this;
    for (let left = owed.length; left > 0; left--) {
      const page = owed.shift();
      if (owed.count[page] === 0) continue;
      const whole = this.whole[page];
      // What changes while room is made is owed anew.
      if (this.paged) owed.count[page] = 0;
      this.whole[page] = 0;
      if (this.pages.write(page, whole !== 0)) continue;
      if (this.paged) owed.count[page] = 1;
      this.whole[page] = whole;
      owed.enqueue(page);
      return;
    }
  }

  /** The same, after entries of a range of logical slots have changed together. */
  writeBackRange(lpn: number, count: number): void {
    const last = this.pageOf(lpn + count - 1);
    for (let page = this.pageOf(lpn); page <= last; page++) if (this.owed.count[page] > 0) this.owed.enqueue(page);
    this.writeBack();
  }

  /** Slot `lpn` of a translation page is lost: its entries, which other pages' spare areas still tell, are written again. */
  slotUnreadable(lpn: number): void {
    const { layout } = this;
    const page = Math.floor((lpn - this.firstSlot) / layout.slotsPerPage);
    this.stored?.forget(lpn);
    if (this.paged && this.lru.find(page) >= 0) {
      this.dirty.add(this.lru.find(page));
      return;
    }
    const first = (lpn - this.firstSlot) * layout.entriesPerSlot;
    const end = Math.min(first + layout.entriesPerSlot, this.ftl.logicalSlots);
    for (let entry = first; entry < end; entry++) this.owed.add(entry);
    this.owed.enqueue(page);
  }

  /** What was in RAM is gone: power loss. */
  reset(): void {
    this.marks.clear();
    this.lru.clear();
    this.dirty.clear();
    this.owed.clear();
    this.whole.fill(0);
    this.lookUps.clear();
    this.pages.reset();
  }

  /** After the map has been rebuilt: entries that flash does not have are due. @returns how many. */
  recovered(): number {
    const stored = this.stored as StoredMap;
    const { l2p } = this.ftl.frontiers;
    let differing = 0;
    for (let lpn = this.firstSlot; lpn < l2p.length; lpn++) {
      if (l2p[lpn] === UNMAPPED) stored.forget(lpn);
      // An older version is what flash has now: which of its entries are true is not known.
      const unknown = !stored.isAt(lpn, l2p[lpn]);
      for (let entry = stored.firstEntry(lpn); entry < stored.endEntry(lpn); entry++) {
        if (!unknown && stored.psn[entry] === l2p[entry]) continue;
        differing++;
        this.owed.enqueue(this.owed.add(entry));
      }
    }
    return differing;
  }

  /** For tests: pages in flash and what is in RAM are the map. @throws FtlError `ERR_FTL_INVARIANT`. */
  inspect(): void {
    const { stored, owed, lru, dirty } = this;
    if (stored === null) return;
    const { l2p } = this.ftl.frontiers;
    for (let lpn = 0; lpn < this.ftl.logicalSlots; lpn++) {
      const entry = lru.find(this.paged ? this.pageOf(lpn) : lpn);
      if (owed.has(lpn) || (entry >= 0 && dirty.has(entry)) || stored.psn[lpn] === l2p[lpn]) continue;
      throw new FtlError(
        'ERR_FTL_INVARIANT',
        `lpn ${lpn} is mapped to ${l2p[lpn]}, but its translation page says ${stored.psn[lpn]} and no entry in RAM differs`,
      );
    }
  }

  private miss(lpn: number, key: number, attended: boolean): number {
    const { owed } = this;
    const { stats } = this.ftl;
    const page = this.paged ? key : this.pageOf(lpn);
    const inRam = this.paged ? this.whole[page] !== 0 : owed.has(lpn);
    if (inRam) stats.mapHits++;
    else stats.mapMisses++;
    if (this.options.prefetch > 0 && !inRam) this.prefetch(lpn, page);
    const entry = this.claim(key);
    if (owed.has(lpn)) {
      this.dirty.add(entry);
      if (this.paged) {
        owed.count[page] = 0;
        this.whole[page] = 0;
      } else owed.remove(lpn);
    }
    return inRam ? -1 : this.fetch(page, lpn, entry, attended);
  }

  /** Reads a page for the entry of `lpn`, and those that were prefetched with it. */
  private fetch(page: number, lpn: number, entry: number, attended: boolean): number {
    const { lru, waits } = this;
    const key = lru.key[entry];
    const span = this.paged ? 1 : Math.min(1 + this.options.prefetch, this.endOf(page) - lpn);
    const token = this.pages.read(page);
    let record = -1;
    if (token !== 0 && attended) record = this.lookUps.open(token, key, span);
    else this.ftl.scheduler.drop(token);
    waits[entry] = record;
    for (let other = key + 1; other < key + span; other++) {
      const taken = lru.find(other);
      if (taken >= 0 && waits[taken] === PREFETCHED) waits[taken] = record;
    }
    return record;
  }

  /** Caches the entries behind `lpn` in its page, as long as no dirty one would be displaced. */
  private prefetch(lpn: number, page: number): void {
    if (!this.pages.exists(page)) return;
    const { lru, owed, dirty } = this;
    const end = Math.min(this.endOf(page), lpn + 1 + this.options.prefetch);
    for (let other = lpn + 1; other < end; other++) {
      if (lru.find(other) >= 0 || owed.has(other)) continue;
      if (lru.isFull && dirty.has(lru.victim)) return;
      this.waits[this.claim(other)] = PREFETCHED;
    }
  }

  /** An entry for a key that is not cached, clean; a dirty one that it displaces is due. */
  private claim(key: number): number {
    const { lru, dirty, owed } = this;
    if (lru.isFull && dirty.has(lru.victim)) {
      const victim = lru.victim;
      const page = this.paged ? lru.key[victim] : this.pageOf(lru.key[victim]);
      dirty.remove(victim);
      if (this.paged) {
        owed.count[page] = 1;
        // Unless the rest of it is still being read.
        this.whole[page] = this.waits[victim] < 0 ? 1 : 0;
      } else owed.add(lru.key[victim]);
      owed.enqueue(page);
    }
    const entry = lru.insert(key);
    this.waits[entry] = -1;
    return entry;
  }

  /** The map of `lpn` has changed: its entry is dirty if it is cached, and owed otherwise. */
  private changed(lpn: number): void {
    const entry = this.lru.find(this.paged ? this.pageOf(lpn) : lpn);
    if (entry >= 0) this.dirty.add(entry);
    else this.owed.add(lpn);
  }

  /** Slot `lpn` of a translation page was written (`from` negative) or relocated. */
  private pageMapped(lpn: number, from: number): void {
    const { l2p } = this.ftl.frontiers;
    const { stored, owed, options, layout } = this;
    this.pages.moved(lpn);
    if (from >= 0 && (!options.foldOnCopy || (this.paged && layout.slotsPerPage > 1))) {
      stored?.moved(lpn, l2p[lpn]);
      return;
    }
    const page = Math.floor((lpn - this.firstSlot) / layout.slotsPerPage);
    if (this.paged) {
      stored?.written(lpn, l2p);
      if (from < 0) return;
      owed.count[page] = 0;
      this.whole[page] = 0;
      if (this.lru.find(page) >= 0) this.dirty.remove(this.lru.find(page));
      return;
    }
    const first = (lpn - this.firstSlot) * layout.entriesPerSlot;
    const end = Math.min(first + layout.entriesPerSlot, this.ftl.logicalSlots);
    if (from >= 0 || options.batchUpdate) {
      stored?.written(lpn, l2p);
      if (layout.slotsPerPage === 1) this.dirty.removeAll(page);
      else this.dirty.removeRange(page, first, end);
    } else stored?.updated(lpn, l2p, owed);
    owed.removeRange(page, first, end, layout.slotsPerPage === 1);
  }

  private pageOf(lpn: number): number {
    return Math.floor(lpn / this.layout.entriesPerPage);
  }

  /** One past the last logical slot whose entry is in the page. */
  private endOf(page: number): number {
    return Math.min((page + 1) * this.layout.entriesPerPage, this.ftl.logicalSlots);
  }
}

/** `waits` of an entry whose read is about to be issued. */
const PREFETCHED = -2;

import { type NandArray, NandClass, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import type { Custody } from '../custody.js';
import { isInRam } from '../host-reads.js';
import { PageReads } from '../page-reads.js';
import type { FtlProbe } from '../probe.js';
import { type FtlStats, MoveReason } from '../stats.js';
import type { HybridLayout } from './layout.js';
import type { PlacedFrontiers } from './placed-frontiers.js';

/** What copies slots of a logical block to their places. */
export interface CopierParts {
  readonly array: NandArray;
  readonly layout: HybridLayout;
  readonly frontiers: PlacedFrontiers;
  readonly stats: FtlStats;
  readonly upkeep: Custody;
}

/** Copies the newest versions of a range of offsets to a block in which each offset has its place. */
export class BlockCopier {
  scheduler: NandScheduler;
  probe: FtlProbe | null = null;
  private readonly parts: CopierParts;
  private readonly reads: PageReads;
  private readonly slotsPerPage: number;
  /** Logical slots of the unit that is copied; −1: nothing valid. */
  private readonly lpns: Int32Array;
  /** Pages of the unit that could not be read. */
  private readonly unreadable: number[] = [];
  /** Why slots are copied. */
  private reason: number = MoveReason.merge;

  constructor(parts: CopierParts, scheduler: NandScheduler) {
    this.parts = parts;
    this.scheduler = scheduler;
    this.slotsPerPage = parts.array.geometry.slotsPerPage;
    this.reads = new PageReads(this.slotsPerPage);
    this.lpns = new Int32Array(parts.layout.unit);
  }

  /** One more than the last offset of `lbn` that holds something; 0 if none does. */
  liveEnd(lbn: number): number {
    const { layout, frontiers } = this.parts;
    for (let offset = layout.slotsPerBlock - 1; offset >= 0; offset--) {
      const lpn = layout.lpnAt(lbn, offset);
      if (lpn >= 0 && frontiers.l2p[lpn] >= 0) return offset + 1;
    }
    return 0;
  }

  /**
   * Copies offsets from … to − 1 of `lbn` to the open frontier `f`, which is at offset `from`; holes are padded. `reason`: a
   * `MoveReason`.
   * @returns slots copied, −1 if a program failed: then the block is given up.
   */
  copy(f: number, lbn: number, from: number, to: number, reason: number = MoveReason.merge): number {
    const { frontiers } = this.parts;
    this.reason = reason;
    const block = frontiers.block[f];
    let copied = 0;
    for (let at = from; at < to; ) {
      const end = Math.min(to, at + frontiers.unitRoom(f));
      const failures = this.parts.stats.programFailures;
      copied += end - at === 1 ? this.copySlot(f, lbn, at) : this.copyUnit(f, lbn, at, end);
      // The block may be full and closed; only a failure of its own programs counts.
      if (this.parts.stats.programFailures !== failures && frontiers.block[f] !== block) return -1;
      at = end;
    }
    return copied;
  }

  private copySlot(f: number, lbn: number, offset: number): number {
    const { layout, frontiers } = this.parts;
    const lpn = layout.lpnAt(lbn, offset);
    const psn = lpn < 0 ? -1 : frontiers.l2p[lpn];
    if (psn < 0) {
      frontiers.padSlot(f);
      return 0;
    }
    let after: Token = 0;
    if (!isInRam(frontiers, psn)) {
      const ppn = this.slotsPerPage === 1 ? psn : Math.floor(psn / this.slotsPerPage);
      after = this.read(ppn, 1 << (psn - ppn * this.slotsPerPage));
      if (this.scheduler.status[after] === NandStatus.uncorrectable) this.parts.upkeep.slotLost(lpn, psn);
    }
    this.append(f, lpn, psn, after);
    return 1;
  }

  private copyUnit(f: number, lbn: number, from: number, to: number): number {
    const { frontiers, upkeep } = this.parts;
    const { lpns, slotsPerPage } = this;
    let after = this.readSources(lbn, from, to);
    let copied = 0;
    for (let i = 0; i < to - from; i++) {
      const lpn = lpns[i];
      if (lpn < 0) {
        frontiers.padSlot(f);
        continue;
      }
      const psn = frontiers.l2p[lpn];
      if (this.unreadable.length > 0 && this.unreadable.includes(Math.floor(psn / slotsPerPage)))
        upkeep.slotLost(lpn, psn);
      this.append(f, lpn, psn, after);
      after = 0;
      copied++;
    }
    if (after !== 0) this.scheduler.drop(after);
    return copied;
  }

  /** Reads the pages that hold the newest versions; the token is done when all are. */
  private readSources(lbn: number, from: number, to: number): Token {
    const { layout, frontiers } = this.parts;
    const { reads, lpns } = this;
    reads.clear(to - from);
    this.unreadable.length = 0;
    for (let offset = from; offset < to; offset++) {
      const lpn = layout.lpnAt(lbn, offset);
      const psn = lpn < 0 ? -1 : frontiers.l2p[lpn];
      lpns[offset - from] = psn < 0 ? -1 : lpn;
      if (psn >= 0 && !isInRam(frontiers, psn)) reads.add(psn);
    }
    let all: Token = 0;
    for (let i = 0; i < reads.count; i++) {
      const token = this.read(reads.ppn[i], reads.mask[i]);
      if (this.scheduler.status[token] === NandStatus.uncorrectable) this.unreadable.push(reads.ppn[i]);
      all = all === 0 ? token : this.scheduler.join(all, token);
    }
    return all;
  }

  private read(ppn: number, mask: number): Token {
    this.parts.stats.moveReads++;
    return this.scheduler.read(ppn, mask, NandClass.gcRead, 0);
  }

  private append(f: number, lpn: number, psn: number, after: Token): void {
    const { frontiers, array, stats } = this.parts;
    const origin = array.origin[psn];
    stats.moved[this.reason]++;
    stats.movedByOrigin[(this.reason << 8) | origin]++;
    frontiers.append(f, lpn, origin, psn, -1, after);
    if (this.probe !== null) this.probe.moved(lpn, psn, frontiers.l2p[lpn]);
  }
}

import { type NandArray, NandClass, NandStatus, PADDING_LPN } from '@flashstack/nand-device';
import { BlockState, type BlockTable } from './block-table.js';
import type { Collector } from './collector.js';
import type { BlockEraser } from './eraser.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import { SlotFlag, UNMAPPED } from './slot-contents.js';
import { type FtlStats, MoveReason } from './stats.js';
import type { TrimMap } from './trim-map.js';
import type { Upkeep } from './upkeep.js';
import type { VictimPolicy } from './victims/policy.js';

/** What a scan found. */
export interface RecoveryReport {
  /** Pages whose OOB area was read, and how many of them could not be. */
  pages: number;
  unreadable: number;
  /** Logical slots that hold data, those that are lost included. */
  mapped: number;
  /** Versions that the trim map declared dead. */
  trimmed: number;
  /** Blocks that hold nothing any more and are erased. */
  erased: number;
}

/** The parts of an FTL that recovery fills in. */
export interface RecoveryTarget {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly collector: Collector;
  readonly eraser: BlockEraser;
  readonly trimMap: TrimMap;
  readonly victimPolicy: VictimPolicy;
  readonly upkeep: Upkeep;
  readonly layout: FrontierLayout;
  readonly stats: FtlStats;
  readonly logicalSlots: number;
}

/** Rebuilds mapping and block states from the OOB areas of all pages. */
export function recoverMapping(ftl: RecoveryTarget): RecoveryReport {
  const { array, frontiers } = ftl;
  if (frontiers.contents === null) {
    throw new FtlError('ERR_FTL_RECOVERY', "recovery needs the OOB areas: the array was made with keeps: 'nothing'");
  }
  const report: RecoveryReport = { pages: 0, unreadable: 0, mapped: 0, trimmed: 0, erased: 0 };
  const scan = new Scan(ftl, array.seq as Float64Array, array.flags as Uint8Array);
  ftl.table.load(array);
  scan.forgetUnprogrammed();
  scan.mapNewest(report);
  scan.applyTrims(report);
  scan.countValid(report);
  scan.rescueDomains();
  scan.settleBlocks(report);
  return report;
}

class Scan {
  private readonly ftl: RecoveryTarget;
  private readonly seq: Float64Array;
  private readonly flags: Uint8Array;

  constructor(ftl: RecoveryTarget, seq: Float64Array, flags: Uint8Array) {
    this.ftl = ftl;
    this.seq = seq;
    this.flags = flags;
  }

  /** Content words were placed in slots whose programs never happened: their owner gets them back. */
  forgetUnprogrammed(): void {
    const { array, eraser } = this.ftl;
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      eraser.forgetContents(physical, array.garbage[physical] !== 0 ? 0 : array.nextPage[physical]);
    }
  }

  /** Of all readable versions of a slot, the one with the largest sequence number is mapped. */
  mapNewest(report: RecoveryReport): void {
    const { array, frontiers } = this.ftl;
    const { l2p } = frontiers;
    const contents = frontiers.contents as NonNullable<Frontiers['contents']>;
    this.eachReadableSlot(report, (psn) => {
      const lpn = array.lpn[psn];
      if (this.seq[psn] > contents.seq) contents.seq = this.seq[psn];
      const current = l2p[lpn];
      if (current === UNMAPPED || this.isNewer(psn, current)) l2p[lpn] = psn;
    });
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (array.nextPage[physical] > 0) frontiers.openings = Math.max(frontiers.openings, array.openSeq[physical]);
    }
  }

  /** A version older than the stored page of the trim map, and marked in it, was trimmed. */
  applyTrims(report: RecoveryReport): void {
    const { frontiers, trimMap, logicalSlots, array } = this.ftl;
    const { l2p } = frontiers;
    for (let page = 0; page < trimMap.pages; page++) {
      const stored = l2p[logicalSlots + page];
      if (stored === UNMAPPED) continue;
      const handle = (array.word as Uint32Array)[stored];
      const end = Math.min((page + 1) * trimMap.range, logicalSlots);
      for (let lpn = page * trimMap.range; lpn < end; lpn++) {
        const psn = l2p[lpn];
        if (psn === UNMAPPED || this.seq[psn] > this.seq[stored] || !trimMap.wasUnmapped(handle, lpn)) continue;
        l2p[lpn] = UNMAPPED;
        report.trimmed++;
      }
    }
  }

  countValid(report: RecoveryReport): void {
    const { frontiers, table, logicalSlots, upkeep } = this.ftl;
    const { l2p } = frontiers;
    for (let lpn = 0; lpn < l2p.length; lpn++) {
      const psn = l2p[lpn];
      if (psn === UNMAPPED) continue;
      table.valid[frontiers.blockOf(psn)]++;
      if (lpn >= logicalSlots) continue;
      report.mapped++;
      if ((this.flags[psn] & SlotFlag.lost) !== 0) upkeep.lost.add(lpn);
    }
  }

  /**
   * A cut in the middle of a collection may leave a domain without a free block and without an empty one. Then the block
   * that the collection had opened last holds only copies whose originals are still there: map those instead.
   */
  rescueDomains(): void {
    const { table } = this.ftl;
    const needy = new Set<number>();
    for (let domain = 0; domain < table.domains; domain++) if (!this.hasEmptyBlock(domain)) needy.add(domain);
    if (needy.size > 0) this.remapTwins(needy);
  }

  /** Empty blocks are free or erased; the others are closed in the order in which they were opened. */
  settleBlocks(report: RecoveryReport): void {
    const { array, table, eraser, victimPolicy } = this.ftl;
    const closing: number[] = [];
    const reopened = this.reopen();
    for (let block = 0; block < table.blocks; block++) {
      if (table.state[block] === BlockState.bad) continue;
      table.openedAt[block] = table.clock;
      table.lastInvalid[block] = table.clock;
      if (reopened.has(block)) continue;
      if (table.valid[block] > 0) closing.push(block);
      else if (this.isErased(block)) table.release(block);
      else {
        report.erased++;
        eraser.emptied(block, table.domainOf(block));
      }
    }
    const openSeq = (block: number): number => array.openSeq[table.memberBlock[block * table.members]];
    closing.sort((a, b) => openSeq(a) - openSeq(b) || a - b);
    for (const block of closing) {
      table.close(block);
      victimPolicy.closed(block);
    }
    this.moveWeakData();
  }

  /**
   * Blocks that go on as frontiers: the partly written ones of each domain that has no empty block, emptiest first, since
   * collection needs room to begin with. Elsewhere, and on parts where later programs endanger earlier pages, partly
   * written blocks are closed as they are.
   */
  private reopen(): Set<number> {
    const { table, frontiers, layout, array } = this.ftl;
    const reopened = new Set<number>();
    if (frontiers.hasPairedPages) return reopened;
    for (let domain = 0; domain < table.domains; domain++) {
      if (this.hasEmptyBlock(domain)) continue;
      const partly: number[] = [];
      for (let block = domain * table.blocksPerDomain; block < (domain + 1) * table.blocksPerDomain; block++) {
        if (this.writtenPages(block) < array.geometry.pagesPerBlock) partly.push(block);
      }
      partly.sort((a, b) => this.writtenPages(a) - this.writtenPages(b) || a - b);
      // Relocated data needs the largest room; the other frontiers follow in a circle.
      let k = layout.gc;
      for (const block of partly.slice(0, layout.total)) {
        if (!this.level(block)) continue;
        const rows = this.writtenPages(block) / array.geometry.programPages;
        frontiers.resume(domain * layout.total + k, block, rows);
        reopened.add(block);
        k = (k + 1) % layout.total;
      }
    }
    return reopened;
  }

  /** Pages of the member that is written furthest; all pages for a bad block. */
  private writtenPages(block: number): number {
    const { array, table } = this.ftl;
    if (table.state[block] === BlockState.bad) return array.geometry.pagesPerBlock;
    let most = 0;
    for (let i = 0; i < table.width[block]; i++) {
      most = Math.max(most, array.nextPage[table.memberBlock[block * table.members + i]]);
    }
    return most;
  }

  /** Pads members until all are written equally far; false if a program fails. */
  private level(block: number): boolean {
    const { array, table, frontiers, stats } = this.ftl;
    const { geometry } = array;
    const target = this.writtenPages(block);
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      while (array.nextPage[physical] < target) {
        const ppn = geometry.ppn(physical, array.nextPage[physical]);
        const slots = geometry.programPages * geometry.slotsPerPage;
        for (let slot = 0; slot < slots; slot++) {
          const psn = ppn * geometry.slotsPerPage + slot;
          array.lpn[psn] = PADDING_LPN;
          array.origin[psn] = 0;
          frontiers.contents?.pad(psn);
        }
        stats.padding += slots;
        stats.programmed += slots;
        const token = frontiers.scheduler.program(ppn, NandClass.gcWrite, 0);
        const failed = frontiers.scheduler.status[token] !== NandStatus.ok;
        frontiers.scheduler.drop(token);
        if (failed) return false;
      }
    }
    return true;
  }

  /** Blocks with a page that was torn but can be read are emptied soon. */
  private moveWeakData(): void {
    const { array, table, collector } = this.ftl;
    const { geometry } = array;
    if (array.reliability === null) return;
    for (let block = 0; block < table.blocks; block++) {
      if (table.state[block] !== BlockState.closed) continue;
      for (let i = 0; i < table.width[block]; i++) {
        const physical = table.memberBlock[block * table.members + i];
        let weak = false;
        for (let page = 0; page < array.nextPage[physical]; page++) weak ||= array.isWeak(geometry.ppn(physical, page));
        if (weak) collector.require(block, MoveReason.refresh);
      }
    }
  }

  /** All slots of good pages that hold data of a logical slot, in physical order. */
  private eachReadableSlot(report: RecoveryReport, visit: (psn: number) => void): void {
    const { array, frontiers } = this.ftl;
    const { geometry } = array;
    const m = geometry.slotsPerPage;
    for (let physical = 0; physical < geometry.blocks; physical++) {
      if (array.bad[physical] !== 0 || array.garbage[physical] !== 0) continue;
      for (let page = 0; page < array.nextPage[physical]; page++) {
        const ppn = geometry.ppn(physical, page);
        report.pages++;
        if (!this.canRead(ppn)) {
          report.unreadable++;
          continue;
        }
        for (let psn = ppn * m; psn < (ppn + 1) * m; psn++) {
          if (array.lpn[psn] !== PADDING_LPN && array.lpn[psn] < frontiers.l2p.length) visit(psn);
        }
      }
    }
  }

  /** A torn page may be readable: then its data counts only if it can be corrected now. */
  private canRead(ppn: number): boolean {
    const { array } = this.ftl;
    if (!array.isReadable(ppn)) return false;
    return !array.isWeak(ppn) || array.read(ppn, 2 ** array.geometry.slotsPerPage - 1) === NandStatus.ok;
  }

  /** Copies have the sequence number of their original; then the one in the block opened later counts. */
  private isNewer(psn: number, than: number): boolean {
    if (this.seq[psn] !== this.seq[than]) return this.seq[psn] > this.seq[than];
    const { array, table } = this.ftl;
    const opened = array.openSeq[Math.floor(psn / table.slotsPerMember)];
    const other = array.openSeq[Math.floor(than / table.slotsPerMember)];
    return opened > other || (opened === other && psn > than);
  }

  private isErased(block: number): boolean {
    const { array, table } = this.ftl;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      if (array.nextPage[physical] > 0 || array.garbage[physical] !== 0) return false;
    }
    return true;
  }

  private hasEmptyBlock(domain: number): boolean {
    const { table } = this.ftl;
    const end = (domain + 1) * table.blocksPerDomain;
    for (let block = domain * table.blocksPerDomain; block < end; block++) {
      if (table.state[block] !== BlockState.bad && table.valid[block] === 0) return true;
    }
    return false;
  }

  /** Empties one block of each domain whose valid slots all have an equal version in another block. */
  private remapTwins(domains: Set<number>): void {
    const { frontiers, table, array } = this.ftl;
    const { l2p } = frontiers;
    const twinOf = new Map<number, number>();
    const twins = new Int32Array(table.blocks);
    const ignored: RecoveryReport = { pages: 0, unreadable: 0, mapped: 0, trimmed: 0, erased: 0 };
    this.eachReadableSlot(ignored, (psn) => {
      const current = l2p[array.lpn[psn]];
      if (current === UNMAPPED || current === psn || this.seq[current] !== this.seq[psn] || twinOf.has(current)) return;
      const block = frontiers.blockOf(current);
      if (frontiers.blockOf(psn) === block || !domains.has(table.domainOf(block))) return;
      twinOf.set(current, psn);
      twins[block]++;
    });
    for (const domain of domains) {
      const end = (domain + 1) * table.blocksPerDomain;
      for (let block = domain * table.blocksPerDomain; block < end; block++) {
        if (table.valid[block] === 0 || twins[block] !== table.valid[block]) continue;
        for (const [current, twin] of twinOf) {
          if (frontiers.blockOf(current) !== block) continue;
          l2p[array.lpn[current]] = twin;
          table.valid[block]--;
          table.valid[frontiers.blockOf(twin)]++;
        }
        break;
      }
    }
  }
}

import { type NandArray, NandStatus, PADDING_LPN } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import type { Custody } from './custody.js';
import type { BlockEraser } from './eraser.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import { SlotFlag, UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';
import type { TrimMap } from './trim-map.js';

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
  /** Entries of the map that its translation pages in flash do not have; absent without a map cache. */
  mapChanges?: number;
}

/** The parts of an FTL that a scan fills in, whatever the mapping scheme. */
export interface ScanTarget {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly eraser: BlockEraser;
  readonly trimMap: TrimMap;
  readonly upkeep: Custody;
  readonly stats: FtlStats;
  readonly logicalSlots: number;
}

/** A scan of the OOB areas of all pages: what each logical slot holds, and how many valid slots each block has. */
export class OobScan {
  readonly report: RecoveryReport = { pages: 0, unreadable: 0, mapped: 0, trimmed: 0, erased: 0 };
  protected readonly seq: Float64Array;
  protected readonly flags: Uint8Array;
  private readonly target: ScanTarget;

  /** @throws FtlError `ERR_FTL_RECOVERY` if the array keeps nothing. */
  constructor(target: ScanTarget) {
    if (target.frontiers.contents === null) {
      throw new FtlError('ERR_FTL_RECOVERY', "recovery needs the OOB areas: the array was made with keeps: 'nothing'");
    }
    this.target = target;
    this.seq = target.array.seq as Float64Array;
    this.flags = target.array.flags as Uint8Array;
  }

  /** Fills in the map and the valid counts. */
  run(): void {
    this.target.table.load(this.target.array);
    this.forgetUnprogrammed();
    this.mapNewest();
    this.applyTrims();
    this.countValid();
  }

  /** Content words were placed in slots whose programs never happened: their owner gets them back. */
  private forgetUnprogrammed(): void {
    const { array, eraser, table } = this.target;
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (!table.covers(physical)) continue;
      eraser.forgetContents(physical, array.garbage[physical] !== 0 ? 0 : array.nextPage[physical]);
    }
  }

  /** Of all readable versions of a slot, the one with the largest sequence number is mapped. */
  private mapNewest(): void {
    const { array, frontiers, table } = this.target;
    const { l2p } = frontiers;
    const contents = frontiers.contents as NonNullable<Frontiers['contents']>;
    this.eachReadableSlot(this.report, (psn) => {
      const lpn = array.lpn[psn];
      if (this.seq[psn] > contents.seq) contents.seq = this.seq[psn];
      const current = l2p[lpn];
      if (current === UNMAPPED || this.isNewer(psn, current)) l2p[lpn] = psn;
    });
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (!table.covers(physical)) continue;
      if (array.nextPage[physical] > 0) frontiers.openings = Math.max(frontiers.openings, array.openSeq[physical]);
    }
  }

  /** A version older than the stored page of the trim map, and marked in it, was trimmed. */
  private applyTrims(): void {
    const { frontiers, trimMap, logicalSlots, array } = this.target;
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
        this.report.trimmed++;
      }
    }
  }

  private countValid(): void {
    const { frontiers, table, logicalSlots, upkeep } = this.target;
    const { l2p } = frontiers;
    for (let lpn = 0; lpn < l2p.length; lpn++) {
      const psn = l2p[lpn];
      if (psn === UNMAPPED) continue;
      table.valid[frontiers.blockOf(psn)]++;
      if (lpn >= logicalSlots) continue;
      this.report.mapped++;
      if ((this.flags[psn] & SlotFlag.lost) !== 0) upkeep.lost.add(lpn);
    }
  }

  /** All slots of good pages that hold data of a logical slot, in physical order. */
  protected eachReadableSlot(report: RecoveryReport, visit: (psn: number) => void): void {
    const { array, frontiers, table } = this.target;
    const { geometry } = array;
    const m = geometry.slotsPerPage;
    for (let physical = 0; physical < geometry.blocks; physical++) {
      if (!table.covers(physical) || array.bad[physical] !== 0 || array.garbage[physical] !== 0) continue;
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
    const { array } = this.target;
    if (!array.isReadable(ppn)) return false;
    return !array.isWeak(ppn) || array.read(ppn, 2 ** array.geometry.slotsPerPage - 1) === NandStatus.ok;
  }

  /** Copies have the sequence number of their original; then the one in the block opened later counts. */
  protected isNewer(psn: number, than: number): boolean {
    if (this.seq[psn] !== this.seq[than]) return this.seq[psn] > this.seq[than];
    const { array, table } = this.target;
    const opened = array.openSeq[Math.floor(psn / table.slotsPerMember)];
    const other = array.openSeq[Math.floor(than / table.slotsPerMember)];
    return opened > other || (opened === other && psn > than);
  }

  /** True if nothing has been programmed in the block since its last complete erase. */
  protected isErased(block: number): boolean {
    const { array, table } = this.target;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      if (array.nextPage[physical] > 0 || array.garbage[physical] !== 0) return false;
    }
    return true;
  }
}

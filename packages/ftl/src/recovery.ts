import { NandClass, NandStatus, PADDING_LPN } from '@flashstack/nand-device';
import { BlockState } from './block-table.js';
import type { Collector } from './collector.js';
import type { FrontierLayout } from './frontier-layout.js';
import { OobScan, type RecoveryReport, type ScanTarget } from './oob-scan.js';
import { UNMAPPED } from './slot-contents.js';
import { MoveReason } from './stats.js';
import type { VictimPolicy } from './victims/policy.js';

/** The parts of a page-mapping FTL that recovery fills in. */
export interface RecoveryTarget extends ScanTarget {
  readonly collector: Collector;
  readonly victimPolicy: VictimPolicy;
  readonly layout: FrontierLayout;
}

/** Rebuilds mapping and block states from the OOB areas of all pages. */
export function recoverMapping(ftl: RecoveryTarget): RecoveryReport {
  const scan = new Scan(ftl);
  scan.run();
  scan.rescueDomains();
  scan.settleBlocks();
  return scan.report;
}

class Scan extends OobScan {
  private readonly ftl: RecoveryTarget;

  constructor(ftl: RecoveryTarget) {
    super(ftl);
    this.ftl = ftl;
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
  settleBlocks(): void {
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
        this.report.erased++;
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
        // The spare area tells of which stream the data is.
        if (layout.isolates) k = table.stream[block];
        const f = domain * layout.total + k;
        if (frontiers.block[f] >= 0 || !this.level(block)) continue;
        const rows = this.writtenPages(block) / array.geometry.programPages;
        frontiers.resume(f, block, rows);
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

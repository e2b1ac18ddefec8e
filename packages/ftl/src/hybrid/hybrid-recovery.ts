import { BlockState } from '../block-table.js';
import { OobScan, type RecoveryReport } from '../oob-scan.js';
import { UNMAPPED } from '../slot-contents.js';
import type { HybridFtl } from './hybrid-ftl.js';
import { Role } from './placed-frontiers.js';

/** Rebuilds the tables of a hybrid scheme from the OOB areas of all pages. */
export function recoverHybrid(ftl: HybridFtl): RecoveryReport {
  const scan = new HybridScan(ftl);
  scan.run();
  scan.undoCopies();
  scan.settleBlocks();
  return scan.report;
}

/** What the valid slots of a block are. */
const Form = { mixed: -1, meta: -2 } as const;

class HybridScan extends OobScan {
  private readonly ftl: HybridFtl;

  constructor(ftl: HybridFtl) {
    super(ftl);
    this.ftl = ftl;
  }

  /**
   * A merge that was cut leaves a block of copies beside their originals, and may have taken the last free block. A block
   * whose valid slots all have an equal version in another one is given up for those, the youngest first.
   */
  undoCopies(): void {
    const { frontiers, table } = this.ftl;
    const { l2p } = frontiers;
    const twins = this.twins();
    if (twins.size === 0) return;
    const validOf = new Map<number, number[]>();
    for (let lpn = 0; lpn < l2p.length; lpn++) {
      if (l2p[lpn] === UNMAPPED) continue;
      const block = frontiers.blockOf(l2p[lpn]);
      const list = validOf.get(block);
      if (list === undefined) validOf.set(block, [lpn]);
      else list.push(lpn);
    }
    const youngestFirst = Array.from({ length: table.blocks }, (_, block) => block);
    youngestFirst.sort((a, b) => this.openSeq(b) - this.openSeq(a) || b - a);
    for (const block of youngestFirst) {
      const lpns = (validOf.get(block) ?? []).filter((lpn) => frontiers.blockOf(l2p[lpn]) === block);
      const others = lpns.map((lpn) => this.newestTwin(twins.get(lpn), block));
      if (lpns.length === 0 || others.includes(UNMAPPED)) continue;
      for (let i = 0; i < lpns.length; i++) {
        const to = frontiers.blockOf(others[i]);
        l2p[lpns[i]] = others[i];
        table.valid[block]--;
        table.valid[to]++;
        const list = validOf.get(to);
        if (list === undefined) validOf.set(to, [lpns[i]]);
        else list.push(lpns[i]);
      }
    }
  }

  /** Every block is data, log, trim map or stray; empty ones are free or erased. */
  settleBlocks(): void {
    const { table, eraser } = this.ftl;
    const used: number[] = [];
    for (let block = 0; block < table.blocks; block++) {
      if (table.state[block] === BlockState.bad) continue;
      table.openedAt[block] = table.clock;
      table.lastInvalid[block] = table.clock;
      if (table.valid[block] > 0) used.push(block);
      else if (this.isErased(block)) table.release(block);
      else {
        this.report.erased++;
        eraser.emptied(block, table.domainOf(block));
      }
    }
    used.sort((a, b) => this.openSeq(a) - this.openSeq(b) || a - b);
    for (const block of used) table.close(block);
    this.assign(used);
    this.moveWeakData(used);
  }

  private assign(used: readonly number[]): void {
    const { table, data, frontiers, meta, scheme, upkeep } = this.ftl;
    const others: number[] = [];
    const formOf = new Map(used.map((block) => [block, this.form(block)]));
    for (const block of used) {
      const lbn = formOf.get(block) as number;
      if (lbn < 0) continue;
      const rival = data.blockOf[lbn];
      if (rival >= 0 && table.valid[rival] > table.valid[block]) continue;
      if (rival >= 0) data.lbnOf[rival] = -1;
      data.blockOf[lbn] = block;
      data.lbnOf[block] = lbn;
    }
    for (const block of used) {
      const lbn = formOf.get(block) as number;
      if (lbn === Form.meta) meta.adopt(table.domainOf(block), block);
      else if (lbn >= 0 && data.blockOf[lbn] === block) {
        frontiers.role[block] = Role.data;
        data.writePointer[block] = this.writePointer(block);
      } else others.push(block);
    }
    for (const block of others) {
      if (scheme.adopt(table.domainOf(block), block)) this.mapSlots(block);
      else upkeep.makeStray(block);
    }
  }

  /** The logical block whose offsets are all at their places in `block`; a `Form` if there is none. */
  private form(block: number): number {
    const { layout, frontiers, array } = this.ftl;
    const { l2p } = frontiers;
    let lbn = -1;
    let meta = 0;
    let user = 0;
    let inPlace = true;
    for (let at = 0; at < layout.slotsPerBlock; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn >= l2p.length || l2p[lpn] !== psn) continue;
      if (lpn >= layout.logicalSlots) {
        meta++;
        continue;
      }
      user++;
      layout.locate(lpn);
      if (layout.offset !== at || (lbn >= 0 && layout.lbn !== lbn)) inPlace = false;
      lbn = layout.lbn;
    }
    if (meta > 0) return user === 0 ? Form.meta : Form.mixed;
    return inPlace ? lbn : Form.mixed;
  }

  /** Where a data block that is not full can go on; its end if a cut or later programs forbid it. */
  private writePointer(block: number): number {
    const { layout, table, array, frontiers } = this.ftl;
    const { slotsPerPage, programPages } = array.geometry;
    if (frontiers.hasPairedPages) return layout.slotsPerBlock;
    const from = block * table.members;
    let pages = 0;
    for (let i = 0; i < table.members; i++) pages += array.nextPage[table.memberBlock[from + i]];
    const position = pages * slotsPerPage;
    if (position >= layout.slotsPerBlock || position % layout.unit !== 0) return layout.slotsPerBlock;
    const perRow = table.members * programPages;
    const row = Math.floor(pages / perRow);
    const ahead = (pages - row * perRow) / programPages;
    for (let i = 0; i < table.members; i++) {
      const expected = (i < ahead ? row + 1 : row) * programPages;
      if (array.nextPage[table.memberBlock[from + i]] !== expected) return layout.slotsPerBlock;
    }
    return position;
  }

  private mapSlots(block: number): void {
    const { layout, frontiers, array, map } = this.ftl;
    for (let at = 0; at < layout.slotsPerBlock; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn < layout.logicalSlots && frontiers.l2p[lpn] === psn) map.set(layout.keyOf(lpn), psn);
    }
  }

  /** Pages that were torn but can be read are written again soon. */
  private moveWeakData(used: readonly number[]): void {
    const { array, table, upkeep } = this.ftl;
    const { geometry } = array;
    if (array.reliability === null) return;
    for (const block of used) {
      for (let i = 0; i < table.members; i++) {
        const physical = table.memberBlock[block * table.members + i];
        for (let page = 0; page < array.nextPage[physical]; page++) {
          const ppn = geometry.ppn(physical, page);
          if (array.isWeak(ppn)) upkeep.requireRefreshOf(ppn);
        }
      }
    }
  }

  /** Readable versions of logical slots that equal the mapped one. */
  private twins(): Map<number, number[]> {
    const { frontiers, array } = this.ftl;
    const { l2p } = frontiers;
    const twins = new Map<number, number[]>();
    const ignored: RecoveryReport = { pages: 0, unreadable: 0, mapped: 0, trimmed: 0, erased: 0 };
    this.eachReadableSlot(ignored, (psn) => {
      const lpn = array.lpn[psn];
      const current = l2p[lpn];
      if (current === UNMAPPED || current === psn || this.seq[current] !== this.seq[psn]) return;
      const list = twins.get(lpn);
      if (list === undefined) twins.set(lpn, [psn]);
      else list.push(psn);
    });
    return twins;
  }

  /** The newest of equal versions that is in a block opened before `block`. */
  private newestTwin(twins: readonly number[] | undefined, block: number): number {
    let newest: number = UNMAPPED;
    for (const psn of twins ?? []) {
      const other = this.ftl.frontiers.blockOf(psn);
      if (other === block || this.openSeq(other) > this.openSeq(block)) continue;
      if (newest === UNMAPPED || this.isNewer(psn, newest)) newest = psn;
    }
    return newest;
  }

  private openSeq(block: number): number {
    const { array, table } = this.ftl;
    return array.openSeq[table.memberBlock[block * table.members]];
  }
}

import type { NandArray } from '@flashstack/nand-device';
import type { BlockTable } from '../block-table.js';
import { MoveReason } from '../stats.js';
import type { UpkeepPeers } from './hybrid-upkeep.js';

/**
 * Logical blocks that hold data which is hard to read: each is written again as a whole, once, however many of its pages
 * are weak. Of a log block only the logical blocks of the weak page are concerned.
 */
export class Refreshes {
  private array!: NandArray;
  private table!: BlockTable;
  private peers!: UpkeepPeers;
  /** Logical blocks, and the data block of each when its weak page was found: another one now has fresh copies. */
  private readonly lbns: number[] = [];
  private readonly dataBlocks: number[] = [];
  private isListed: Uint8Array = new Uint8Array(0);
  /** When the requests of the array were taken over last; Infinity: never. */
  private lookedNs = Number.POSITIVE_INFINITY;

  /** Once, before anything happens. */
  attach(array: NandArray, table: BlockTable, peers: UpkeepPeers): void {
    this.array = array;
    this.table = table;
    this.peers = peers;
    this.isListed = new Uint8Array(peers.data.blockOf.length);
  }

  get hasWork(): boolean {
    return this.lbns.length > 0;
  }

  /** Takes over what the array asks for. */
  collect(): void {
    const { reliability, geometry, clock } = this.array;
    if (reliability === null) return;
    const { pagesPerBlock } = geometry;
    for (const physical of reliability.reclaimQueue.splice(0)) {
      for (let page = 0; page < pagesPerBlock; page++) this.list(physical * pagesPerBlock + page);
    }
    for (const ppn of reliability.refreshQueue.splice(0)) {
      // What has been programmed since the last look may be another page than the one that was read. If it is weak as
      // well, its next read will say so.
      if (reliability.programmedNs[ppn] <= this.lookedNs) this.list(ppn);
    }
    this.lookedNs = clock.now;
  }

  /** Writes again what is listed, as far as there is room. */
  serve(): void {
    const { merger, data } = this.peers;
    for (let lbn = this.lbns.pop(); lbn !== undefined; lbn = this.lbns.pop()) {
      const block = this.dataBlocks.pop() as number;
      if (data.blockOf[lbn] === block && !merger.full(lbn, false, MoveReason.refresh)) {
        this.lbns.push(lbn);
        this.dataBlocks.push(block);
        return;
      }
      this.isListed[lbn] = 0;
    }
  }

  /** All is forgotten: power loss. */
  reset(): void {
    this.lbns.length = 0;
    this.dataBlocks.length = 0;
    this.isListed.fill(0);
    this.lookedNs = Number.POSITIVE_INFINITY;
  }

  /** Lists the logical blocks of the valid slots of a page. */
  list(ppn: number): void {
    const { layout, frontiers, data } = this.peers;
    const { slotsPerPage } = this.array.geometry;
    const block = this.table.blockOfPhysical[this.array.geometry.blockOf(ppn)];
    if (this.table.valid[block] === 0) return;
    for (let psn = ppn * slotsPerPage; psn < (ppn + 1) * slotsPerPage; psn++) {
      const lpn = this.array.lpn[psn];
      if (lpn >= layout.logicalSlots || frontiers.l2p[lpn] !== psn) continue;
      layout.locate(lpn);
      const { lbn } = layout;
      if (this.isListed[lbn] === 1) continue;
      this.isListed[lbn] = 1;
      this.lbns.push(lbn);
      this.dataBlocks.push(data.blockOf[lbn]);
    }
  }
}

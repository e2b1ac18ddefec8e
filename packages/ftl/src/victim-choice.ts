import { BlockState } from './block-table.js';
import type { CollectorParts } from './collector-parts.js';
import { FtlError } from './errors.js';
import { MoveReason } from './stats.js';

/** Which block garbage collection takes: what the policy says, as long as that fits into the space left and gains any. */
export class VictimChoice {
  /** Victims in a row without an invalid slot, per domain. */
  private readonly fruitless: Int32Array;
  private readonly parts: CollectorParts;

  constructor(parts: CollectorParts) {
    this.parts = parts;
    this.fruitless = new Int32Array(parts.table.domains);
  }

  /** The block to collect: the policy's choice, if there is room and hope; −1 if there is none. */
  next(domain: number): number {
    const { table, policy, stats } = this.parts;
    const choice = policy.choose(domain);
    if (choice < 0) return -1;
    if (table.state[choice] !== BlockState.closed || table.domainOf(choice) !== domain) {
      throw new FtlError(
        'ERR_FTL_VICTIM',
        `the victim policy chose block ${choice}, which is no closed block of domain ${domain}`,
      );
    }
    const full = table.valid[choice] >= table.capacity[choice];
    if (full && !table.reclaimable(domain)) return -1;
    let block = choice;
    // Some policies choose blocks from which nothing is gained while others hold invalid slots. First in, first out that
    // goes on for a round at most; drawn at random it may go on for longer, and by a careless policy for ever.
    const fits = this.fits(domain, choice, MoveReason.gc);
    // An erase is about to give space.
    if (!fits && this.parts.eraser.inFlight(domain)) return -1;
    if ((full && this.fruitless[domain] >= table.blocksPerDomain) || !fits) {
      // Close to the end of space, too, the emptiest block must do, whatever the policy says.
      block = table.leastValid(domain);
      if (!this.fits(domain, block, MoveReason.gc) && !this.mayFit(domain, block)) return -1;
    }
    if (block !== choice) stats.overruled++;
    this.fruitless[domain] = table.valid[block] < table.capacity[block] ? 0 : this.fruitless[domain] + 1;
    return block;
  }

  /** True if all valid slots of the block, and padding behind them, find room without waiting for an erase. */
  fits(domain: number, block: number, reason: number): boolean {
    const { table, frontiers, owner } = this.parts;
    const need = table.valid[block] + frontiers.mostPadding + owner.trimReserve(block);
    const free = table.freeSlots[domain];
    return need <= free || need <= free + frontiers.roomLeft(owner.moveTarget(domain, block, reason));
  }

  /** The last resort, if no erase is about to give space: padding need not take as much as it may. */
  private mayFit(domain: number, block: number): boolean {
    const { table, frontiers, eraser, owner } = this.parts;
    if (eraser.erasing[domain] > 0) return false;
    const free = table.freeSlots[domain];
    return table.valid[block] < free + frontiers.roomLeft(owner.moveTarget(domain, block, MoveReason.gc));
  }
}

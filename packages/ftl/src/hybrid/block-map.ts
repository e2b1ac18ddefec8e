import { Place } from './data-blocks.js';
import { OwnedLogs } from './owned-logs.js';
import { WAIT } from './scheme.js';

/**
 * Block mapping (specification section 15): a slot that is written again makes a replacement block of its logical block, a
 * log block that is always in order. What lies before the slot is copied to it; it goes on with what is written behind.
 */
export class BlockMap extends OwnedLogs {
  frontier(domain: number, lbn: number, offset: number): number {
    const { data, logs, merger } = this.parts;
    for (;;) {
      const log = logs.ofOwner[lbn];
      if (log >= 0) {
        if (logs.isFull(log) || !logs.isAt(log, offset)) {
          if (!this.merge(log)) return WAIT;
          // A failed program on the way makes a stray of the replacement.
        } else if (merger.extend(log, lbn, offset)) return logs.claim(log, lbn, offset);
        continue;
      }
      const inPlace = data.frontier(domain, lbn, offset);
      if (inPlace >= 0) return inPlace;
      if (inPlace === Place.wait) return WAIT;
      const spare = logs.spare(domain);
      if (spare >= 0) {
        if (!logs.open(spare, domain, lbn, 0)) return WAIT;
      } else if (!this.merge(this.victim(domain))) return WAIT;
    }
  }

  wrote(f: number): void {
    const { logs, frontiers } = this.parts;
    const log = logs.atFrontier(f);
    if (log >= 0 && frontiers.block[f] < 0) this.merge(log);
  }

  override mergeAhead(domain: number): boolean {
    return this.parts.logs.used[domain] > 0 && this.merge(this.victim(domain));
  }

  /** Copies instead of padding, so that replacement blocks stay in order. */
  override settling(): void {
    const { logs, frontiers, layout, merger } = this.parts;
    for (let log = 0; log < logs.block.length; log++) {
      if (logs.block[log] < 0 || logs.isFull(log)) continue;
      const f = logs.frontier(log);
      if (frontiers.collected(f) === 0) continue;
      const at = frontiers.positionAt(f);
      const end = Math.min(at + frontiers.unitRoom(f), layout.slotsPerBlock);
      if (logs.isAt(log, at) && merger.extend(log, logs.owner[log], end)) this.wrote(f);
    }
  }
}

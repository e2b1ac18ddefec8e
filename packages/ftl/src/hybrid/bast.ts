import { Place } from './data-blocks.js';
import { OwnedLogs } from './owned-logs.js';
import { type SchemeParts, WAIT } from './scheme.js';

/** BAST: log blocks that belong to one logical block each (specification section 11). */
export class Bast extends OwnedLogs {
  private readonly switchFirst: boolean;

  /** `switchFirst`: a log block that needs no copies makes room before the one written longest ago. */
  constructor(parts: SchemeParts, switchFirst: boolean) {
    super(parts);
    this.switchFirst = switchFirst;
  }

  frontier(domain: number, lbn: number, offset: number): number {
    const { data, logs } = this.parts;
    for (;;) {
      const inPlace = data.frontier(domain, lbn, offset);
      if (inPlace >= 0) return inPlace;
      if (inPlace === Place.wait) return WAIT;
      const log = logs.ofOwner[lbn];
      if (log >= 0 && !logs.isFull(log)) return logs.claim(log, lbn, offset);
      const spare = log >= 0 ? -1 : logs.spare(domain);
      if (spare >= 0) {
        if (!logs.open(spare, domain, lbn, 0)) return WAIT;
      } else if (!this.merge(log >= 0 ? log : this.victim(domain))) return WAIT;
    }
  }

  wrote(): void {
    // A full log block is merged when its logical block is written again, or when it makes room.
  }

  protected override victim(domain: number): number {
    const { logs, layout } = this.parts;
    if (this.switchFirst) {
      const first = logs.first(domain);
      for (let log = first; log < first + logs.perDomain; log++) {
        if (logs.block[log] >= 0 && logs.ordered[log] === layout.slotsPerBlock) return log;
      }
    }
    return super.victim(domain);
  }
}

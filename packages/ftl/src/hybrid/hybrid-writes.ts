import { FtlStatus } from '../contract.js';
import { Done } from '../frontier-parts.js';
import { HostQueue } from '../host-queue.js';
import { settleAll } from '../settle.js';
import { FROM_NOTHING, UNMAPPED } from '../slot-contents.js';
import type { HybridFtl } from './hybrid-ftl.js';
import { Role } from './placed-frontiers.js';

/** Host operations on a hybrid mapping: the scheme says where the next slot goes, and merges to make room for it. */
export class HybridWrites extends HostQueue {
  private readonly ftl: HybridFtl;

  constructor(ftl: HybridFtl) {
    super(ftl);
    this.ftl = ftl;
  }

  /** Writes one slot that nobody waits for; false if there is no room before an erase is done. */
  writeUnattended(lpn: number, origin: number): boolean {
    return this.place(lpn, origin, this.ftl.locality.isSequential(lpn, 1) ? 1 : 0, -1, FROM_NOTHING);
  }

  protected place(lpn: number, origin: number, hint: number, job: number, from: number): boolean {
    const { layout, scheme, frontiers, table, stats, upkeep, eraser } = this.ftl;
    layout.locate(lpn);
    const f = scheme.frontier(layout.domain, layout.lbn, layout.offset, lpn, hint !== 0);
    if (f < 0) return false;
    table.clock++;
    stats.host++;
    stats.hostByOrigin[origin]++;
    if (upkeep.lost.size > 0) upkeep.lost.delete(lpn);
    frontiers.append(f, lpn, origin, from, job, 0);
    scheme.wrote(f);
    if (eraser.hasReady || upkeep.hasWork) upkeep.serve();
    return true;
  }

  protected trimSlots(lpn: number, count: number, job: number): void {
    const { frontiers, stats, upkeep, trimMap, map, layout } = this.ftl;
    let last = -1;
    for (let i = lpn; i < lpn + count; i++) {
      const psn = frontiers.l2p[i];
      if (psn === UNMAPPED) {
        if (upkeep.lost.size > 0 && upkeep.lost.delete(i)) trimMap.trimmedStranded(i);
        continue;
      }
      const block = frontiers.blockOf(psn);
      frontiers.invalidate(psn);
      frontiers.l2p[i] = UNMAPPED;
      map.delete(layout.keyOf(i));
      trimMap.trimmed(i, block);
      stats.trimmed++;
      if (upkeep.lost.size > 0) upkeep.lost.delete(i);
      if (last >= 0 && block !== last) this.dropIfEmpty(last);
      last = block;
    }
    if (last >= 0) this.dropIfEmpty(last);
    upkeep.serve();
    this.ftl.jobs.finishLater(job);
  }

  protected flushNow(job: number): boolean {
    const { frontiers, trimMap, upkeep } = this.ftl;
    const { scheduler } = frontiers;
    this.ftl.scheme.settling();
    if (!upkeep.writeTrimMap() && !upkeep.readOnly) return false;
    upkeep.serve();
    // What a failed program left is durable only if it has been issued.
    settleAll(frontiers, frontiers.perDomain);
    // Trims of a worn-out drive cannot be made durable any more.
    if (trimMap.isDirty && upkeep.readOnly) this.ftl.jobs.fail(job, FtlStatus.readOnly);
    scheduler.then(scheduler.fence(), this.ftl, (job << 3) | Done.job);
    return true;
  }

  /** A data block of which nothing is valid any more need not be merged. */
  private dropIfEmpty(block: number): void {
    const { frontiers, table, data } = this.ftl;
    if (frontiers.role[block] === Role.data && table.valid[block] === 0) data.drop(data.lbnOf[block]);
  }
}

import { NandClass, type NandClient, type NandScheduler } from '@flashstack/nand-device';
import { type FtlClient, FtlStatus } from './contract.js';
import type { Frontiers } from './frontier.js';
import { Done } from './frontier-parts.js';
import type { Jobs } from './jobs.js';
import type { MapCache } from './map-cache/map-cache.js';
import { PageReads } from './page-reads.js';
import { UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';

/** The FTL that the host reads from. It receives the completions. */
export interface HostReadsTarget extends NandClient {
  readonly frontiers: Frontiers;
  readonly jobs: Jobs;
  readonly stats: FtlStats;
  readonly scheduler: NandScheduler;
  /** Logical slots whose reads fail. */
  readonly lost: ReadonlySet<number>;
  /** Physical slot that the mapping names for `lpn`, or `UNMAPPED`. */
  lookup(lpn: number): number;
}

/** Host reads: slots of the same physical page are one page read; what is not yet in flash comes from controller RAM. */
export class HostReads {
  private readonly ftl: HostReadsTarget;
  private readonly client: FtlClient;
  /** Null if the whole map is in RAM. */
  private readonly mapCache: MapCache | null;
  private readonly reads: PageReads;
  private readonly keeps: boolean;

  constructor(ftl: HostReadsTarget, client: FtlClient, mapCache: MapCache | null = null) {
    this.ftl = ftl;
    this.mapCache = mapCache;
    this.client = client;
    this.reads = new PageReads(ftl.frontiers.array.geometry.slotsPerPage);
    this.keeps = ftl.frontiers.array.keeps !== 'nothing';
  }

  read(lpn: number, count: number, job: number): void {
    const { ftl, reads, mapCache } = this;
    const { stats, lost, jobs, scheduler } = ftl;
    stats.hostReads += count;
    reads.clear(count);
    let status: number = FtlStatus.ok;
    let waiting = 0;
    for (let i = lpn; i < lpn + count; i++) {
      const record = mapCache === null ? -1 : mapCache.lookUp(i, true);
      let needsRead = false;
      let psn = ftl.lookup(i);
      if (lost.size > 0 && lost.has(i)) {
        status = FtlStatus.unreadable;
        psn = UNMAPPED;
      } else if (psn === UNMAPPED) stats.unmappedReads++;
      else if (isInRam(ftl.frontiers, psn)) stats.ramReads++;
      else if (record < 0) reads.add(psn);
      else needsRead = true;
      if (this.keeps) this.client.slotRead(job, i, psn);
      if (mapCache === null || record < 0) continue;
      mapCache.lookUps.wait(record, needsRead ? i : -1, job);
      waiting++;
    }
    const parts = reads.count + waiting;
    jobs.begin(job, parts === 0 ? 1 : parts);
    if (status !== FtlStatus.ok) jobs.fail(job, status);
    if (parts === 0) jobs.finishLater(job);
    stats.pageReads += reads.count;
    for (let i = 0; i < reads.count; i++) {
      const token = scheduler.read(reads.ppn[i], reads.mask[i], NandClass.userRead, 0);
      scheduler.then(token, ftl, (job << 3) | Done.job);
    }
  }
}

/** A page that is collected but not issued, or whose program has not ended, is still in controller RAM. */
export function isInRam(frontiers: Frontiers, psn: number): boolean {
  const { geometry, nextPage } = frontiers.array;
  const ppn = geometry.ppnOfPsn(psn);
  if (!frontiers.simple && geometry.pageOf(ppn) >= nextPage[geometry.blockOf(ppn)]) return true;
  return frontiers.scheduler.isProgramming(ppn);
}

import type { NandClient, NandClock, NandScheduler } from '@flashstack/nand-device';
import { type FtlClient, FtlStatus } from './contract.js';
import { Done } from './frontier-parts.js';
import { grown } from './grown.js';
import type { UnitRecords } from './unit-records.js';

/** What is still to be done of each job, by the client's handle. */
export class Jobs {
  /** Jobs that are not done. */
  active = 0;
  /** During `ftlDone`: how long slots of the job waited for a free block, ns. */
  doneParkedNs = 0;
  /** During `ftlDone`: how long slots of the job waited for entries of the map to be read from flash, ns. */
  doneMapNs = 0;
  private pending: Int32Array = new Int32Array(256);
  private status: Uint8Array = new Uint8Array(256);
  /** When the job was parked, and then how long, ns; 0 for jobs that never were. */
  private parkedNs: Float64Array = new Float64Array(256);
  /** How long the job has waited for its look-ups, ns. */
  private mapNs: Float64Array = new Float64Array(256);
  scheduler: NandScheduler;
  private readonly completions: NandClient;
  private readonly client: FtlClient;
  private readonly clock: { readonly clock: NandClock };

  /** `clock` holds the clock of the present scheduler. */
  constructor(
    client: FtlClient,
    clock: { readonly clock: NandClock },
    scheduler: NandScheduler,
    completions: NandClient,
  ) {
    this.client = client;
    this.clock = clock;
    this.scheduler = scheduler;
    this.completions = completions;
  }

  /** The last part of the job needs no NAND operation: it is done at once, but not inside the present call. */
  finishLater(job: number): void {
    this.scheduler.then(0, this.completions, (job << 3) | Done.job);
  }

  /** A job of `pending` parts begins. */
  begin(job: number, pending: number): void {
    while (job >= this.pending.length) {
      this.pending = grown(this.pending);
      this.status = grown(this.status);
      this.parkedNs = grown(this.parkedNs);
      this.mapNs = grown(this.mapNs);
    }
    this.pending[job] = pending;
    this.status[job] = FtlStatus.ok;
    this.active++;
  }

  /** The job has one part more. */
  addPart(job: number): void {
    this.pending[job]++;
  }

  /** Slots of the job waited so long for their look-up; of waits at a time the longest counts. */
  waitedForMap(job: number, ns: number): void {
    if (ns > this.mapNs[job]) this.mapNs[job] = ns;
  }

  /** One part is done; with the last one, the client is told. */
  partDone(job: number, token: number): void {
    if (--this.pending[job] > 0) return;
    this.active--;
    this.doneParkedNs = this.parkedNs[job];
    this.parkedNs[job] = 0;
    this.doneMapNs = this.mapNs[job];
    this.mapNs[job] = 0;
    this.client.ftlDone(job, this.status[job], token);
  }

  /** A program unit is done: one part of each of the jobs in its record. */
  unitDone(records: UnitRecords, record: number, token: number): void {
    const count = records.count[record];
    const first = record * records.width;
    for (let i = 0; i < count; i++) this.partDone(records.jobs[first + i], token);
    records.release(record);
  }

  /** `parts` of the job will never be done. @returns true if none is left but the one that must report it. */
  giveUp(job: number, parts: number, status: number): boolean {
    this.fail(job, status);
    this.pending[job] -= parts;
    if (this.pending[job] > 0) return false;
    this.pending[job] = 1;
    return true;
  }

  fail(job: number, status: number): void {
    if (status > this.status[job]) this.status[job] = status;
  }

  /** The job waits for a free block from now on, or no longer. */
  park(job: number): void {
    this.parkedNs[job] = -this.clock.clock.now;
  }

  /** The job has waited elsewhere for a free block. */
  waited(job: number, ns: number): void {
    this.parkedNs[job] += ns;
  }

  resume(job: number): void {
    this.parkedNs[job] += this.clock.clock.now;
  }

  /** Nobody waits any more: power loss. */
  clear(): void {
    this.active = 0;
    this.pending.fill(0);
    this.parkedNs.fill(0);
    this.mapNs.fill(0);
  }
}

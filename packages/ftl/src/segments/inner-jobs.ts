import { CONTENT_HANDLE, type FtlClient, FtlStatus } from '../contract.js';
import { grown } from '../grown.js';
import type { Jobs } from '../jobs.js';
import { SlotFlag } from '../slot-contents.js';
import type { SegmentArea } from './segment-area.js';

/** What is told about jobs that nobody outside waits for. */
export interface InnerJobOwner {
  /** The page map's part of the flush under way is done. */
  storeFlushed(status: number, token: number): void;
  /** The page map's part of a change of a whole segment is done. */
  storeSettled(change: number, status: number, token: number): void;
  /** The page map has too few good blocks left to take a backup. */
  backupRefused(status: number): void;
  /** The page map has done something for nobody outside. */
  storeAdvanced(): void;
  /** During `ftlDone` of the page map: how long the job waited for a free block, ns. */
  readonly storeParkedNs: number;
}

/** `outer` of jobs that belong to no host operation. */
const SILENT = -1;
const FLUSH = -2;
/** A backup whose contents the page map has not asked for. */
const BACKUP = -3;
/** `outer` of the page map's part of change `i` of a whole segment: `CHANGE - i`. */
const CHANGE = -4;

/**
 * The client of the page map beside the segments: gives its answers to the host operations whose parts they are, and
 * supplies the contents of backups.
 */
export class InnerJobs implements FtlClient {
  private readonly client: FtlClient;
  private readonly owner: InnerJobOwner;
  private area!: SegmentArea;
  private jobs!: Jobs;
  /** Per segment: the word of the note that it is finished. */
  private notes: Uint32Array = new Uint32Array(0);
  private outer: Int32Array = new Int32Array(64);
  private next: Int32Array = new Int32Array(64);
  private free = -1;
  private used = 0;
  /** Backups that the page map has not taken the contents of, for want of a free block. */
  unplaced = 0;

  constructor(client: FtlClient, owner: InnerJobOwner) {
    this.client = client;
    this.owner = owner;
  }

  /** Once, before anything happens. */
  attach(area: SegmentArea, jobs: Jobs): void {
    this.area = area;
    this.jobs = jobs;
  }

  /** A job that is a part of a host operation. */
  partOf(outer: number): number {
    const job = this.free;
    if (job >= 0) this.free = this.next[job];
    else if (this.used === this.outer.length) {
      this.outer = grown(this.outer);
      this.next = grown(this.next);
    }
    const taken = job >= 0 ? job : this.used++;
    this.outer[taken] = outer;
    return taken;
  }

  silent(): number {
    return this.partOf(SILENT);
  }

  backup(): number {
    if (this.area.parts.contents === null) return this.silent();
    this.unplaced++;
    return this.partOf(BACKUP);
  }

  flush(): number {
    return this.partOf(FLUSH);
  }

  /** The flush that a change of a whole segment needs. */
  change(index: number): number {
    return this.partOf(CHANGE - index);
  }

  /** What the note about a finished segment says. */
  setNote(segment: number, word: number): void {
    if (this.notes.length === 0) this.notes = new Uint32Array(this.area.layout.segments);
    this.notes[segment] = word;
  }

  /** Nobody waits any more: power loss. */
  clear(): void {
    this.free = -1;
    this.used = 0;
    this.unplaced = 0;
  }

  ftlDone(job: number, status: number, token: number): void {
    const outer = this.outer[job];
    this.next[job] = this.free;
    this.free = job;
    if (outer === FLUSH) {
      this.owner.storeFlushed(status, token);
      return;
    }
    if (outer <= CHANGE) {
      this.owner.storeSettled(CHANGE - outer, status, token);
      return;
    }
    if (outer === BACKUP) {
      this.unplaced--;
      this.owner.backupRefused(status);
    }
    if (outer < 0) {
      this.owner.storeAdvanced();
      return;
    }
    if (status !== FtlStatus.ok) this.jobs.fail(outer, status);
    this.jobs.waited(outer, this.owner.storeParkedNs);
    this.jobs.partDone(outer, token);
  }

  /** `job` < 0: a slot of the data area is written for job `~job`. */
  slotWord(job: number, lpn: number): number {
    if (job < 0) return this.client.slotWord(~job, lpn);
    const { plan } = this.area.layout;
    if (lpn < plan.first) return this.client.slotWord(this.outer[job], lpn);
    if (lpn >= plan.end) return this.notes[lpn - plan.end];
    this.unplaced--;
    this.outer[job] = SILENT;
    return this.backupOf(lpn);
  }

  slotRead(job: number, lpn: number, psn: number): void {
    this.client.slotRead(this.outer[job], lpn, psn);
  }

  wordCopied(word: number): void {
    this.client.wordCopied(word);
  }

  wordDead(word: number): void {
    this.client.wordDead(word);
  }

  /** The content word of a slot of a segment, which is not released before it has been asked for. */
  private backupOf(lpn: number): number {
    const { area } = this;
    const segment = area.layout.segmentOf(lpn);
    const offset = lpn - area.layout.start(segment);
    const word = area.parts.array.word as Uint32Array;
    const flags = area.parts.array.flags as Uint8Array;
    const psn = area.contentOf(segment, offset);
    if ((flags[psn] & SlotFlag.handle) === 0) return word[psn];
    this.client.wordCopied(word[psn]);
    return word[psn] + CONTENT_HANDLE;
  }
}

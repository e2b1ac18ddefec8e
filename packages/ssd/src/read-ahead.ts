import type { CachedReads } from './cached-reads.js';
import { type CommandContext, Job } from './command-context.js';
import type { ReadCacheConfig } from './config.js';

/** Sequential streams that are told apart. */
const STREAMS = 16;
const NONE = -1;

/** Reads ahead of sequential reads into the cache. */
export class ReadAhead {
  private readonly context: CommandContext;
  private readonly cached: CachedReads;
  private readonly windowSlots: number;
  private readonly after: number;
  /** Per stream: the block it goes on with, its reads in a row, the slot up to which was read ahead, its last use. */
  private readonly nextBlock: Float64Array = new Float64Array(STREAMS).fill(NONE);
  private readonly reads: Float64Array = new Float64Array(STREAMS);
  private readonly aheadOf: Int32Array = new Int32Array(STREAMS);
  private readonly usedAt: Float64Array = new Float64Array(STREAMS);
  private clock = 0;

  constructor(context: CommandContext, cached: CachedReads, config: ReadCacheConfig) {
    this.context = context;
    this.cached = cached;
    this.windowSlots = config.readAheadSlots;
    this.after = config.after;
  }

  /** A read has been looked up: if it goes on where an earlier one ended often enough, the slots behind it are read. */
  follow(h: number): void {
    if (this.windowSlots === 0) return;
    const { table, blocksPerSlot, ftl } = this.context;
    const start = table.lpn[h] * blocksPerSlot + table.head[h];
    const stream = this.streamOf(start);
    this.nextBlock[stream] = start + table.blocks[h];
    this.usedAt[stream] = ++this.clock;
    if (++this.reads[stream] < this.after) return;
    const end = table.lpn[h] + table.slots[h];
    const from = Math.max(end, this.aheadOf[stream]);
    // Half a window at a time, so that slots of one page are read together.
    if (from - end > this.windowSlots >> 1) return;
    const to = Math.min(end + this.windowSlots, ftl.logicalSlots);
    this.aheadOf[stream] = to;
    this.read(from, to);
  }

  /** The stream that goes on at this block, or the one not used for longest, begun anew. */
  private streamOf(block: number): number {
    let oldest = 0;
    for (let stream = 0; stream < STREAMS; stream++) {
      if (this.nextBlock[stream] === block) return stream;
      if (this.usedAt[stream] < this.usedAt[oldest]) oldest = stream;
    }
    this.reads[oldest] = 0;
    this.aheadOf[oldest] = 0;
    return oldest;
  }

  /** Reads what is neither cached nor in the write buffer, in runs of at most a chunk. */
  private read(from: number, to: number): void {
    const { chunkSlots, buffer } = this.context;
    let start = from;
    for (let lpn = from; lpn <= to; lpn++) {
      const skipped = lpn < to && (this.cached.holds(lpn) || (buffer.used > 0 && buffer.find(lpn) !== NONE));
      if (lpn < to && !skipped && lpn - start < chunkSlots) continue;
      if (lpn > start && !this.readRun(start, lpn - start)) return;
      start = skipped ? lpn + 1 : lpn;
    }
  }

  /** False if the cache has no room left. */
  private readRun(lpn: number, count: number): boolean {
    const { jobs, ftl, timelines, simulator, config } = this.context;
    const { readSlotNs } = config.firmware;
    const job = jobs.acquire(Job.ahead, 0, lpn, count);
    const roomy = this.cached.begin(job, lpn, count);
    this.cached.counters.readAheadSlots += count;
    // The cores are busy with it; the read does not wait for them.
    if (readSlotNs > 0) {
      if (timelines.parted) timelines.pieces(lpn, count, simulator.now, 0, readSlotNs, 0);
      else timelines.core(lpn, simulator.now, readSlotNs * count);
    }
    ftl.read(lpn, count, job);
    return roomy;
  }
}

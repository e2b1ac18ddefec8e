import { ZoneOp } from '@flashstack/block-device';
import type { SegmentView } from '@flashstack/ftl';
import type { BufferDrain } from './buffer-drain.js';
import type { CachedReads } from './cached-reads.js';
import { type CommandContext, Job } from './command-context.js';

/** Carries out resets and finishes of zones, once all earlier writes have been handed on. */
export class ZoneCommands {
  private readonly context: CommandContext;
  private readonly drain: BufferDrain;
  private readonly cached: CachedReads | null;

  constructor(context: CommandContext, drain: BufferDrain, cached: CachedReads | null) {
    this.context = context;
    this.drain = drain;
    this.cached = cached;
  }

  /** Hands a command on to the FTL, zone by zone. */
  carryOut(h: number): void {
    const { table, append } = this.context;
    if (append?.zones == null) throw new Error(`command ${table.op[h]} for zones of a drive that has none`);
    const zones = append.zones.changedBy(h);
    // What was written to the zones before must reach the FTL before it is told of their end.
    if (table.op[h] === ZoneOp.finish && zones.length > 0) this.drain.advanceAll();
    for (const zone of zones) {
      if (table.op[h] === ZoneOp.reset) this.reset(h, zone, append.view);
      else this.finish(h, zone, append.view);
    }
    this.context.handedOn(h);
  }

  /** The slots of a zone are durable, or gone, as the command said. */
  zoneDone(first: number, count: number): void {
    // Only now: until then reads may still have brought older versions into the cache.
    this.cached?.invalidate(first, count);
  }

  private reset(h: number, zone: number, view: SegmentView): void {
    const { table, jobs } = this.context;
    const first = zone * view.stride;
    const count = view.capacityOf(zone);
    table.pending[h]++;
    this.cached?.invalidate(first, count);
    view.reset(zone, jobs.acquire(Job.zone, h, first, count));
    // The FTL keeps the order of what it has been told, so that nothing of the zone's last life is needed from here.
    this.drain.doom(first, count);
    this.drain.drop(first, count);
  }

  private finish(h: number, zone: number, view: SegmentView): void {
    const { table, jobs } = this.context;
    table.pending[h]++;
    view.finish(zone, jobs.acquire(Job.zone, h, zone * view.stride, view.capacityOf(zone)));
  }
}

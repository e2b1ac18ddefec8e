import { BlockFlag, BlockOp } from '@flashstack/block-device';
import { type FtlClient, FtlStatus } from '@flashstack/ftl';
import type { Token } from '@flashstack/nand-device';
import type { EventTarget } from '@flashstack/sim';
import { CommandContext, type ControllerParts, Job, Stage } from './command-context.js';
import type { RequestContents } from './contents.js';
import { isZoneCommand } from './drive-zones.js';
import { Packed } from './host-interface.js';
import type { HostTimelines } from './host-timelines.js';
import { PHASES, Phase } from './phases.js';
import { mayFillBuffer, programSlots } from './program-unit.js';
import { ReadCommands } from './read-commands.js';
import { WriteCommands } from './write-commands.js';

/** Event arguments that are no request. */
const PAD_EVENT = -1;
const IDLE_EVENT = -2;

/**
 * Carries out commands: hands each stage of a request to the part that knows it, and the FTL's answers back. Everything
 * in it is volatile: a power cut replaces the whole object, and what is still scheduled for the old one falls flat.
 */
export class Controller implements FtlClient, EventTarget {
  private readonly context: CommandContext;
  private readonly reads: ReadCommands;
  private readonly writes: WriteCommands;
  /** Writes wait for their programs, and a program unit has several slots: somebody must fill it up. */
  private readonly padded: boolean;
  private padArmed = false;
  private idleArmed = false;

  constructor(parts: ControllerParts) {
    this.context = new CommandContext(parts, this);
    this.reads = new ReadCommands(this.context);
    this.writes = new WriteCommands(this.context, this.reads.cached, () => this.written());
    // Any number of segments or log blocks may be partly written: they would fill a buffer for good.
    this.padded = programSlots(parts.config) > 1 && (!this.context.early || mayFillBuffer(parts.config));
  }

  /** Requests under way. */
  get active(): number {
    return this.context.active;
  }

  /** Slots in the write buffer that have not been handed to the FTL. */
  get bufferedSlots(): number {
    const { dirty, filling } = this.context.buffer;
    return dirty + filling;
  }

  get timelines(): HostTimelines {
    return this.context.timelines;
  }

  /** The counters of the drive have just started again. */
  restartCounting(): void {
    this.context.timelines.restart();
    this.context.gc?.restart();
  }

  /** Power is gone: nothing that was scheduled for this controller has any effect from now on. */
  cut(): void {
    this.context.dead = true;
  }

  /** Begins a request that has a command slot. It never ends inside this call. */
  begin(h: number): void {
    const { context } = this;
    const { table } = context;
    const { hostNs = 0 } = context.config.firmware;
    context.active++;
    // A command to zones may let others begin while it begins.
    const outer = context.beginning;
    context.beginning = true;
    this.writes.drain.policy.hostActive();
    table.markNs[h] = table.issuedNs[h];
    context.chargeWait(h, Phase.queue);
    if (hostNs === 0 || table.packed[h] === Packed.follower) {
      this.start(h);
    } else {
      const { now } = context.simulator;
      table.stage[h] = Stage.command;
      this.spend(h, context.timelines.hostCore(now, hostNs) - now);
    }
    context.beginning = outer;
  }

  /** Simulator only. */
  fire(arg: number): void {
    if (this.context.dead) return;
    if (arg >= 0) this.step(arg);
    else if (arg === PAD_EVENT) this.pad();
    else this.offerIdle();
  }

  ftlDone(job: number, status: number, token: Token): void {
    const { jobs, contents } = this.context;
    const ref = jobs.ref[job];
    const kind = jobs.kind[job];
    const slots = jobs.slots[job];
    const lpn = jobs.lpn[job];
    // Left over only if the FTL refused the write.
    if (jobs.record[job] !== 0) contents?.releaseChain(jobs.record[job]);
    jobs.release(job);
    if (status >= FtlStatus.readOnly && (kind === Job.write || kind === Job.entry)) this.context.writeFailed(lpn);
    switch (kind) {
      case Job.read:
        this.reads.cached?.jobDone(job, lpn, slots, status, false);
        this.reads.partDone(ref, slots, status, token);
        break;
      case Job.ahead:
        this.reads.cached?.jobDone(job, lpn, slots, status, true);
        break;
      case Job.write:
        this.writes.partDone(ref, status, token);
        break;
      case Job.trim:
        this.writes.trimDone(ref, lpn, slots, status, token);
        break;
      case Job.zone:
        this.writes.zones.zoneDone(lpn, slots);
        this.writes.entryGone(ref, status, token);
        break;
      case Job.flush:
        this.writes.flushDone(ref, status, token);
        break;
      case Job.entry:
        this.writes.drain.entryDone(ref, status, token);
        break;
      case Job.fill:
        this.writes.drain.fillDone(ref, status);
        break;
    }
    this.context.gc?.poll();
    if (this.context.active === 0) this.quiet();
  }

  slotWord(job: number, lpn: number): number {
    const contents = this.context.contents as RequestContents;
    const { jobs, buffer } = this.context;
    if (jobs.kind[job] === Job.entry) return contents.wordOf(buffer.record[jobs.ref[job]]);
    if (lpn !== jobs.lpn[job]) throw new Error(`content of slot ${lpn} asked for, slot ${jobs.lpn[job]} is next`);
    jobs.lpn[job]++;
    const record = jobs.record[job];
    jobs.record[job] = contents.nextOf(record);
    const word = contents.wordOf(record);
    contents.release(record);
    return word;
  }

  slotRead(job: number, lpn: number, psn: number): void {
    const contents = this.context.contents as RequestContents;
    const { jobs, buffer, table, fullMask } = this.context;
    const ref = jobs.ref[job];
    const kind = jobs.kind[job];
    if (kind === Job.fill) {
      contents.fillRecord(buffer.record[ref], fullMask & ~buffer.mask[ref], psn);
      return;
    }
    this.reads.cached?.lookedUp(job, lpn, psn);
    if (kind === Job.read) contents.deliverSlot(ref, lpn, this.context.maskOf(ref, lpn - table.lpn[ref]), psn);
  }

  wordCopied(word: number): void {
    this.context.contents?.retain(word);
  }

  wordDead(word: number): void {
    this.context.contents?.release(word);
  }

  private step(h: number): void {
    const { context } = this;
    switch (context.table.stage[h]) {
      case Stage.read:
        this.reads.step(h);
        break;
      case Stage.write:
        this.writes.step(h);
        break;
      case Stage.flush:
        this.writes.flush(h);
        break;
      case Stage.discard:
        if (isZoneCommand(context.table.op[h])) this.writes.command(h);
        else this.writes.discard(h);
        break;
      case Stage.command:
        this.start(h);
        break;
      case Stage.collection:
        this.writes.receive(h);
        break;
      default:
        context.finish(h);
        if (context.active === 0) this.quiet();
    }
  }

  /** The I/O cores take a command. */
  private start(h: number): void {
    const { table, timelines, config, chunkSlots } = this.context;
    const { readNs, readSlotNs, readPipelineNs, flushNs, discardNs } = config.firmware;
    switch (table.op[h]) {
      case BlockOp.read:
        table.stage[h] = Stage.read;
        if (timelines.parted) this.reads.pieces.begin(h);
        else this.compute(h, readNs + readSlotNs * (Math.min(chunkSlots, table.slots[h]) - 1), readPipelineNs);
        break;
      case BlockOp.write:
        if (this.context.append?.isOrdered(h) === true) this.context.append.begin(h);
        if ((table.flags[h] & BlockFlag.preflush) !== 0) {
          table.stage[h] = Stage.preflush;
          this.writes.flush(h);
        } else {
          this.writes.receive(h);
        }
        break;
      case BlockOp.flush:
        table.stage[h] = Stage.flush;
        this.compute(h, flushNs + (config.host?.flushNs ?? 0), 0);
        break;
      default:
        if (this.context.append?.isOrdered(h) === true) this.context.append.begin(h);
        table.stage[h] = Stage.discard;
        this.compute(h, discardNs, 0);
    }
  }

  /** Spends time on a core and `latencyNs` besides, then goes on with the request's stage. */
  private compute(h: number, costNs: number, latencyNs: number): void {
    const { table, timelines, simulator } = this.context;
    const now = simulator.now;
    let end = now;
    if (costNs > 0) {
      if (!timelines.parted) end = timelines.core(table.lpn[h], now, costNs);
      else if (table.op[h] === BlockOp.flush) end = timelines.everyCore(now, costNs);
      else end = timelines.pieces(table.lpn[h], table.slots[h], now, costNs, 0, 0);
    }
    this.spend(h, end - now + latencyNs);
  }

  /** Firmware takes `delayNs`; then the request's stage goes on. */
  private spend(h: number, delayNs: number): void {
    const { table, simulator } = this.context;
    if (delayNs === 0) {
      this.step(h);
      return;
    }
    table.phasesNs[h * PHASES + Phase.firmware] += delayNs;
    table.markNs[h] = simulator.now + delayNs;
    this.context.stepIn(h, delayNs);
  }

  /** A slot has been handed to the FTL. */
  private written(): void {
    this.context.gc?.poll();
    this.armPad();
  }

  private armPad(): void {
    if (this.padArmed || !this.padded) return;
    this.padArmed = true;
    this.context.simulator.after(this.context.config.gatherNs, this, PAD_EVENT);
  }

  private pad(): void {
    const { active, ftl, jobs } = this.context;
    this.padArmed = false;
    if (active > 0 && (!this.context.early || this.writes.isFull)) ftl.flush(jobs.acquire(Job.pad, 0, 0, 0));
  }

  /** No command is under way. */
  private quiet(): void {
    this.writes.drain.policy.hostQuiet();
    this.armIdle();
  }

  private armIdle(): void {
    const { idleNs } = this.context.config;
    if (idleNs === 0 || this.idleArmed) return;
    this.idleArmed = true;
    this.context.simulator.after(idleNs, this, IDLE_EVENT);
  }

  private offerIdle(): void {
    const { active, ftl, simulator, config, gc } = this.context;
    this.idleArmed = false;
    if (active > 0) return;
    const before = ftl.stats.programmed;
    ftl.idle(simulator.now + config.idleNs);
    gc?.poll();
    // As long as there is something to do, the next stretch of silence is offered too.
    if (ftl.stats.programmed > before) this.armIdle();
  }
}

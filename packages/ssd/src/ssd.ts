import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  validateRequest,
  type ZoneCapability,
  ZoneOp,
} from '@flashstack/block-device';
import { InputError, RandomSource, SimulationError, type Simulator, type StatsRegistry } from '@flashstack/sim';
import { AppendOrder } from './append-order.js';
import { checkSsdConfig } from './check-config.js';
import type { HostPort } from './command-context.js';
import type { SsdConfig } from './config.js';
import { ContentPool } from './content-pool.js';
import { RequestContents } from './contents.js';
import { Controller } from './controller.js';
import { DriveZones, isZoneCommand, needsFlash } from './drive-zones.js';
import { FlashStack, type Preconditioned, type PreconditionState } from './flash-stack.js';
import { registerFlashStats } from './flash-stats.js';
import { type DriveHealth, LifeCounters, registerHealth } from './health.js';
import { HostInterface } from './host-interface.js';
import { registerHostStats } from './host-stats.js';
import { PHASES } from './phases.js';
import type { SsdProbe } from './probe.js';
import { RangeLocks } from './range-locks.js';
import { RequestTable } from './request-table.js';
import { SsdStats } from './stats.js';

/** What a drive needs besides its configuration. */
export interface SsdOptions {
  /** Seed of the drive's own randomness (faults, sampling of victims, preconditioning). Default 1. */
  readonly seed?: number;
}

/**
 * A solid-state drive: host interface, write buffer, FTL and flash in simulated time.
 *
 * FLUSH covers writes that had completed; of overlapping writes in flight the one submitted last wins (a write or
 * discard that overlaps an earlier one waits for it); everything else may complete out of order.
 */
export class Ssd implements BlockDevice, HostPort {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  readonly config: SsdConfig;
  readonly simulator: Simulator;
  readonly stats: SsdStats;
  /** Array, schedulers and FTL. */
  readonly flash: FlashStack;
  /** Observes requests; null: nobody. */
  probe: SsdProbe | null = null;
  private readonly pool: ContentPool | null;
  private readonly slotBlocks: number;
  private table!: RequestTable;
  private controller!: Controller;
  private host!: HostInterface;
  private locks!: RangeLocks;
  private contents: RequestContents | null = null;
  private life: LifeCounters = new LifeCounters();
  /** Null: slots may be written in any order. */
  private append: AppendOrder | null = null;
  /** Null: the drive has no zones. */
  private readonly driveZones: DriveZones | null;
  private inFlight = 0;
  private powered = true;
  /** After a power cut of a protected drive: requests it still works on, for nobody; new ones wait behind them. */
  private leftovers = 0;
  private readonly waitingForLeftovers: number[] = [];

  /** @throws InputError if the configuration is impossible (see `checkSsdConfig`, and the checks of the FTL). */
  constructor(simulator: Simulator, config: SsdConfig, options: SsdOptions = {}) {
    checkSsdConfig(config);
    this.config = config;
    this.stats = new SsdStats(
      (config.readCache ?? null) !== null,
      config.host?.kind === 'nvme' ? config.queue.queues : 0,
    );
    this.simulator = simulator;
    this.blockBytes = config.blockBytes;
    this.blockCount = config.capacityBytes / config.blockBytes;
    this.slotBlocks = config.nand.geometry.slotBytes / config.blockBytes;
    this.flash = new FlashStack(simulator, config, new RandomSource(options.seed ?? 1));
    this.features = {
      fua: true,
      volatileCache: !config.powerLossProtection && config.host?.cache !== false,
      discard: (this.flash.ftl.segments?.zones ?? null) === null,
      atomicBlocks: 1,
      keeps: config.keeps,
    };
    this.pool = config.keeps === 'contents' ? new ContentPool(config.blockBytes, this.slotBlocks) : null;
    const { segments } = this.flash.ftl;
    const limits = segments?.zones ?? null;
    this.driveZones =
      segments === undefined || limits === null ? null : new DriveZones(segments, limits, this.slotBlocks);
    this.reset(true);
  }

  /**
   * Zones of a drive with the mapping `zoned`, null for all others. Zone rules are applied at submission. With blocks
   * smaller than a slot, writes and appends are whole slots: others are refused with `zoneInvalidWrite`.
   */
  get zones(): ZoneCapability | null {
    return this.driveZones === null ? null : this.driveZones.table;
  }

  /** Requests submitted and not yet done. */
  get requestsInFlight(): number {
    return this.inFlight;
  }

  /**
   * Bytes read, written and programmed, wear, spare blocks, errors and power cuts since the drive was made or
   * preconditioned; `resetStats` and power cuts leave them alone.
   */
  health(): DriveHealth {
    const buffered = this.powered || this.config.powerLossProtection ? this.controller.bufferedSlots : 0;
    return this.life.health(this.config, this.stats, this.flash, buffered);
  }

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    request.issuedNs = this.simulator.now;
    if (!this.powered) {
      request.status = BlockStatus.powerLost;
      request.owner.ioDone(request);
      return;
    }
    if (this.refuses(request)) {
      request.owner.ioDone(request);
      return;
    }
    this.stats.submitted++;
    this.inFlight++;
    const h = this.enter(request);
    const free = !changesData(request.op) || this.locks.enter(h);
    if (!free) this.stats.counters.overlapWaits++;
    if (this.append?.isOrdered(h) === true) {
      this.append.submit(h, free);
      this.dispatchInOrder();
    } else if (free) this.dispatch(h);
  }

  handedOn(h: number): void {
    this.locks.leave(h);
    if (this.locks.held > 0) this.releaseHeld();
  }

  writeFailed(lpn: number): void {
    this.driveZones?.failed(lpn);
  }

  /** A request has left the controller. */
  finished(h: number): void {
    if (this.host.holds(h)) return;
    const { table, stats } = this;
    const request = table.request[h];
    const op = table.op[h];
    const latencyNs = this.simulator.now - table.issuedNs[h];
    const status = table.status[h];
    // Counted as cut already if the host has lost power meanwhile.
    if (request !== null)
      stats.byOp[op].record(status, table.blocks[h] * this.blockBytes, latencyNs, table.phasesNs, h * PHASES);
    if (op === BlockOp.write && status === 0 && request !== null) {
      stats.writtenByOrigin[table.origin[h]] += table.blocks[h] * this.blockBytes;
    }
    if (stats.queues.length > 0 && request !== null && status === 0) {
      stats.queues[table.flow[h] % stats.queues.length].record(latencyNs);
    }
    if (op === BlockOp.read && status === BlockStatus.mediaError) this.life.mediaErrors++;
    if (this.probe !== null) this.probe.requestDone(op, status, latencyNs, table.phasesNs, h * PHASES);
    this.inFlight--;
    if (changesData(op) && !isZoneCommand(op)) this.locks.leave(h);
    table.release(h);
    if (this.locks.held > 0) this.releaseHeld();
    this.host.beginWaiting();
    if (request === null) {
      this.leftoverDone();
      return;
    }
    request.status = status;
    request.owner.ioDone(request);
  }

  /**
   * Brings the drive into a state without simulated time passing. `none`: as new. `fill`: every slot written once, in
   * order. `steady`: as after long uniformly random writing, drawn from the stationary distribution where one is known
   * for the FTL's options, otherwise by writing three times the slots in use. `share`: of the capacity that is in use,
   * from its start. Nothing may be in flight; what was stored is lost and reads as zeroes. Statistics start again.
   * @throws SimulationError `ERR_SSD_BUSY`; InputError `ERR_SSD_SHARE` unless 0 < share ≤ 1.
   */
  precondition(state: PreconditionState, share = 1): Preconditioned {
    if (!(share > 0 && share <= 1)) {
      throw new InputError('ERR_SSD_SHARE', `share: found ${share}, expected a number above 0 and up to 1`, 'share');
    }
    if (this.inFlight > 0) {
      throw new SimulationError('ERR_SSD_BUSY', `cannot precondition: ${this.inFlight} requests are in flight`);
    }
    this.flash.socket.client = null;
    const how = this.flash.precondition(state, share);
    this.reset(true);
    this.resetStats();
    this.life = new LifeCounters();
    return how;
  }

  /** Starts all counters of the drive again, from the present time. */
  resetStats(): void {
    this.life.absorb(this.stats, this.flash);
    this.stats.reset(this.simulator.now, this.inFlight);
    this.flash.resetStats();
    this.controller.restartCounting();
  }

  /** Registers `ssd.…`, `ftl.…`, `nand.…`, `channel.…`, `link.…`, `firmware.…` and `health.…`. */
  registerStats(registry: StatsRegistry): void {
    this.stats.register(registry, () => this.simulator.now);
    registerFlashStats(
      registry,
      this.flash,
      () => this.simulator.now,
      () => this.stats.sinceNs,
    );
    registerHealth(registry, () => this.health());
    registerHostStats(
      registry,
      this.config.firmware,
      (line) => this.controller.timelines.busyNs(line),
      () => this.simulator.now - this.stats.sinceNs,
    );
  }

  /**
   * Checks that no request was lost.
   * @throws SimulationError `ERR_SSD_LOST` if requests are in flight or the counts do not add up.
   */
  assertDrained(): void {
    const { submitted, done, cut } = this.stats;
    if (this.inFlight === 0 && submitted === done + cut) return;
    throw new SimulationError(
      'ERR_SSD_LOST',
      `requests are missing at ${this.simulator.now} ns: ${submitted} submitted, ${done} done, ${cut} cut by power loss, ` +
        `${this.inFlight} in flight (${this.controller.active} under way, ${this.host.waiting} queued, ${this.locks.held} held back)`,
    );
  }

  /**
   * Power is lost now. Requests in flight are never given back. Without power-loss protection the write buffer, the
   * mapping and unfinished flash work are lost; with it the drive finishes what it has taken on stored energy.
   */
  powerCut(): void {
    if (!this.powered) return;
    this.powered = false;
    this.life.unsafeShutdowns++;
    this.stats.cut += this.inFlight - this.leftovers;
    if (this.config.powerLossProtection) {
      // The drive goes on with what it has taken, but nobody waits for it any more.
      this.table.request.fill(null);
      this.driveZones?.powerCut();
      this.leftovers = this.inFlight;
      for (const h of this.waitingForLeftovers.splice(0)) this.dispatch(h);
      return;
    }
    this.controller.cut();
    this.flash.socket.client = null;
    this.flash.powerCut();
    this.inFlight = 0;
  }

  /**
   * Power comes back. The mapping is rebuilt from the spare areas of all programmed pages.
   * @returns the time a drive would take for that scan, ns (simulated time does not pass); 0 with power-loss protection.
   * @throws FtlError if the drive keeps nothing to rebuild from.
   */
  powerOn(): number {
    if (this.powered) return 0;
    this.powered = true;
    this.life.powerCycles++;
    if (this.config.powerLossProtection) return 0;
    const { flash, pool } = this;
    const report = flash.recover();
    if (pool !== null) flash.recount(pool);
    this.reset(false);
    return flash.scanNs(report.pages);
  }

  /** Applies the rules of append-only ranges and of zones; true if they refuse the request. */
  private refuses(request: BlockRequest): boolean {
    const { driveZones, append } = this;
    let status: number = BlockStatus.ok;
    if (driveZones !== null) status = driveZones.admit(request);
    else if (append !== null && changesData(request.op)) {
      status = append.accept(request.op, request.block, request.count);
    }
    if (status === BlockStatus.ok) return false;
    request.status = status;
    return true;
  }

  private enter(request: BlockRequest): number {
    const { table } = this;
    const h = table.acquire();
    const { count } = request;
    const block = request.op === ZoneOp.append ? request.placed : request.block;
    const first = this.slotBlocks === 1 ? block : Math.floor(block / this.slotBlocks);
    const head = block - first * this.slotBlocks;
    table.request[h] = request;
    const isCommand = isZoneCommand(request.op);
    if (isCommand) this.driveZones?.enter(h);
    table.op[h] = request.op === ZoneOp.append ? BlockOp.write : request.op;
    const through = this.config.host?.cache === false && changesData(request.op) && !isCommand;
    table.flags[h] = through ? request.flags | BlockFlag.fua : request.flags;
    table.origin[h] = request.origin;
    table.stream[h] = request.stream;
    // Several queues would not keep the order of writes.
    table.flow[h] = this.append === null ? request.flow : 0;
    table.lpn[h] = first;
    table.head[h] = head;
    table.blocks[h] = count;
    const slots = this.slotBlocks === 1 ? count : Math.ceil((head + count) / this.slotBlocks);
    table.slots[h] = slots;
    table.tail[h] = slots * this.slotBlocks - head - count;
    table.linkBytes[h] = count * this.blockBytes;
    table.issuedNs[h] = this.simulator.now;
    // What is append-only has no other way to hold zeroes than to have them written; they need not come over the link.
    if (this.append !== null && request.op === BlockOp.writeZeroes) {
      table.op[h] = BlockOp.write;
      table.linkBytes[h] = 0;
    }
    if (this.contents !== null && table.op[h] === BlockOp.write) this.contents.capture(h);
    return h;
  }

  private dispatch(h: number): void {
    if (this.leftovers > 0 && this.table.request[h] !== null) {
      this.waitingForLeftovers.push(h);
      return;
    }
    this.host.submit(h);
  }

  private leftoverDone(): void {
    if (--this.leftovers > 0) return;
    for (const h of this.waitingForLeftovers.splice(0)) this.dispatch(h);
  }

  private releaseHeld(): void {
    for (let h = this.locks.nextRunnable(); h >= 0; h = this.locks.nextRunnable()) {
      if (this.append?.isOrdered(h) === true) this.append.unblock(h);
      else this.dispatch(h);
    }
    this.dispatchInOrder();
  }

  /** Writes to an append-only range begin in the order in which they were submitted. */
  private dispatchInOrder(): void {
    if (this.append === null) return;
    for (let h = this.append.next(); h >= 0; h = this.append.next()) this.dispatch(h);
  }

  /** A controller in its state after power-on; `asNew`: of a drive that nothing has happened to. */
  private reset(asNew: boolean): void {
    this.table = new RequestTable();
    const { segments } = this.flash.ftl;
    const { driveZones, slotBlocks } = this;
    if (segments !== undefined) driveZones?.follow(segments, asNew);
    this.append = segments === undefined ? null : new AppendOrder(segments, driveZones, this.table, slotBlocks);
    this.locks = new RangeLocks(this.table);
    const { flash, pool } = this;
    this.contents = pool === null ? null : new RequestContents(pool, this.table, flash.array);
    this.controller = new Controller({
      simulator: this.simulator,
      config: this.config,
      table: this.table,
      port: this,
      counters: this.stats.counters,
      buffered: this.stats.buffered,
      readCache: this.stats.readCache,
      ftl: flash.ftl,
      scheduler: flash.scheduler,
      contents: this.contents,
      append: this.append,
    });
    flash.socket.client = this.controller;
    this.host = new HostInterface(this.simulator, this.config, this.table, this, this.controller);
  }
}

/** Such requests keep their order where they overlap. */
function changesData(op: number): boolean {
  const writes = op === BlockOp.write || op === ZoneOp.append;
  return writes || op === BlockOp.discard || op === BlockOp.writeZeroes || needsFlash(op);
}

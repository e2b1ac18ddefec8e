import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  type IoOwner,
  RequestPool,
  validateRequest,
} from '@flashstack/block-device';
import { InputError, type Simulator, type StatsRegistry } from '@flashstack/sim';
import { Assembly } from './assembly.js';
import { DispatchQueue } from './dispatch-queue.js';
import { FlushMachine } from './flush-machine.js';
import type { Held } from './held.js';
import { type BlockLayerOptions, resolveBlockLayerOptions } from './options.js';
import type { BlockLayerProbe, BlockLayerStats } from './probe.js';

const NOTHING: Held[] = [];

/** Steps of a request that wants flushes. */
const Step = { none: 0, before: 1, write: 2, behind: 3 } as const;

/**
 * The host's block layer in front of a device: holds requests back between `plug` and `unplug`, merges what is adjacent and
 * alike, splits what is too long, keeps the device at a depth, sends first what somebody waits for, and makes few flushes
 * of many.
 */
export class BlockLayer implements BlockDevice, IoOwner {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  readonly stats: BlockLayerStats = {
    queued: 0,
    merged: 0,
    splits: 0,
    issued: 0,
    flushesWanted: 0,
    flushesIssued: 0,
    maxWaiting: 0,
  };
  /** Bytes that came in to be written, by `Origin`. */
  readonly writtenByOrigin: Float64Array = new Float64Array(256);
  probe: BlockLayerProbe | null = null;
  private readonly device: BlockDevice;
  private readonly options: Required<BlockLayerOptions>;
  private readonly maxBlocks: number;
  private readonly plugBlocks: number;
  private readonly queue: DispatchQueue;
  private readonly flushes: FlushMachine;
  private readonly assembly: Assembly;
  private readonly pool: RequestPool = new RequestPool(this);
  private readonly plugged: Held[] = [];
  private plugs = 0;
  private inFlight = 0;
  private dispatching = false;
  private sequence = 0;
  /** By handle: requests that came in, their parts under way, the first failure, and the `Step` they are at. */
  private readonly outer: (BlockRequest | null)[] = [];
  private readonly open: number[] = [];
  private readonly status: number[] = [];
  private readonly step: number[] = [];
  /** Pieces of writes that wait for a flush. */
  private readonly prepared: Held[][] = [];
  private readonly freeSlots: number[] = [];
  /** By cookie of a request at the device. */
  private readonly sent: (Held | null)[] = [];
  private readonly freeCookies: number[] = [];

  /** @throws InputError for an unknown option, a value out of range, or a device with zones. */
  constructor(simulator: Simulator, device: BlockDevice, options: BlockLayerOptions = {}) {
    this.options = resolveBlockLayerOptions(options);
    if ((device.zones ?? null) !== null) {
      throw new InputError('ERR_BLOCK_LAYER_ZONES', 'the device has zones; the block layer takes devices without');
    }
    this.device = device;
    this.blockBytes = device.blockBytes;
    this.blockCount = device.blockCount;
    // Without a volatile cache every completed write is durable already; with one, flushes stand in for FUA.
    this.features = { ...device.features, fua: true };
    this.maxBlocks = Math.max(1, Math.floor(this.options.maxRequestBytes / device.blockBytes));
    this.plugBlocks = Math.max(1, Math.ceil(this.options.plugBytes / device.blockBytes));
    this.queue = new DispatchQueue(this.options.scheduler, this.options.starvedBatches);
    this.assembly = new Assembly(device.blockBytes);
    this.flushes = new FlushMachine(simulator, {
      sendFlush: () => this.sendFlush(),
      flushed: (slot, status) => this.flushed(slot, status),
    });
  }

  /** Requests that wait for the device. */
  get waiting(): number {
    return this.queue.size;
  }

  plug(): void {
    this.plugs++;
  }

  unplug(): void {
    if (this.plugs === 0) throw new Error('unplug without plug');
    if (--this.plugs === 0) this.release();
  }

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    const { op, block, count, flags, origin } = request;
    this.stats.queued++;
    if (op === BlockOp.write) this.writtenByOrigin[origin] += count * this.blockBytes;
    if (this.probe !== null) this.probe.queued(op, block, count, flags, origin);
    const slot = this.takeSlot(request);
    if (op === BlockOp.flush || (flags & (BlockFlag.preflush | BlockFlag.fua)) !== 0)
      this.submitSequence(slot, request);
    else if (op === BlockOp.read || op === BlockOp.write) this.submitPieces(slot, request);
    else this.submitWhole(slot, request);
  }

  ioDone(inner: BlockRequest): void {
    const { op, block, count, flags, origin, status, cookie } = inner;
    if (this.probe !== null) this.probe.completed(op, block, count, flags, origin, status);
    const held = this.sent[cookie] as Held | null;
    this.sent[cookie] = null;
    this.freeCookies.push(cookie);
    this.pool.give(inner);
    if (held === null) {
      this.flushes.flushDone(status);
      return;
    }
    this.inFlight--;
    this.complete(held, status);
    this.dispatch();
  }

  /** Starts all counters again. */
  resetStats(): void {
    const { stats } = this;
    for (const name of Object.keys(stats) as (keyof BlockLayerStats)[]) stats[name] = 0;
    stats.maxWaiting = this.waiting;
    this.writtenByOrigin.fill(0);
  }

  /** Registers its numbers as `block.…`. */
  register(registry: StatsRegistry): void {
    registry.layer('block').counters(this.stats);
  }

  /** Reads and writes, cut to what the device takes at once. */
  private submitPieces(slot: number, request: BlockRequest): void {
    // The request may be done, and be another one, when its last piece is sent.
    const { count } = request;
    this.open[slot] = Math.ceil(count / this.maxBlocks);
    for (let offset = 0; offset < count; offset += this.maxBlocks) this.enter(this.cut(request, slot, offset));
  }

  /** The piece of a request that begins with its block `offset`: as much as the device takes at once. */
  private cut(request: BlockRequest, slot: number, offset: number): Held {
    const rest = request.count - offset;
    if (rest <= this.maxBlocks) return this.piece(request, slot, offset, rest);
    this.stats.splits++;
    const { op, block, flags, origin } = request;
    if (this.probe !== null) this.probe.split(op, block + offset, this.maxBlocks, flags, origin);
    return this.piece(request, slot, offset, this.maxBlocks);
  }

  /** Discards and their kind: neither cut nor merged. */
  private submitWhole(slot: number, request: BlockRequest): void {
    this.open[slot] = 1;
    this.enter(this.piece(request, slot, 0, request.count));
  }

  /** Flushes, and writes with a flush before or behind them. */
  private submitSequence(slot: number, request: BlockRequest): void {
    const { op, flags } = request;
    if (op !== BlockOp.flush) this.prepare(slot, request);
    const first = op === BlockOp.flush || (flags & BlockFlag.preflush) !== 0;
    if (first && this.device.features.volatileCache) this.wantFlush(slot, Step.before);
    else if (op === BlockOp.flush) this.finish(slot);
    else this.startWrite(slot);
  }

  /** The pieces of a write, which may have to wait for a flush. */
  private prepare(slot: number, request: BlockRequest): void {
    const { fua, volatileCache } = this.device.features;
    const dropped = BlockFlag.preflush | (fua && volatileCache ? 0 : BlockFlag.fua);
    const pieces: Held[] = [];
    for (let offset = 0; offset < request.count; offset += this.maxBlocks) {
      const held = this.cut(request, slot, offset);
      held.flags &= ~dropped;
      held.sequenced = true;
      pieces.push(held);
    }
    this.prepared[slot] = pieces;
  }

  private wantFlush(slot: number, step: number): void {
    for (const held of this.prepared[slot]) this.assembly.keep(held);
    this.step[slot] = step;
    this.stats.flushesWanted++;
    this.flushes.want(slot);
  }

  /** The write of a flush sequence goes past the plug, since a flush waits for it. */
  private startWrite(slot: number): void {
    const pieces = this.prepared[slot];
    this.prepared[slot] = NOTHING;
    this.step[slot] = Step.write;
    this.open[slot] = pieces.length;
    this.flushes.writeStarted();
    for (const held of pieces) this.queueUp(held);
  }

  private flushed(slot: number, status: number): void {
    if (status !== BlockStatus.ok && this.status[slot] === BlockStatus.ok) this.status[slot] = status;
    const pieces = this.prepared[slot];
    if (pieces.length > 0 && this.status[slot] === BlockStatus.ok) {
      this.startWrite(slot);
      return;
    }
    for (const held of pieces) this.assembly.give(held);
    this.prepared[slot] = NOTHING;
    this.finish(slot);
  }

  private piece(request: BlockRequest, slot: number, offset: number, count: number): Held {
    const held = this.assembly.take();
    held.take(request, slot, offset, count, this.blockBytes);
    held.sequence = this.sequence++;
    return held;
  }

  /** Into the bracket if there is one. */
  private enter(held: Held): void {
    if (this.plugs === 0) {
      this.queueUp(held);
      return;
    }
    const { plugged } = this;
    const last = plugged.length === 0 ? null : plugged[plugged.length - 1];
    if (last !== null && this.join(last, held)) return;
    if (last !== null && (plugged.length >= this.options.plugRequests || last.count >= this.plugBlocks)) this.release();
    this.assembly.keep(held);
    if (this.probe !== null) this.tellHeld(this.probe, held);
    plugged.push(held);
  }

  private tellHeld(probe: BlockLayerProbe, { op, block, count, flags, origin }: Held): void {
    probe.allocated(op, block, count, flags, origin);
    if (this.plugged.length === 0) probe.plugged();
  }

  /** Makes one of two requests if they are adjacent and alike; `held` is the one that survives. */
  private join(held: Held, newer: Held): boolean {
    const front = newer.canGoOn(held, this.maxBlocks, this.options.maxSegments);
    if (!front && !held.canGoOn(newer, this.maxBlocks, this.options.maxSegments)) return false;
    this.stats.merged++;
    if (this.probe !== null) this.tellMerged(this.probe, newer, front);
    this.assembly.join(held, newer, front);
    return true;
  }

  private tellMerged(probe: BlockLayerProbe, { op, block, count, flags, origin }: Held, front: boolean): void {
    probe.merged(op, block, count, flags, origin, front);
  }

  /** What a bracket has held back goes on. */
  private release(): void {
    const { plugged } = this;
    if (this.probe !== null && plugged.length > 0) this.probe.unplugged(plugged.length);
    for (let at = 0; at < plugged.length; at++) this.queueOnly(plugged[at], false);
    plugged.length = 0;
    this.dispatch();
  }

  private queueUp(held: Held): void {
    this.queueOnly(held, true);
    this.dispatch();
  }

  /** `fresh`: it comes from no bracket. */
  private queueOnly(held: Held, fresh: boolean): void {
    const { queue, maxBlocks } = this;
    const { maxSegments } = this.options;
    const before = queue.before(held, maxBlocks, maxSegments);
    if (before !== null && this.join(before, held)) {
      this.joinNext(before);
      return;
    }
    const after = queue.after(held, maxBlocks, maxSegments);
    if (after !== null) {
      queue.remove(after);
      this.join(after, held);
      after.sent = false;
      queue.insert(after);
    } else {
      if (this.probe !== null) this.tellInserted(this.probe, held, fresh);
      queue.insert(held);
      if (this.inFlight >= this.options.queueDepth || this.dispatching) this.assembly.keep(held);
    }
    if (queue.size > this.stats.maxWaiting) this.stats.maxWaiting = queue.size;
  }

  private tellInserted(probe: BlockLayerProbe, { op, block, count, flags, origin }: Held, fresh: boolean): void {
    if (fresh) probe.allocated(op, block, count, flags, origin);
    probe.inserted(op, block, count, flags, origin);
  }

  /** A request that has grown at its end may have met the next one. */
  private joinNext(held: Held): void {
    const after = this.queue.after(held, this.maxBlocks, this.options.maxSegments);
    if (after === null) return;
    this.queue.remove(after);
    this.join(held, after);
  }

  private dispatch(): void {
    // A device may be done inside `submit`: the outermost call sends everything, so that no stack grows.
    if (this.dispatching) return;
    this.dispatching = true;
    try {
      while (this.queue.size > 0 && this.inFlight < this.options.queueDepth) this.send(this.queue.shift());
    } finally {
      this.dispatching = false;
    }
  }

  private send(held: Held): void {
    const inner = this.pool.take();
    inner.op = held.op;
    inner.block = held.block;
    inner.count = held.count;
    inner.flags = held.flags;
    inner.origin = held.origin;
    inner.stream = held.stream;
    inner.flow = held.flow;
    inner.data = this.assembly.bytesOf(held);
    inner.tags = this.assembly.tagsOf(held);
    this.inFlight++;
    this.pass(inner, held);
  }

  private sendFlush(): void {
    const inner = this.pool.take();
    inner.op = BlockOp.flush;
    inner.flags = BlockFlag.sync;
    this.stats.flushesIssued++;
    this.pass(inner, null);
  }

  private pass(inner: BlockRequest, held: Held | null): void {
    const cookie = this.freeCookies.pop() ?? this.sent.length;
    this.sent[cookie] = held;
    inner.cookie = cookie;
    this.stats.issued++;
    if (this.probe !== null) this.probe.issued(inner.op, inner.block, inner.count, inner.flags, inner.origin);
    this.device.submit(inner);
  }

  private complete(held: Held, status: number): void {
    this.assembly.scatter(held, this.outer);
    if (held.segments === 1) this.partDone(held.slot, status);
    else for (let at = 0; at < held.segments; at++) this.partDone(held.parts[3 * at], status);
    this.assembly.give(held);
  }

  private partDone(slot: number, status: number): void {
    if (status !== BlockStatus.ok && this.status[slot] === BlockStatus.ok) this.status[slot] = status;
    if (--this.open[slot] === 0) this.partsDone(slot);
  }

  private partsDone(slot: number): void {
    if (this.step[slot] !== Step.write) {
      this.finish(slot);
      return;
    }
    const request = this.outer[slot] as BlockRequest;
    const { fua, volatileCache } = this.device.features;
    const wantsFlush = volatileCache && !fua && (request.flags & BlockFlag.fua) !== 0;
    if (wantsFlush && this.status[slot] === BlockStatus.ok) this.wantFlush(slot, Step.behind);
    else this.finish(slot);
    this.flushes.writeDone();
  }

  private takeSlot(request: BlockRequest): number {
    const slot = this.freeSlots.pop() ?? this.outer.length;
    this.outer[slot] = request;
    this.open[slot] = 0;
    this.status[slot] = BlockStatus.ok;
    this.step[slot] = Step.none;
    this.prepared[slot] = NOTHING;
    return slot;
  }

  private finish(slot: number): void {
    const request = this.outer[slot] as BlockRequest;
    request.status = this.status[slot];
    this.outer[slot] = null;
    this.freeSlots.push(slot);
    request.owner.ioDone(request);
  }
}

import { type BlockDevice, BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { type EventTarget, SimulationError, type Simulator } from '@flashstack/sim';
import { AddressMap, type AddressPolicy } from './addresses.js';
import { ContentCheck } from './content-check.js';
import { Operation, type OperationSource } from './operation.js';
import { ReplayError, ReplayErrorCode } from './replay-error.js';
import { ReplayStats } from './replay-stats.js';
import { ThinkTime } from './think-time.js';

/**
 * When operations are issued.
 * - `closed`: as soon as fewer than `depth` are in flight; recorded times do not count.
 * - `open`: at their recorded times, multiplied by `timeScale` (default 1; 0.5 replays twice as fast), whatever has
 *   completed. At most `maxInFlight` (default 65,536) are in flight; what arrives beyond them is issued late, which the
 *   result tells. Latency always counts from arrival.
 * - `think`: each as long after the completion it waited for as it was recorded, see `src/think-time.ts`; the times
 *   between are multiplied by `timeScale`. A trace without response times is taken to have completed each request at
 *   once, so that one is in flight at a time.
 */
export type ReplayLoop =
  | { readonly kind: 'closed'; readonly depth: number }
  | { readonly kind: 'open' | 'think'; readonly timeScale?: number; readonly maxInFlight?: number };

/** How a workload is replayed. */
export interface ReplayOptions {
  readonly loop: ReplayLoop;
  /** Passes over the source. Default 1. In an open or think-time loop a pass begins one mean gap after the last arrival. */
  readonly repeat?: number;
  /** What happens to addresses beyond the device. Default `fail`. */
  readonly address?: AddressPolicy;
  /** Seed of the contents written to a device that keeps them. Default 1. */
  readonly seed?: number;
  /** Compare every read with what was written last. Needs a device that keeps contents. Default false. */
  readonly verify?: boolean;
  /** First interval of the time series, ns. Default 1 ms; it doubles whenever a series is full. */
  readonly seriesIntervalNs?: number;
  /** Points of each time series at most, an even number. Default 600. */
  readonly seriesPoints?: number;
}

const DEFAULT_MAX_IN_FLIGHT = 65_536;
const START_SLOTS = 64;
// Simulated time is an integer below 2^53 ns; the last arrivals leave 13 days for their requests to complete.
export const LAST_ARRIVAL_NS: number = 2 ** 53 - 2 ** 50;
// Times live in a typed array: a double in a field of a large object may be boxed on every store.
const BASE = 0;
const ARRIVAL = 1;
const FIRST = 2;
const DUE = 3;
// Positions in `ReplayStats.kinds`.
const READ = 0;
const WRITE = 1;
const FLUSH = 2;
const DISCARD = 3;

/**
 * Drives a block device with a workload: closed or open loop, repeated, with addresses mapped onto the device.
 * Requests are pooled: nothing is allocated per request.
 */
export class Replay implements IoOwner, EventTarget {
  readonly stats: ReplayStats;
  /** The comparison of what is read with what was written, or null. */
  readonly contents: ContentCheck | null;
  private readonly simulator: Simulator;
  private readonly device: BlockDevice;
  private readonly source: OperationSource;
  private readonly addresses: AddressMap;
  private readonly operation = new Operation();
  /** Recorded times count. */
  private readonly timed: boolean;
  private readonly thinks: boolean;
  private think: ThinkTime | null = null;
  private readonly timeScale: number;
  private readonly limit: number;
  private readonly repeat: number;
  private readonly times = new Float64Array(4);
  private readonly requests: BlockRequest[] = [];
  private readonly tails: BlockRequest[] = [];
  // Columns by slot.
  private arrivals = new Float64Array(0);
  private lengths = new Float64Array(0);
  private parts = new Uint8Array(0);
  private kinds = new Uint8Array(0);
  private statuses = new Int32Array(0);
  private free = new Int32Array(0);
  private freeCount = 0;
  private inFlight = 0;
  private number = 0;
  private passOperations = 0;
  private loaded = false;
  private ended = false;
  private started = false;
  private feeding = false;
  private timerArmed = false;
  private settled = 0;
  private quota = 0;

  /** @throws ReplayError if an option is impossible or the workload does not fit the device. */
  constructor(simulator: Simulator, device: BlockDevice, source: OperationSource, options: ReplayOptions) {
    const { loop } = options;
    this.simulator = simulator;
    this.device = device;
    this.source = source;
    this.timed = loop.kind !== 'closed';
    this.thinks = loop.kind === 'think';
    this.timeScale = loop.kind === 'closed' ? 1 : positive('timeScale', loop.timeScale ?? 1);
    this.limit =
      loop.kind === 'closed'
        ? count('depth', loop.depth)
        : count('maxInFlight', loop.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT);
    this.repeat = count('repeat', options.repeat ?? 1);
    this.addresses = new AddressMap(options.address ?? 'fail', source, device);
    this.contents = ContentCheck.for(device, options.seed ?? 1, options.verify ?? false);
    this.stats = new ReplayStats(options.seriesIntervalNs ?? 1_000_000, options.seriesPoints ?? 600);
    this.grow(Math.min(this.limit, START_SLOTS));
  }

  /** True when everything has been issued and completed. */
  get finished(): boolean {
    return this.ended && this.inFlight === 0;
  }

  /** Requests to be issued in all passes, or −1 if the source does not know. */
  get total(): number {
    return this.source.count < 0 ? -1 : this.source.count * this.repeat;
  }

  /**
   * Runs the simulation until `requests` more have completed (default: all); true when the replay has finished. How a
   * replay is cut into such steps does not change its result. Other work of the simulator may be pending afterwards.
   * @throws SimulationError `ERR_SIM_STALLED` if nothing is left to happen while requests are in flight.
   */
  advance(requests: number = Number.POSITIVE_INFINITY): boolean {
    if (!this.started) this.start();
    this.quota = this.settled + requests;
    this.feed(true);
    if (!this.finished && this.settled < this.quota) {
      this.simulator.drain();
      if (!this.finished && this.settled < this.quota) this.stalled();
    }
    return this.finished;
  }

  /** Issues nothing more; what is in flight still completes. */
  stop(): void {
    this.ended = true;
  }

  /** Takes a completed request back; called by the device. */
  ioDone(request: BlockRequest): void {
    const slot = request.cookie;
    if (this.contents !== null) this.contents.done(request);
    if (request.status !== 0) this.statuses[slot] = request.status;
    if (request !== this.requests[slot]) this.tails.push(request);
    if (--this.parts[slot] > 0) return;
    this.settle(slot);
    if (this.settled >= this.quota || this.finished) this.simulator.stop();
    this.feed(false);
  }

  /** The next operation of an open or think-time loop is due; called by the simulator. */
  fire(): void {
    this.timerArmed = false;
    this.feed(false);
  }

  private start(): void {
    this.started = true;
    const now = this.simulator.now;
    this.stats.startNs = now;
    this.stats.sinceNs = now;
    this.stats.endNs = now;
    this.times[BASE] = now;
    this.times[ARRIVAL] = now;
    if (this.thinks) this.think = new ThinkTime(now);
    this.source.restart();
  }

  /**
   * Issues what may be issued now. A device that completes inside `submit` comes back here through `ioDone`: the outer
   * call goes on then. Only a call from outside the simulation stops at the quota, at a point where nothing is lost.
   */
  private feed(outside: boolean): void {
    if (this.feeding) return;
    this.feeding = true;
    while (!this.ended && this.inFlight < this.limit) {
      if (outside && this.settled >= this.quota) break;
      if (!this.loaded && !this.load()) break;
      if (this.timed && !this.due()) break;
      this.issue();
    }
    this.feeding = false;
  }

  /** True if the loaded operation may be issued; otherwise a timer or a completion will ask again. */
  private due(): boolean {
    const times = this.times;
    if (this.think !== null) {
      times[DUE] = this.think.dueNs();
      if (times[DUE] < 0) return false;
      if (times[DUE] > LAST_ARRIVAL_NS) this.tooLate();
    }
    if (times[DUE] <= this.simulator.now) return true;
    if (!this.timerArmed) {
      this.timerArmed = true;
      this.simulator.at(times[DUE], this, 0);
    }
    return false;
  }

  /** Takes the next operation from the source, over the ends of passes; false when there is none. */
  private load(): boolean {
    while (!this.source.next(this.operation)) {
      this.stats.passes++;
      if (this.passOperations === 0) {
        throw new ReplayError(ReplayErrorCode.empty, 'the workload holds no operation');
      }
      if (this.stats.passes === this.repeat) {
        this.ended = true;
        return false;
      }
      this.nextPass();
    }
    this.loaded = true;
    this.passOperations++;
    this.number++;
    if (this.timed) this.arrive();
    return true;
  }

  private nextPass(): void {
    const times = this.times;
    const gaps = this.passOperations - 1;
    const meanGap = gaps > 0 ? Math.round((times[ARRIVAL] - times[FIRST]) / gaps) : 0;
    times[BASE] = times[ARRIVAL] + meanGap;
    this.passOperations = 0;
    this.source.restart();
  }

  private arrive(): void {
    const times = this.times;
    const due = times[BASE] + Math.round(this.operation.timeNs * this.timeScale);
    if (due > LAST_ARRIVAL_NS) this.tooLate();
    if (due < times[ARRIVAL]) this.stats.outOfOrder++;
    else times[ARRIVAL] = due;
    if (this.passOperations === 1) times[FIRST] = times[ARRIVAL];
    times[DUE] = times[ARRIVAL];
    if (this.think !== null) this.think.next(times[ARRIVAL]);
  }

  private issue(): void {
    const { operation, addresses, stats } = this;
    this.loaded = false;
    if (this.freeCount === 0) this.grow(this.requests.length * 2);
    const slot = this.free[--this.freeCount];
    const request = this.requests[slot];
    const kind = kindOf(operation.op);
    stats.kinds[kind].issued++;
    this.kinds[slot] = kind;
    this.statuses[slot] = 0;
    this.parts[slot] = 1;
    if (++this.inFlight > stats.maxInFlight) stats.maxInFlight = this.inFlight;
    this.noteArrival(slot);
    if (kind === FLUSH) {
      this.lengths[slot] = 0;
      this.submit(request, 0, 0);
      return;
    }
    addresses.place(operation, this.number);
    stats.widened = addresses.widened;
    const block = addresses.block;
    const blocks = addresses.count;
    const tail = addresses.tail;
    this.lengths[slot] = (blocks + tail) * this.device.blockBytes;
    if (tail > 0) {
      // Across the end of the device: the rest goes to its start, as a request of its own that counts with the first.
      this.parts[slot] = 2;
      const second = this.tails.pop() ?? this.newRequest();
      second.cookie = slot;
      this.submit(request, block, blocks);
      this.submit(second, 0, tail);
    } else {
      this.submit(request, block, blocks);
    }
  }

  private noteArrival(slot: number): void {
    const now = this.simulator.now;
    if (!this.timed) {
      this.arrivals[slot] = now;
      return;
    }
    const arrival = this.times[DUE];
    this.arrivals[slot] = arrival;
    if (this.think !== null) {
      const responseNs = Math.round(this.operation.responseNs * this.timeScale);
      this.think.issue(slot, arrival, this.times[ARRIVAL] + responseNs);
    }
    const lateNs = now - arrival;
    if (lateNs > 0) {
      this.stats.late++;
      this.stats.lateNs += lateNs;
      if (lateNs > this.stats.maxLateNs) this.stats.maxLateNs = lateNs;
    }
  }

  private submit(request: BlockRequest, block: number, blocks: number): void {
    const operation = this.operation;
    request.op = operation.op;
    request.block = block;
    request.count = blocks;
    request.flags = operation.flags;
    request.origin = operation.origin;
    request.stream = operation.stream;
    request.flow = operation.flow;
    if (this.contents !== null) this.contents.prepare(request);
    this.device.submit(request);
  }

  private settle(slot: number): void {
    const stats = this.stats.kinds[this.kinds[slot]];
    const now = this.simulator.now;
    this.inFlight--;
    this.settled++;
    this.free[this.freeCount++] = slot;
    this.stats.endNs = now;
    if (this.think !== null) this.think.done(slot, now);
    if (this.statuses[slot] !== 0) {
      stats.failed++;
      return;
    }
    const bytes = this.lengths[slot];
    const latencyNs = now - this.arrivals[slot];
    stats.succeeded(bytes, latencyNs);
    stats.addToSeries(now - this.stats.startNs, bytes, latencyNs);
  }

  private grow(slots: number): void {
    const from = this.requests.length;
    this.arrivals = resized(this.arrivals, new Float64Array(slots));
    this.lengths = resized(this.lengths, new Float64Array(slots));
    this.parts = resized(this.parts, new Uint8Array(slots));
    this.kinds = resized(this.kinds, new Uint8Array(slots));
    this.statuses = resized(this.statuses, new Int32Array(slots));
    this.free = new Int32Array(slots);
    for (let slot = from; slot < slots; slot++) {
      const request = this.newRequest();
      request.cookie = slot;
      this.requests.push(request);
    }
    // The lowest free slot is taken first, so that few slots stay in use and in the cache.
    for (let slot = slots - 1; slot >= from; slot--) this.free[this.freeCount++] = slot;
  }

  private newRequest(): BlockRequest {
    return new BlockRequest(this);
  }

  private tooLate(): never {
    throw new ReplayError(
      ReplayErrorCode.option,
      `request ${this.number} arrives after more than 91 days, longer than simulated time lasts. Choose a smaller time scale or fewer passes`,
      'timeScale',
    );
  }

  private stalled(): never {
    throw new SimulationError(
      'ERR_SIM_STALLED',
      `the replay is stalled at ${this.simulator.now} ns: ${this.inFlight} requests are in flight and nothing is left to happen`,
    );
  }
}

function kindOf(op: number): number {
  if (op === BlockOp.read) return READ;
  if (op === BlockOp.write) return WRITE;
  return op === BlockOp.flush ? FLUSH : DISCARD;
}

function count(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new ReplayError(ReplayErrorCode.option, `${name} must be a whole number of at least 1, found ${value}`, name);
}

function positive(name: string, value: number): number {
  if (value > 0 && Number.isFinite(value)) return value;
  throw new ReplayError(ReplayErrorCode.option, `${name} must be a number greater than 0, found ${value}`, name);
}

function resized<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

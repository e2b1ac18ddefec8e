import { type EventTarget, InputError, type RandomStream, type Simulator } from '@flashstack/sim';
import { type BlockDevice, BlockOp, type BlockRequest, BlockStatus } from './contract.js';
import { WrapperDevice } from './wrapper-device.js';
import { type ZoneCapability, ZoneOp } from './zones.js';

/** Which requests a fault strikes, and what it does. Absent conditions hold for every request. */
export interface FaultRule {
  /** Operations it concerns (`BlockOp`, `ZoneOp`). */
  readonly ops?: readonly number[];
  /** It concerns requests that touch this block or one of the following; an append counts as touching its whole zone. */
  readonly firstBlock?: number;
  /** Number of blocks from `firstBlock`, default 1 (without `firstBlock`: all). */
  readonly blockCount?: number;
  /** Spares the first so many requests it concerns. Default 0. */
  readonly skip?: number;
  /** Strikes so many times at most. Default without limit. */
  readonly times?: number;
  /** Strikes with this probability. Default 1. */
  readonly probability?: number;
  /** Status of a struck request. Default `ioError`; `ok` for a rule that only delays. */
  readonly status?: number;
  /** True: the request is carried out all the same, and only its answer is false. Default false. */
  readonly carriedOut?: boolean;
  /** Extra simulated time before the answer, ns. Default 0. */
  readonly latencyNs?: number;
}

/** What a fault-injecting device needs besides its rules. */
export interface FaultDeviceOptions {
  /** The first rule that strikes a request decides. */
  readonly rules: readonly FaultRule[];
  /** Needed for `latencyNs`. */
  readonly simulator?: Simulator;
  /** Needed for `probability`. */
  readonly random?: RandomStream;
  /** Simulated time that every request takes besides its rule's, ns. Default 0. */
  readonly latencyNs?: number;
}

/** Passes requests on with extra latency and fails those that its rules strike. */
export class FaultDevice extends WrapperDevice implements EventTarget {
  /** How often each rule has struck. */
  readonly strikes: Int32Array;
  private readonly rules: readonly FaultRule[];
  private readonly concerned: Int32Array;
  private readonly simulator: Simulator | null;
  private readonly random: RandomStream | null;
  private readonly latencyNs: number;
  /** Per request number: the rule that struck it, or −1. */
  private readonly ruleOf: number[] = [];
  /** Requests that are done below and wait for their time. */
  private readonly delayed: (BlockRequest | null)[] = [];
  private readonly freeDelayed: number[] = [];

  /** @throws InputError `ERR_FAULT_RULE` for a rule that makes no sense or lacks its simulator or random stream. */
  constructor(device: BlockDevice, options: FaultDeviceOptions) {
    super(device, device.blockCount);
    this.rules = options.rules;
    this.simulator = options.simulator ?? null;
    this.random = options.random ?? null;
    this.latencyNs = options.latencyNs ?? 0;
    this.strikes = new Int32Array(this.rules.length);
    this.concerned = new Int32Array(this.rules.length);
    checkLatency('device', this.latencyNs, this.simulator);
    this.rules.forEach((rule, index) => {
      this.check(rule, `rule ${index}`);
    });
  }

  override get inFlight(): number {
    return super.inFlight + this.delayed.length - this.freeDelayed.length;
  }

  /** Kernel only: the extra time of a request is over. */
  fire(slot: number): void {
    const request = this.delayed[slot] as BlockRequest;
    this.delayed[slot] = null;
    this.freeDelayed.push(slot);
    request.owner.ioDone(request);
  }

  protected accept(request: BlockRequest): void {
    const index = this.strike(request);
    const cookie = this.hold(request);
    this.ruleOf[cookie] = index;
    const rule = index < 0 ? null : this.rules[index];
    if (rule === null || rule.carriedOut === true || statusOf(rule) === BlockStatus.ok) {
      this.forward(request, cookie, 0);
      return;
    }
    this.release(cookie);
    this.completed(request, cookie);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const index = this.ruleOf[cookie];
    let latency = this.latencyNs;
    if (index >= 0) {
      const rule = this.rules[index];
      const status = statusOf(rule);
      if (status !== BlockStatus.ok) request.status = status;
      latency += rule.latencyNs ?? 0;
    }
    if (latency === 0) request.owner.ioDone(request);
    else this.delay(request, latency);
  }

  private delay(request: BlockRequest, latencyNs: number): void {
    const slot = this.freeDelayed.pop() ?? this.delayed.length;
    this.delayed[slot] = request;
    (this.simulator as Simulator).after(latencyNs, this, slot);
  }

  /** Index of the first rule that strikes, or −1. */
  private strike(request: BlockRequest): number {
    for (let index = 0; index < this.rules.length; index++) {
      const rule = this.rules[index];
      if (!this.concerns(rule, request) || this.strikes[index] >= (rule.times ?? 0x7fff_ffff)) continue;
      if (this.concerned[index]++ < (rule.skip ?? 0)) continue;
      if (rule.probability !== undefined && (this.random as RandomStream).nextFloat() >= rule.probability) continue;
      this.strikes[index]++;
      return index;
    }
    return -1;
  }

  private concerns(rule: FaultRule, request: BlockRequest): boolean {
    if (rule.ops !== undefined && !rule.ops.includes(request.op)) return false;
    if (rule.firstBlock === undefined) return true;
    if (request.op === BlockOp.flush) return false;
    // Where an append goes is not known before it is carried out.
    const count = request.op === ZoneOp.append ? (this.zones as ZoneCapability).zoneBlocks : request.count;
    const end = rule.firstBlock + (rule.blockCount ?? 1);
    return request.block < end && request.block + count > rule.firstBlock;
  }

  private check(rule: FaultRule, key: string): void {
    const wrong = (what: string): InputError => new InputError('ERR_FAULT_RULE', `Fault ${key}: ${what}.`, key);
    const { probability, skip = 0, times = 0, firstBlock = 0, blockCount = 1 } = rule;
    if (probability !== undefined && !(probability >= 0 && probability <= 1)) {
      throw wrong(`probability is ${probability}, expected 0 to 1`);
    }
    if (probability !== undefined && this.random === null) throw wrong('probability needs a random stream');
    for (const [name, value] of Object.entries({ skip, times, firstBlock, blockCount })) {
      if (!Number.isSafeInteger(value) || value < 0) throw wrong(`${name} is ${value}, expected an integer ≥ 0`);
    }
    if (firstBlock + blockCount > this.blockCount) {
      throw wrong(`blocks ${firstBlock}–${firstBlock + blockCount - 1} are beyond the device of ${this.blockCount}`);
    }
    checkLatency(key, rule.latencyNs ?? 0, this.simulator);
  }
}

function checkLatency(key: string, latencyNs: number, simulator: Simulator | null): void {
  if (!Number.isSafeInteger(latencyNs) || latencyNs < 0) {
    throw new InputError('ERR_FAULT_RULE', `Fault ${key}: latencyNs is ${latencyNs}, expected an integer ≥ 0.`, key);
  }
  if (latencyNs > 0 && simulator === null) {
    throw new InputError('ERR_FAULT_RULE', `Fault ${key}: latencyNs needs a simulator.`, key);
  }
}

function statusOf(rule: FaultRule): number {
  return rule.status ?? (rule.latencyNs === undefined ? BlockStatus.ioError : BlockStatus.ok);
}

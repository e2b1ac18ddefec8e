import { BlockFlag, BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import type { RandomStream, Simulator } from '@flashstack/sim';
import type { Ssd } from '../src/index.js';

/** One value that a block has had: when it was submitted and completed, in steps of the driver's own counter. */
interface Version {
  readonly value: number;
  readonly submitted: number;
  completed: number;
  /** It must survive a power cut from now on. */
  durable: boolean;
}

/** What a request in flight was. */
interface Flight {
  readonly submitted: number;
  readonly versions: Version[];
  readonly flush: boolean;
  readonly fua: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;

/** How often each kind of request comes. */
export interface TrafficMix {
  readonly read: number;
  readonly write: number;
  readonly flush: number;
  readonly discard: number;
  readonly zeroes: number;
  readonly fua: number;
  readonly preflush: number;
}

const everything: TrafficMix = {
  read: 0.3,
  write: 0.5,
  flush: 0.05,
  discard: 0.08,
  zeroes: 0.07,
  fua: 0.1,
  preflush: 0.05,
};

/**
 * Sends random requests, several in flight, and checks every read against all the values that the contract allows. Kept
 * naive: per block a list of versions in order of submission.
 */
export class Traffic implements IoOwner {
  failedRequests = 0;
  reads = 0;
  private readonly simulator: Simulator;
  private readonly ssd: Ssd;
  private readonly random: RandomStream;
  private readonly versions: Version[][];
  private readonly flights: Map<BlockRequest, Flight> = new Map();
  private readonly slotBlocks: number;
  private clock = 0;
  private lastValue = 0;
  private left = 0;
  private mix: TrafficMix = everything;
  private readonly tolerated: readonly number[];

  constructor(simulator: Simulator, ssd: Ssd, random: RandomStream, toleratedStatuses: readonly number[] = []) {
    this.simulator = simulator;
    this.ssd = ssd;
    this.random = random;
    this.tolerated = toleratedStatuses;
    this.slotBlocks = ssd.config.nand.geometry.slotBytes / ssd.blockBytes;
    this.versions = Array.from({ length: ssd.blockCount }, () => [
      { value: 0, submitted: 0, completed: 0, durable: true },
    ]);
  }

  /** Starts `requests` requests, at most `depth` in flight. */
  start(requests: number, depth: number, mix: TrafficMix = everything): void {
    this.mix = mix;
    this.left = requests;
    for (let i = 0; i < depth; i++) this.send();
  }

  /** Runs to the end of what was started. */
  finish(): void {
    this.simulator.drain();
    this.ssd.assertDrained();
    if (this.flights.size > 0) throw new Error(`${this.flights.size} requests were never given back`);
  }

  /** The power fails: what is in flight is gone; any version that nothing durable supersedes may be found afterwards. */
  cut(): void {
    if (this.ssd.config.powerLossProtection) {
      for (const list of this.versions) for (const version of list) version.durable ||= version.completed < NEVER;
    }
    this.left = 0;
    this.flights.clear();
    this.ssd.powerCut();
  }

  /** After a power cut: reads every block, checks that it may hold what it holds, and goes on from there. */
  verifyAfterCut(): void {
    const found = this.readAll();
    for (const [block, list] of this.versions.entries()) {
      let last = list.length - 1;
      while (last > 0 && !list[last].durable) last--;
      const allowed = list.slice(last);
      const version = allowed.findLast((candidate) => candidate.value === found[block]);
      if (version === undefined) this.wrong(block, found[block], allowed, 'after a power cut');
      this.versions[block] = [{ value: found[block], submitted: this.clock, completed: this.clock, durable: true }];
    }
  }

  /** With nothing in flight: every block holds the version submitted last. */
  verifyAll(): void {
    const found = this.readAll();
    for (const [block, list] of this.versions.entries()) {
      if (found[block] !== list[list.length - 1].value) this.wrong(block, found[block], list.slice(-1), 'at the end');
    }
  }

  ioDone(request: BlockRequest): void {
    const flight = this.flights.get(request);
    if (flight === undefined) throw new Error('a request was given back twice, or after a power cut');
    this.flights.delete(request);
    this.clock++;
    if (request.status !== 0) {
      if (!this.tolerated.includes(request.status)) throw new Error(`request failed with status ${request.status}`);
      this.failedRequests++;
    }
    for (const version of flight.versions) {
      version.completed = this.clock;
      if (flight.fua && request.status === 0) version.durable = true;
    }
    if (request.status === 0) {
      if (flight.flush) this.flushed(flight.submitted);
      if (request.op === BlockOp.read) this.checkRead(request, flight);
    }
    this.send();
  }

  private send(): void {
    if (this.left-- <= 0) return;
    const { random, mix, ssd } = this;
    const request = new BlockRequest(this);
    this.clock++;
    const draw = random.nextFloat() * (mix.read + mix.write + mix.flush + mix.discard + mix.zeroes);
    request.op = BlockOp.flush;
    if (draw >= mix.flush) request.op = BlockOp.read;
    if (draw >= mix.flush + mix.read) request.op = BlockOp.write;
    if (draw >= mix.flush + mix.read + mix.write) request.op = BlockOp.discard;
    if (draw >= mix.flush + mix.read + mix.write + mix.discard) request.op = BlockOp.writeZeroes;
    if (request.op !== BlockOp.flush) this.place(request);
    const versions: Version[] = [];
    let flush = request.op === BlockOp.flush;
    if (request.op === BlockOp.read) request.data = new Uint8Array(request.count * ssd.blockBytes).fill(0xee);
    if (request.op === BlockOp.write) {
      this.fill(request, versions);
      if (random.nextFloat() < mix.fua) request.flags |= BlockFlag.fua;
      if (random.nextFloat() < mix.preflush) request.flags |= BlockFlag.preflush;
      flush = (request.flags & BlockFlag.preflush) !== 0;
    }
    if (request.op === BlockOp.writeZeroes || request.op === BlockOp.discard) this.clear(request, versions);
    const fua = (request.flags & BlockFlag.fua) !== 0;
    this.flights.set(request, { submitted: this.clock, versions, flush, fua });
    ssd.submit(request);
  }

  private place(request: BlockRequest): void {
    const { random, ssd } = this;
    const most = random.nextFloat() < 0.2 ? 64 : 2 * this.slotBlocks;
    request.count = Math.min(1 + random.below(most), ssd.blockCount);
    // Half of the requests fall on whole slots, and most on a small hot area, so that they meet.
    const area = random.nextFloat() < 0.7 ? Math.ceil(ssd.blockCount / 8) : ssd.blockCount;
    request.block = random.below(area);
    if (random.nextFloat() < 0.5) {
      request.block -= request.block % this.slotBlocks;
      request.count = Math.ceil(request.count / this.slotBlocks) * this.slotBlocks;
    }
    request.block = Math.min(request.block, ssd.blockCount - request.count);
    request.stream = random.below(3);
    request.flow = random.below(4);
    request.origin = random.below(8);
  }

  private fill(request: BlockRequest, versions: Version[]): void {
    const { ssd, random } = this;
    const bytes = random.nextFloat() < 0.4;
    const values = Array.from({ length: request.count }, () => this.nextValue(bytes));
    if (bytes) {
      request.data = new Uint8Array(request.count * ssd.blockBytes);
      for (const [at, value] of values.entries())
        request.data.set(contentsOf(value, ssd.blockBytes), at * ssd.blockBytes);
    } else {
      request.tags = Uint32Array.from(values);
    }
    for (const [at, value] of values.entries()) this.supersede(request.block + at, value, versions);
  }

  /** Zeroes everywhere; a discard reaches whole slots only. */
  private clear(request: BlockRequest, versions: Version[]): void {
    const end = request.block + request.count;
    const discard = request.op === BlockOp.discard;
    const first = discard ? Math.ceil(request.block / this.slotBlocks) * this.slotBlocks : request.block;
    const last = discard ? Math.floor(end / this.slotBlocks) * this.slotBlocks : end;
    for (let block = first; block < last; block++) this.supersede(block, 0, versions);
  }

  private supersede(block: number, value: number, versions: Version[]): void {
    const version = { value, submitted: this.clock, completed: NEVER, durable: false };
    this.versions[block].push(version);
    versions.push(version);
  }

  /** Odd values are written as bytes that no tag stands for, even ones as tags. */
  private nextValue(bytes: boolean): number {
    this.lastValue += 2;
    return this.lastValue + (bytes ? 1 : 0);
  }

  private flushed(submitted: number): void {
    for (const list of this.versions)
      for (const version of list) if (version.completed < submitted) version.durable = true;
  }

  private checkRead(request: BlockRequest, flight: Flight): void {
    this.reads++;
    const data = request.data as Uint8Array;
    for (let at = 0; at < request.count; at++) {
      const block = request.block + at;
      const list = this.versions[block];
      // Versions that a write done before the read was submitted has replaced can no longer be seen.
      let oldest = list.length - 1;
      while (oldest > 0 && !(list[oldest].completed < flight.submitted)) oldest--;
      const value = valueIn(data.subarray(at * this.ssd.blockBytes, (at + 1) * this.ssd.blockBytes));
      const allowed = list.slice(oldest);
      if (!allowed.some((version) => version.value === value)) this.wrong(block, value, allowed, 'in a read');
    }
  }

  private readAll(): number[] {
    const { ssd, simulator } = this;
    const found: number[] = [];
    const chunk = 256;
    for (let block = 0; block < ssd.blockCount; block += chunk) {
      const request = new BlockRequest({ ioDone: () => undefined });
      request.op = BlockOp.read;
      request.block = block;
      request.count = Math.min(chunk, ssd.blockCount - block);
      request.data = new Uint8Array(request.count * ssd.blockBytes);
      ssd.submit(request);
      simulator.drain();
      if (request.status !== 0) throw new Error(`reading block ${block} failed with status ${request.status}`);
      for (let at = 0; at < request.count; at++) {
        found.push(valueIn(request.data.subarray(at * ssd.blockBytes, (at + 1) * ssd.blockBytes)));
      }
    }
    return found;
  }

  private wrong(block: number, found: number, allowed: readonly Version[], when: string): never {
    const list = allowed.map((version) => `${version.value}${version.durable ? ' (durable)' : ''}`).join(', ');
    throw new Error(`block ${block} holds ${found} ${when}; allowed: ${list}`);
  }
}

/** Bytes of a value: tags as the contract defines them, odd values with a last word that differs. */
function contentsOf(value: number, bytes: number): Uint8Array {
  const words = new Uint32Array(bytes / 4).fill(value);
  if (value % 2 === 1) words[words.length - 1] = value ^ 0xffff;
  return new Uint8Array(words.buffer);
}

/** The value that these bytes are, or −1 if they are none: `contentsOf` backwards, in words because it is called often. */
function valueIn(block: Uint8Array): number {
  const words = new Uint32Array(block.buffer, block.byteOffset, block.length / 4);
  const value = words[0];
  const last = words.length - 1;
  for (let at = 1; at < last; at++) if (words[at] !== value) return -1;
  return words[last] === (value % 2 === 1 ? (value ^ 0xffff) >>> 0 : value) ? value : -1;
}

import type { BlockDevice, BlockFeatures, BlockRequest } from '@flashstack/block-device';
import type { EventTarget, Simulator } from '@flashstack/sim';

/** One request as the device saw it. */
export interface Seen {
  op: number;
  block: number;
  count: number;
  flow: number;
  atNs: number;
}

const features: BlockFeatures = {
  fua: true,
  volatileCache: false,
  discard: true,
  atomicBlocks: 1,
  keeps: 'nothing',
};

/** Completes every request inside `submit`. */
export class InstantDevice implements BlockDevice {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures = features;
  readonly seen: Seen[] = [];
  private readonly simulator: Simulator;
  private readonly fails: (request: BlockRequest) => boolean;

  constructor(simulator: Simulator, blockCount: number, blockBytes = 512, fails = (_: BlockRequest): boolean => false) {
    this.simulator = simulator;
    this.blockCount = blockCount;
    this.blockBytes = blockBytes;
    this.fails = fails;
  }

  submit(request: BlockRequest): void {
    const { op, block, count, flow } = request;
    this.seen.push({ op, block, count, flow, atNs: this.simulator.now });
    request.status = this.fails(request) ? 1 : 0;
    request.owner.ioDone(request);
  }
}

/** A queue with several servers: the service time is a function of the request; first come, first served. */
export class ServerDevice implements BlockDevice, EventTarget {
  readonly blockBytes = 512;
  readonly blockCount: number;
  readonly features: BlockFeatures = features;
  readonly seen: Seen[] = [];
  private readonly simulator: Simulator;
  private readonly serviceNs: (block: number) => number;
  private readonly busyUntil: number[];
  private readonly pending = new Map<number, BlockRequest>();
  private next = 0;

  constructor(simulator: Simulator, blockCount: number, servers: number, serviceNs: (block: number) => number) {
    this.simulator = simulator;
    this.blockCount = blockCount;
    this.serviceNs = serviceNs;
    this.busyUntil = new Array<number>(servers).fill(0);
  }

  submit(request: BlockRequest): void {
    const { op, block, count, flow } = request;
    const now = this.simulator.now;
    this.seen.push({ op, block, count, flow, atNs: now });
    const server = this.busyUntil.indexOf(Math.min(...this.busyUntil));
    const done = Math.max(now, this.busyUntil[server]) + this.serviceNs(block);
    this.busyUntil[server] = done;
    this.pending.set(this.next, request);
    this.simulator.at(done, this, this.next++);
  }

  fire(id: number): void {
    const request = this.pending.get(id) as BlockRequest;
    this.pending.delete(id);
    request.status = 0;
    request.owner.ioDone(request);
  }
}

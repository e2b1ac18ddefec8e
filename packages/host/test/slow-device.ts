import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  type IoOwner,
  MemoryDevice,
} from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import { BlockLayer, type BlockLayerOptions } from '../src/index.js';

/** All that a device can do, and a volatile cache. */
export const cached: BlockFeatures = {
  fua: true,
  volatileCache: true,
  discard: true,
  atomicBlocks: 1,
  keeps: 'contents',
};

/** Takes requests and is done with them when it is told to. */
export class SlowDevice implements BlockDevice {
  readonly blockBytes = 4096;
  readonly blockCount = 1024;
  readonly features: BlockFeatures;
  readonly memory: MemoryDevice;
  readonly waiting: BlockRequest[] = [];
  readonly seen: string[] = [];

  constructor(features: BlockFeatures = cached) {
    this.features = features;
    this.memory = new MemoryDevice({ blockCount: 1024, features });
  }

  submit(request: BlockRequest): void {
    const op = ['R', 'W', 'F', 'D', 'Z'][request.op];
    const fua = (request.flags & BlockFlag.fua) !== 0 ? 'f' : '';
    const preflush = (request.flags & BlockFlag.preflush) !== 0 ? 'p' : '';
    this.seen.push(`${preflush}${op}${fua}${request.block}+${request.count}`);
    // The contents of a write are the device's from here on; what a read brings comes at the end.
    if (request.op === BlockOp.write) {
      request.data = request.data?.slice() ?? null;
      request.tags = request.tags?.slice() ?? null;
    }
    this.waiting.push(request);
  }

  /** Is done with the request at this place in the order of arrival. */
  finish(at = 0, status: number = BlockStatus.ok): void {
    const [request] = this.waiting.splice(at, 1);
    if (status === BlockStatus.ok) {
      const owner: IoOwner = { ioDone: (copy) => (request.status = copy.status) };
      const copy = Object.assign(new BlockRequest(owner), request, { owner });
      this.memory.submit(copy);
    } else {
      request.status = status;
    }
    request.owner.ioDone(request);
  }

  finishAll(): void {
    while (this.waiting.length > 0) this.finish();
  }
}

/** Sends requests, and keeps those that are done in their order. */
export class Submitter implements IoOwner {
  readonly done: BlockRequest[] = [];
  readonly layer: BlockLayer;

  constructor(layer: BlockLayer) {
    this.layer = layer;
  }

  ioDone(request: BlockRequest): void {
    this.done.push(request);
  }

  send(op: number, block: number, count: number, more: Partial<BlockRequest> = {}): BlockRequest {
    const request = Object.assign(new BlockRequest(this), { op, block, count }, more);
    this.layer.submit(request);
    return request;
  }
}

/** A block layer, what is around it, and who asks. */
export interface Bed {
  readonly simulator: Simulator;
  readonly device: SlowDevice;
  readonly layer: BlockLayer;
  readonly io: Submitter;
}

/** A block layer before a slow device. */
export function build(options: BlockLayerOptions = {}, features: BlockFeatures = cached): Bed {
  const simulator = new Simulator();
  const device = new SlowDevice(features);
  const layer = new BlockLayer(simulator, device, options);
  return { simulator, device, layer, io: new Submitter(layer) };
}

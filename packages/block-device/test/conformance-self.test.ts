import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { describe, expect, it } from 'vitest';
import { blockDeviceConformance } from '../src/conformance/index.js';
import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  expandTag,
  MemoryDevice,
  tagOfBytes,
  validateRequest,
} from '../src/index.js';

const all: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'contents' };

/** Names of the tests of the suite that fail. */
function failures(factory: () => { device: BlockDevice; simulator: Simulator }, capabilities = all): string[] {
  const failed: string[] = [];
  const test = (name: string, body: () => void): void => {
    try {
      body();
    } catch {
      failed.push(name);
    }
  };
  blockDeviceConformance({ test, factory, capabilities });
  return failed;
}

/** The least device that keeps the contract, written without anything of the package's devices; answers later. */
class MinimalDevice implements BlockDevice {
  readonly blockBytes = 512;
  readonly blockCount = 64;
  readonly features = all;
  readonly bytes: Uint8Array = new Uint8Array(512 * 64);
  readonly simulator: Simulator;
  private readonly waiting: (BlockRequest | null)[] = [];
  private readonly random: RandomStream = new RandomSource(3).stream('latency');

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    request.status = this.perform(request);
    this.waiting.push(request);
    this.simulator.after(this.random.below(1000), this, this.waiting.length - 1);
  }

  fire(at: number): void {
    const request = this.waiting[at] as BlockRequest;
    this.waiting[at] = null;
    request.owner.ioDone(request);
  }

  protected perform(request: BlockRequest): number {
    let status: number = BlockStatus.ok;
    for (let at = 0; at < request.count; at++) {
      const offset = (request.block + at) * 512;
      const here = this.bytes.subarray(offset, offset + 512);
      if (request.op === BlockOp.read) {
        request.data?.set(here, at * 512);
        if (request.tags === null) continue;
        const tag = tagOfBytes(here, 0, 512);
        if (tag < 0) status = BlockStatus.notTagged;
        request.tags[at] = tag;
      } else if (request.op === BlockOp.write && request.data !== null) {
        here.set(request.data.subarray(at * 512, (at + 1) * 512));
      } else {
        expandTag(request.tags?.[at] ?? 0, here, 0, 512);
      }
    }
    return status;
  }
}

/** What may be wrong with a device: each changes one thing of a memory device that is right otherwise. */
type Defect = (inner: MemoryDevice, request: BlockRequest, simulator: Simulator) => void;
const defects: Record<string, Defect> = {
  'never completes a read': (inner, request) => {
    if (request.op !== BlockOp.read) inner.submit(request);
    else validateRequest(inner, request);
  },
  'completes a write twice': (inner, request) => {
    inner.submit(request);
    if (request.op === BlockOp.write) request.owner.ioDone(request);
  },
  'does not check requests': (_inner, request) => request.owner.ioDone(request),
  'throws an error that is not of the contract': (inner, request) => {
    try {
      inner.submit(request);
    } catch {
      throw new Error('bad request');
    }
  },
  'gives malformed requests back': (inner, request) => {
    try {
      inner.submit(request);
    } catch (error) {
      request.owner.ioDone(request);
      throw error;
    }
  },
  'writes the part of a malformed request that fits': (inner, request) => {
    if (request.block + request.count > inner.blockCount && request.op === BlockOp.write) {
      const count = request.count;
      Object.assign(request, { count: 1, owner: { ioDone() {} } });
      inner.submit(request);
      request.count = count;
    }
    inner.submit(request);
  },
  'takes the contents of a write later': (inner, request, simulator) => {
    validateRequest(inner, request);
    simulator.after(5, { fire: () => inner.submit(request) }, 0);
  },
  'loses the last block of a long write': (inner, request) => {
    if (request.op !== BlockOp.write || request.count < 8 || request.data === null) return inner.submit(request);
    const { count, data, owner } = request;
    request.count = count - 1;
    request.data = data.subarray(0, (count - 1) * inner.blockBytes);
    request.owner = {
      ioDone(done) {
        Object.assign(done, { count, data, owner });
        owner.ioDone(done);
      },
    };
    inner.submit(request);
  },
  'ignores tags': (inner, request) => {
    if (request.op === BlockOp.write) request.tags?.fill(1);
    inner.submit(request);
  },
  'discards one block too many': (inner, request) => {
    validateRequest(inner, request);
    if (request.op === BlockOp.discard) request.count++;
    inner.submit(request);
  },
  'zeroes nothing': (inner, request) => {
    validateRequest(inner, request);
    if (request.op === BlockOp.writeZeroes) request.owner.ioDone(request);
    else inner.submit(request);
  },
  'changes a field of the request': (inner, request) => {
    inner.submit(request);
    request.origin = 0;
  },
  'reports failures for FUA writes': (inner, request) => {
    validateRequest(inner, request);
    if ((request.flags & BlockFlag.fua) === 0) return inner.submit(request);
    request.status = BlockStatus.notSupported;
    request.owner.ioDone(request);
  },
  'lets the first of overlapping writes win': (inner, request, simulator) => {
    validateRequest(inner, request);
    if (request.op !== BlockOp.write) return inner.submit(request);
    if (request.data !== null) request.data = request.data.slice();
    simulator.after(1000 - (simulator.pendingEvents % 1000), { fire: () => inner.submit(request) }, 0);
  },
};

/** For each defect a test that is about it and must be among those that fail. */
const caughtBy: Record<string, string> = {
  'never completes a read': 'gives every request back exactly once',
  'completes a write twice': 'gives every request back exactly once',
  'does not check requests': 'refuses malformed requests',
  'throws an error that is not of the contract': 'refuses malformed requests',
  'gives malformed requests back': 'refuses malformed requests',
  'writes the part of a malformed request that fits': 'refuses malformed requests',
  'takes the contents of a write later': 'takes the contents of a write in submit',
  'loses the last block of a long write': 'reads back what was written',
  'ignores tags': 'expands tags',
  'discards one block too many': 'discards, or refuses to',
  'zeroes nothing': 'writes zeroes over',
  'changes a field of the request': 'gives every request back exactly once',
  'reports failures for FUA writes': 'honours FUA',
  'lets the first of overlapping writes win': 'of overlapping writes in flight',
};

describe('the conformance suite itself', () => {
  it('passes a minimal device that answers late and out of order', () => {
    const make = () => {
      const simulator = new Simulator();
      return { device: new MinimalDevice(simulator), simulator };
    };
    expect(failures(make)).toEqual([]);
  });

  it.each(Object.entries(defects))('catches a device that %s', (name, submit) => {
    const failed = failures(() => {
      const simulator = new Simulator();
      const inner = new MemoryDevice({ blockCount: 64 });
      const { blockBytes, blockCount, features } = inner;
      const device = { blockBytes, blockCount, features, submit: (r: BlockRequest) => submit(inner, r, simulator) };
      return { device, simulator };
    });
    expect(failed.filter((test) => test.startsWith(caughtBy[name]))).toHaveLength(1);
  });

  it('catches a device that says less or more of itself than it does', () => {
    const make = (features: BlockFeatures) => () => ({
      device: new MemoryDevice({ blockCount: 64, features }),
      simulator: new Simulator(),
    });
    expect(failures(make({ ...all, discard: false }))).not.toEqual([]);
    expect(failures(make({ ...all, keeps: 'nothing' }))).not.toEqual([]);
    expect(failures(make(all), { ...all, fua: false })).not.toEqual([]);
  });

  it('catches a device that carries out what it does not offer', () => {
    const few: BlockFeatures = { ...all, fua: false, discard: false };
    const make = () => {
      const inner = new MemoryDevice({ blockCount: 64 });
      const device = { blockBytes: 4096, blockCount: 64, features: few, submit: (r: BlockRequest) => inner.submit(r) };
      return { device, simulator: new Simulator() };
    };
    expect(failures(make, few)).toEqual([
      'honours FUA, or refuses it and changes nothing',
      'discards, or refuses to and changes nothing',
    ]);
  });

  it('catches a device that runs out of stack, and one that holds plugged requests back for ever', () => {
    const recursive = () => {
      const inner = new MinimalDevice(new Simulator());
      const device: BlockDevice = {
        blockBytes: 512,
        blockCount: 64,
        features: all,
        submit(request) {
          validateRequest(this, request);
          request.status = (inner as unknown as { perform(r: BlockRequest): number }).perform(request);
          request.owner.ioDone(request);
        },
      };
      return { device, simulator: new Simulator() };
    };
    expect(failures(recursive)).toEqual(['takes requests from inside ioDone, in a chain of any length']);
    const plugging = () => {
      const inner = new MemoryDevice({ blockCount: 64 });
      let plugged = false;
      const device = {
        blockBytes: 4096,
        blockCount: 64,
        features: all,
        submit: (r: BlockRequest) => {
          if (!plugged || r.count !== 1) inner.submit(r);
        },
        plug: () => {
          plugged = true;
        },
        unplug: () => {
          plugged = false;
        },
      };
      return { device, simulator: new Simulator() };
    };
    expect(failures(plugging)).toContain('submits held-back requests at the latest when unplugged');
  });
});

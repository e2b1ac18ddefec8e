import { Simulator, type Task } from '@flashstack/sim';
import {
  type BlockDevice,
  BlockOp,
  type BlockRequest,
  IoBatch,
  type IoOwner,
  MemoryDevice,
  PartitionDevice,
  RequestPool,
} from '../src/index.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
}

const blockCount = 16_384;

/** Submits one write of a block after the other from a pool. */
function submits(name: string, device: BlockDevice, data: Uint8Array | null): Benchmark {
  return {
    name,
    n: 1_000_000,
    run(n) {
      let done = 0;
      const owner: IoOwner = {
        ioDone(request: BlockRequest): void {
          done++;
          pool.give(request);
        },
      };
      const pool = new RequestPool(owner);
      for (let i = 0; i < n; i++) {
        const request = pool.take();
        request.op = BlockOp.write;
        request.block = i % blockCount;
        request.count = 1;
        request.data = data;
        device.submit(request);
      }
      if (done !== n) throw new Error(`${done} of ${n} requests are done`);
    },
  };
}

function batches(size: number): Benchmark {
  return {
    name: `batch of ${size} as a wait, per request`,
    n: 1_024_000,
    run(n) {
      const simulator = new Simulator();
      const batch = new IoBatch(new MemoryDevice({ blockCount }));
      function* body(): Task<void> {
        for (let i = 0; i < n; i += size) {
          for (let at = 0; at < size; at++) batch.add(BlockOp.read, (i + at) % blockCount, 1);
          yield batch;
        }
      }
      simulator.spawn('p', body());
      simulator.run();
    },
  };
}

const bytes: Uint8Array = Uint8Array.from({ length: 4096 }, (_, at) => (at * 31) & 0xff);

export const benchmarks: readonly Benchmark[] = [
  submits('submit, nothing kept', new MemoryDevice({ blockCount, features: { keeps: 'nothing' } }), null),
  submits('submit, memory, tags', new MemoryDevice({ blockCount }), null),
  submits('submit, memory, 4 KiB of bytes', new MemoryDevice({ blockCount }), bytes),
  submits(
    'submit, partition of memory, tags',
    new PartitionDevice(new MemoryDevice({ blockCount }), 0, blockCount),
    null,
  ),
  batches(1),
  batches(16),
];

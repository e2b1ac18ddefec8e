import {
  type BlockDevice,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  IoBatch,
  MemoryDevice,
  WrapperDevice,
} from '@flashstack/block-device';
import type { CrashDevice } from '@flashstack/block-device/crash';
import { runTask, type Simulator, type Task } from '@flashstack/sim';

/** Blocks that are copied at a time. */
const CHUNK = 256;

/** A device in memory with the same contents. */
export function copyOf(simulator: Simulator, device: BlockDevice): MemoryDevice {
  const { blockBytes, blockCount, features } = device;
  const copy = new MemoryDevice({ blockBytes, blockCount, features });
  const data = new Uint8Array(CHUNK * blockBytes);
  function* transfer(): Task<void> {
    for (let block = 0; block < blockCount; block += CHUNK) {
      const count = Math.min(CHUNK, blockCount - block);
      for (const [target, op] of [
        [device, BlockOp.read],
        [copy, BlockOp.write],
      ] as const) {
        const batch = new IoBatch(target);
        batch.add(op, block, count).data = data.subarray(0, count * blockBytes);
        yield batch;
        if (batch.status !== 0) throw new Error(`copying block ${block} failed`);
      }
    }
  }
  runTask(simulator, transfer(), 'copy');
  return copy;
}

/** In front of a crash-exploring device: tells just before a flush or durable write completes there, and the present moment. */
export class CutMoments extends WrapperDevice {
  private readonly crash: CrashDevice;
  private readonly atCut: (position: number) => void;

  /** @param atCut called with the position of each moment that is worth a cut. */
  constructor(device: CrashDevice, atCut: (position: number) => void) {
    super(device, device.blockCount);
    this.crash = device;
    this.atCut = atCut;
  }

  protected accept(request: BlockRequest): void {
    this.forward(request, this.hold(request), 0);
  }

  protected override completed(request: BlockRequest): void {
    const promises = request.op === BlockOp.flush || (request.flags & (BlockFlag.fua | BlockFlag.preflush)) !== 0;
    // The completion itself has just taken a position.
    if (promises) this.atCut(this.crash.position - 1);
    request.owner.ioDone(request);
  }
}

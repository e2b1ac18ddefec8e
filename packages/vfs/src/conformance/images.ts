import {
  type BlockDevice,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  IoBatch,
  MemoryDevice,
  WrapperDevice,
} from '@flashstack/block-device';
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

/** One request that changed something or made something durable. */
interface Logged {
  readonly op: number;
  readonly block: number;
  readonly flags: number;
  readonly count: number;
  readonly data: Uint8Array | null;
  readonly tags: Uint32Array | null;
  readonly issued: number;
  /** Position of its completion; Infinity while in flight. */
  done: number;
}

/** A moment at which power may be cut: just before a flush or durable write completes, and the end. */
export interface Cut {
  readonly order: number;
  readonly requests: number;
}

/** Writes down everything that is written, in which order it was submitted and completed, and calls at each flush. */
export class CutDevice extends WrapperDevice {
  /** Called at each moment that is worth a cut. */
  atCut: (cut: Cut) => void = () => {};
  private readonly log: Logged[] = [];
  private readonly entryOf: (Logged | null)[] = [];
  private order = 0;

  constructor(device: BlockDevice) {
    super(device, device.blockCount);
  }

  /** The present moment. */
  now(): Cut {
    return { order: this.order, requests: this.log.length };
  }

  /**
   * What a cut may have left: `base` with all that had to be durable by then, and of the rest, block by block, what `keep`
   * says.
   */
  image(simulator: Simulator, base: BlockDevice, cut: Cut, keep: () => boolean): MemoryDevice {
    const copy = copyOf(simulator, base);
    const batch = new IoBatch(copy);
    let flushed = 0;
    const log = this.log.slice(0, cut.requests);
    for (const { op, flags, issued, done } of log) {
      const flushes = op === BlockOp.flush || (flags & BlockFlag.preflush) !== 0;
      if (flushes && done <= cut.order) flushed = Math.max(flushed, issued);
    }
    for (const entry of log) {
      if (entry.op === BlockOp.flush) continue;
      const fua = (entry.flags & BlockFlag.fua) !== 0 && entry.done <= cut.order;
      const durable = fua || entry.done < flushed;
      for (let at = 0; at < entry.count; at++) {
        if (!durable && !keep()) continue;
        const request = batch.add(BlockOp.write, entry.block + at, 1);
        const { blockBytes } = this;
        request.data = entry.data?.subarray(at * blockBytes, (at + 1) * blockBytes) ?? null;
        request.tags = entry.tags?.subarray(at, at + 1) ?? null;
      }
    }
    if (batch.size > 0) {
      runTask(
        simulator,
        (function* () {
          yield batch;
        })(),
        'image',
      );
    }
    return copy;
  }

  protected accept(request: BlockRequest): void {
    const cookie = this.hold(request);
    const { op, block, flags, count } = request;
    this.entryOf[cookie] = null;
    if (op !== BlockOp.read) {
      const data = request.data?.slice() ?? null;
      const tags = request.tags?.slice() ?? null;
      const entry = { op, block, flags, count, data, tags, issued: ++this.order, done: Number.POSITIVE_INFINITY };
      this.log.push(entry);
      this.entryOf[cookie] = entry;
    }
    this.forward(request, cookie, 0);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const entry = this.entryOf[cookie];
    if (entry !== null) {
      if (entry.op === BlockOp.flush || (entry.flags & (BlockFlag.fua | BlockFlag.preflush)) !== 0)
        this.atCut(this.now());
      entry.done = ++this.order;
    }
    request.owner.ioDone(request);
  }
}

import { BlockFlag, BlockOp, type BlockRequest } from '../contract.js';
import { enlarged } from './version-pool.js';

/** Position of what has not happened yet. */
export const PENDING = 0x7fff_ffff;

/** One recorded request; positions are those of `CrashDevice.tick`. */
export interface CrashRequest {
  readonly op: number;
  readonly block: number;
  readonly count: number;
  readonly flags: number;
  readonly origin: number;
  readonly issued: number;
  /** Infinity while in flight. */
  readonly done: number;
}

/** Everything that changed something or made something durable, in order of submission, one array per column. */
export class CrashLog {
  length = 0;
  ops: Int32Array = new Int32Array(64);
  blocks: Int32Array = new Int32Array(64);
  counts: Int32Array = new Int32Array(64);
  flags: Int32Array = new Int32Array(64);
  origins: Int32Array = new Int32Array(64);
  issued: Int32Array = new Int32Array(64);
  done: Int32Array = new Int32Array(64);
  /** Version of the first block; those of the others follow. */
  versions: Int32Array = new Int32Array(64);

  /** A new row. */
  add(request: BlockRequest, issued: number, version: number): number {
    const row = this.length++;
    if (row === this.ops.length) this.grow();
    this.ops[row] = request.op;
    this.blocks[row] = request.block;
    this.counts[row] = request.count;
    this.flags[row] = request.flags;
    this.origins[row] = request.origin;
    this.issued[row] = issued;
    this.done[row] = PENDING;
    this.versions[row] = version;
    return row;
  }

  /** It makes all durable that completed before it was issued. */
  isFlush(row: number): boolean {
    return this.ops[row] === BlockOp.flush || (this.flags[row] & BlockFlag.preflush) !== 0;
  }

  isFua(row: number): boolean {
    return (this.flags[row] & BlockFlag.fua) !== 0;
  }

  /** After it something is durable that was not before. */
  isPromise(row: number): boolean {
    return this.ops[row] === BlockOp.flush || (this.flags[row] & (BlockFlag.preflush | BlockFlag.fua)) !== 0;
  }

  at(row: number): CrashRequest {
    if (!(row >= 0 && row < this.length)) throw new RangeError(`${this.length} requests are recorded, found ${row}`);
    return {
      op: this.ops[row],
      block: this.blocks[row],
      count: this.counts[row],
      flags: this.flags[row],
      origin: this.origins[row],
      issued: this.issued[row],
      done: this.done[row] === PENDING ? Number.POSITIVE_INFINITY : this.done[row],
    };
  }

  private grow(): void {
    const size = this.ops.length * 2;
    for (const name of ['ops', 'blocks', 'counts', 'flags', 'origins', 'issued', 'done', 'versions'] as const) {
      this[name] = enlarged(this[name], new Int32Array(size));
    }
  }
}

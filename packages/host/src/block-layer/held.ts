import { BlockFlag, BlockOp, type BlockRequest } from '@flashstack/block-device';

/** What a request carries. */
export const Payload = { none: 0, bytes: 1, tags: 2 } as const;

/** Requests with this are sent as they came. */
const UNMERGEABLE = BlockFlag.noMerge;
/** What is read ahead and what is asked for become one, as in Linux: it goes by the flags of the request that was there. */
const INDIFFERENT = BlockFlag.ahead;

/**
 * A request on its way to the device: one that came in, a piece of one, or several that were merged. Its parts say whose
 * blocks these are.
 */
export class Held {
  op = 0;
  block = 0;
  count = 0;
  flags = 0;
  origin = 0;
  stream = 0;
  flow = 0;
  /** A `Payload`. */
  payload = 0;
  /** Contents: the submitter's own until they are copied, see `owned`. A single tag is kept in `tag`, with `tags` null. */
  bytes: Uint8Array | null = null;
  tags: Uint32Array | null = null;
  tag = 0;
  /** `bytes` (which may be larger than the contents then) or `tags` are the block layer's. */
  owned = false;
  /** Place in the order of arrival. */
  sequence = 0;
  /** Left the queue: entries that still name it are stale. */
  sent = false;
  /** Belongs to a flush sequence, whose end is waited for: it is not merged. */
  sequenced = false;
  /** Requests that it was merged from. */
  segments = 0;
  /** Handle of the request that a single part belongs to, and its first block within that. */
  slot = 0;
  offset = 0;
  /** The same of several parts, and their blocks: three numbers each, of which there may be more than are meant. */
  readonly parts: number[] = [];

  /** Becomes `count` blocks of a request from its block `offset` on. */
  take(request: BlockRequest, slot: number, offset: number, count: number, blockBytes: number): void {
    const { op, flags, origin, stream, flow, data, tags } = request;
    this.op = op;
    this.block = request.block + offset;
    this.count = count;
    this.flags = flags;
    this.origin = origin;
    this.stream = stream;
    this.flow = flow;
    const whole = count === request.count;
    this.bytes = data === null || whole ? data : data.subarray(offset * blockBytes, (offset + count) * blockBytes);
    this.tags = tags === null || whole ? tags : tags.subarray(offset, offset + count);
    this.payload = data !== null ? Payload.bytes : tags !== null ? Payload.tags : Payload.none;
    this.owned = false;
    this.sent = false;
    this.sequenced = false;
    this.segments = 1;
    this.slot = slot;
    this.offset = offset;
  }

  /** First block behind it. */
  get end(): number {
    return this.block + this.count;
  }

  /** Takes over the parts of another: behind its own, or in front of them. */
  takeParts(other: Held, front: boolean): void {
    this.listParts();
    other.listParts();
    const { parts } = this;
    const own = 3 * this.segments;
    const added = 3 * other.segments;
    for (let at = 0; at < added; at++) parts[own + at] = other.parts[at];
    if (front) {
      parts.copyWithin(added, 0, own);
      for (let at = 0; at < added; at++) parts[at] = other.parts[at];
    }
    this.segments += other.segments;
  }

  /** A single part is written into the list too. */
  private listParts(): void {
    if (this.segments > 1) return;
    this.parts[0] = this.slot;
    this.parts[1] = this.offset;
    this.parts[2] = this.count;
  }

  /** True if `next` goes on where this ends and is of the same kind. */
  canGoOn(next: Held, maxBlocks: number, maxSegments: number): boolean {
    return (
      this.end === next.block &&
      this.op === next.op &&
      (this.op === BlockOp.read || this.op === BlockOp.write) &&
      ((this.flags ^ next.flags) & ~INDIFFERENT) === 0 &&
      !this.sequenced &&
      (this.flags & UNMERGEABLE) === 0 &&
      this.origin === next.origin &&
      this.stream === next.stream &&
      this.flow === next.flow &&
      this.payload === next.payload &&
      this.count + next.count <= maxBlocks &&
      this.segments + next.segments <= maxSegments
    );
  }
}

import { BlockOp, type BlockRequest } from '@flashstack/block-device';
import { Buffers, TagArrays } from './buffers.js';
import { Held, Payload } from './held.js';

/** Contents of requests that are held back or merged: copied in from writes, and out again to reads. */
export class Assembly {
  private readonly blockBytes: number;
  private readonly buffers: Buffers = new Buffers();
  private readonly tagArrays: TagArrays = new TagArrays();
  private readonly one: Uint32Array = new Uint32Array(1);
  private readonly free: Held[] = [];

  constructor(blockBytes: number) {
    this.blockBytes = blockBytes;
  }

  /** One that is to `take` a request. */
  take(): Held {
    return this.free.pop() ?? new Held();
  }

  /** Takes one back that is done or has become part of another. */
  give(held: Held): void {
    if (held.owned && held.payload === Payload.bytes) this.buffers.give(held.bytes as Uint8Array);
    else if (held.owned) this.tagArrays.give(held.tags as Uint32Array);
    held.bytes = null;
    held.tags = null;
    held.owned = false;
    held.sent = true;
    this.free.push(held);
  }

  /** A write that stays here keeps a copy: its submitter may change the contents. */
  keep(held: Held): void {
    if (held.op !== BlockOp.write || held.owned) return;
    if (held.payload === Payload.tags) this.keepTags(held);
    else if (held.payload === Payload.bytes) this.own(held, held.count);
  }

  /** `newer` becomes part of `held`: at its end, or at its front. */
  join(held: Held, newer: Held, front: boolean): void {
    if (held.op === BlockOp.write) this.joinContents(held, newer, front);
    if (front) held.block = newer.block;
    held.takeParts(newer, front);
    held.count += newer.count;
    this.give(newer);
  }

  private joinContents(held: Held, newer: Held, front: boolean): void {
    if (held.payload === Payload.tags) {
      this.ownTags(held, held.count + newer.count, front ? newer.count : 0);
      putTags(newer, held.tags as Uint32Array, front ? 0 : held.count);
    } else if (held.payload === Payload.bytes) {
      const { blockBytes } = this;
      this.own(held, held.count + newer.count);
      const bytes = held.bytes as Uint8Array;
      if (front) bytes.copyWithin(newer.count * blockBytes, 0, held.count * blockBytes);
      const added = (newer.bytes as Uint8Array).subarray(0, newer.count * blockBytes);
      bytes.set(added, front ? 0 : held.count * blockBytes);
    }
  }

  /** Gives it a buffer of its own with room for so many blocks. */
  private own(held: Held, blocks: number): void {
    const bytes = held.bytes as Uint8Array;
    const needed = blocks * this.blockBytes;
    if (held.owned && bytes.length >= needed) return;
    const buffer = this.buffers.take(needed);
    buffer.set(bytes.length > held.count * this.blockBytes ? bytes.subarray(0, held.count * this.blockBytes) : bytes);
    if (held.owned) this.buffers.give(bytes);
    held.bytes = buffer;
    held.owned = true;
  }

  private keepTags(held: Held): void {
    const { tags } = held;
    if (tags === null) return;
    if (tags.length > 1) {
      this.ownTags(held, tags.length, 0);
    } else {
      // As a signed number it needs no memory of its own.
      held.tag = tags[0] | 0;
      held.tags = null;
    }
  }

  /** Gives it an array of its own for so many tags, its own ones from `offset` on. */
  private ownTags(held: Held, count: number, offset: number): void {
    const own = this.tagArrays.take(count);
    putTags(held, own, offset);
    if (held.owned) this.tagArrays.give(held.tags as Uint32Array);
    held.tags = own;
    held.owned = true;
  }

  /** What the device gets as data. */
  bytesOf(held: Held): Uint8Array | null {
    if (held.payload !== Payload.bytes) return null;
    const length = held.count * this.blockBytes;
    // A merged read goes to a buffer of its own first.
    if (held.op === BlockOp.read && held.segments > 1) {
      held.bytes = this.buffers.take(length);
      held.owned = true;
    }
    const bytes = held.bytes as Uint8Array;
    return bytes.length === length ? bytes : bytes.subarray(0, length);
  }

  /** What the device gets as tags. */
  tagsOf(held: Held): Uint32Array | null {
    if (held.payload !== Payload.tags) return null;
    if (held.op === BlockOp.read && held.segments > 1) {
      held.tags = this.tagArrays.take(held.count).fill(0);
      held.owned = true;
    }
    if (held.tags !== null) return held.tags;
    this.one[0] = held.tag;
    return this.one;
  }

  /** Copies what a merged read has brought to those who asked for it. */
  scatter(held: Held, requests: readonly (BlockRequest | null)[]): void {
    if (held.op !== BlockOp.read || held.segments === 1 || held.payload === Payload.none) return;
    const { blockBytes } = this;
    const { parts } = held;
    let from = 0;
    for (let at = 0; at < 3 * held.segments; at += 3) {
      const request = requests[parts[at]] as BlockRequest;
      const offset = parts[at + 1];
      const count = parts[at + 2];
      if (held.payload === Payload.tags) {
        (request.tags as Uint32Array).set((held.tags as Uint32Array).subarray(from, from + count), offset);
      } else {
        const piece = (held.bytes as Uint8Array).subarray(from * blockBytes, (from + count) * blockBytes);
        (request.data as Uint8Array).set(piece, offset * blockBytes);
      }
      from += count;
    }
  }
}

function putTags({ tags, tag }: Held, target: Uint32Array, at: number): void {
  if (tags === null) target[at] = tag;
  else if (tags.length === 1) target[at] = tags[0];
  else target.set(tags, at);
}

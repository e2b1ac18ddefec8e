import { type BlockDevice, BlockOp, type BlockRequest } from '@flashstack/block-device';
import { mix32 } from '@flashstack/sim';
import { ReplayError, ReplayErrorCode } from './replay-error.js';

const KEPT_MISMATCHES = 8;
const CHUNK_BYTES = 4096;

/** A block that was read back with other contents than were written last. */
export interface ContentMismatch {
  readonly block: number;
  readonly expectedTag: number;
  readonly foundTag: number;
}

/**
 * Gives every write contents of its own (a 32-bit tag per 4 KiB, drawn from the seed and the number of the write), and
 * optionally compares reads with what was written last. Blocks whose contents cannot be known (never written in this
 * replay, a write in flight or failed, discarded) are counted as unchecked. Verifying takes 11 bytes a device block.
 */
export class ContentCheck {
  /** Blocks read that held what was written last. */
  checked = 0;
  /** Blocks read whose contents could not be known. */
  unchecked = 0;
  /** Blocks read that held something else. */
  wrong = 0;
  /** The first eight of those. */
  readonly mismatches: ContentMismatch[] = [];
  private readonly seed: number;
  private readonly blocksPerChunk: number;
  private readonly shadow: Shadow | null;
  private readonly spareTags = new Map<number, Uint32Array[]>();
  private sequence = 0;

  constructor(device: BlockDevice, seed: number, verify: boolean) {
    this.seed = mix32((seed % 0x1_0000_0000) ^ mix32(Math.floor(seed / 0x1_0000_0000)));
    this.blocksPerChunk = Math.max(1, Math.floor(CHUNK_BYTES / device.blockBytes));
    this.shadow = verify ? new Shadow(device.blockCount) : null;
  }

  /** The check for a device that keeps contents; null for one that does not. @throws ReplayError if it should verify. */
  static for(device: BlockDevice, seed: number, verify: boolean): ContentCheck | null {
    if (device.features.keeps === 'contents') return new ContentCheck(device, seed, verify);
    if (!verify) return null;
    const message = 'reads can be verified only on a device that keeps contents (keeps: "contents")';
    throw new ReplayError(ReplayErrorCode.option, message, 'verify');
  }

  /** Sets the payload of a request that is about to be submitted. */
  prepare(request: BlockRequest): void {
    request.tags = null;
    this.sequence++;
    if (request.op === BlockOp.write) {
      request.tags = this.take(request.count);
      this.fill(request.tags, request.block);
    } else if (request.op === BlockOp.read) {
      if (this.shadow !== null) request.tags = this.take(request.count);
    }
    if (this.shadow !== null && request.op !== BlockOp.flush) this.shadow.submitted(request, this.sequence);
  }

  /** Looks at a request that has completed. */
  done(request: BlockRequest): void {
    this.sequence++;
    const tags = request.tags;
    if (this.shadow !== null) {
      if (request.op === BlockOp.read) this.compare(request, this.shadow);
      else if (request.op !== BlockOp.flush) this.shadow.completed(request, this.sequence);
    }
    if (tags !== null) {
      this.spare(tags.length).push(tags);
      request.tags = null;
    }
  }

  private fill(tags: Uint32Array, block: number): void {
    const write = mix32(this.seed ^ this.sequence);
    for (let i = 0; i < tags.length; i++) {
      // Never 0, which is what a block holds that was not written.
      tags[i] = mix32(write + Math.floor((block + i) / this.blocksPerChunk)) || 1;
    }
  }

  private compare(request: BlockRequest, shadow: Shadow): void {
    const tags = request.tags as Uint32Array;
    for (let i = 0; i < tags.length; i++) {
      const block = request.block + i;
      if (request.status !== 0 || !shadow.certain(block, request.cookie)) {
        this.unchecked++;
      } else if (tags[i] === shadow.expected[block]) {
        this.checked++;
      } else {
        this.wrong++;
        if (this.mismatches.length < KEPT_MISMATCHES) {
          this.mismatches.push({ block, expectedTag: shadow.expected[block], foundTag: tags[i] });
        }
      }
    }
  }

  private take(count: number): Uint32Array {
    return this.spare(count).pop() ?? new Uint32Array(count);
  }

  /** Arrays of one length that are not in use: a request needs exactly one tag a block, and sizes recur. */
  private spare(count: number): Uint32Array[] {
    let spare = this.spareTags.get(count);
    if (spare === undefined) {
      spare = [];
      this.spareTags.set(count, spare);
    }
    return spare;
  }
}

/** What every block should hold, and since when. */
class Shadow {
  readonly expected: Uint32Array;
  private readonly changed: Uint32Array;
  private readonly writing: Uint16Array;
  private readonly known: Uint8Array;
  private readonly readSince: number[] = [];

  constructor(blockCount: number) {
    this.expected = new Uint32Array(blockCount);
    this.changed = new Uint32Array(blockCount);
    this.writing = new Uint16Array(blockCount);
    this.known = new Uint8Array(blockCount);
  }

  submitted(request: BlockRequest, sequence: number): void {
    if (request.op === BlockOp.read) {
      this.readSince[request.cookie] = sequence;
      return;
    }
    const known = request.op === BlockOp.discard ? 0 : 1;
    for (let i = 0; i < request.count; i++) {
      const block = request.block + i;
      this.expected[block] = request.tags === null ? 0 : request.tags[i];
      this.known[block] = known;
      this.writing[block]++;
      this.changed[block] = sequence;
    }
  }

  completed(request: BlockRequest, sequence: number): void {
    for (let i = 0; i < request.count; i++) {
      const block = request.block + i;
      this.writing[block]--;
      this.changed[block] = sequence;
      if (request.status !== 0) this.known[block] = 0;
    }
  }

  /** True if no write to the block was in flight at any time since the read in this slot was submitted. */
  certain(block: number, slot: number): boolean {
    return this.known[block] === 1 && this.writing[block] === 0 && this.changed[block] < this.readSince[slot];
  }
}

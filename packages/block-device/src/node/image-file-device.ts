import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { InputError } from '@flashstack/sim';
import {
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  type BlockRequest,
  BlockStatus,
  checkGeometry,
  expandTag,
  ImmediateDevice,
  tagOfBytes,
} from '../index.js';

/** How to open an image. */
export interface ImageFileOptions {
  /** Bytes of a block, default 4096. */
  readonly blockBytes?: number;
  /** Number of blocks. Default: what the file holds; needed to create one. A larger file is kept, a smaller one grows. */
  readonly blockCount?: number;
  /** Create the file if it is missing. Default false. */
  readonly create?: boolean;
  /** Writes complete with `readOnly`. Default false. */
  readonly readOnly?: boolean;
}

const CHUNK_BYTES = 1 << 18;

/**
 * A file as a device, for image tools: byte for byte what other programs see. Takes no simulated time; its system calls
 * are done when `submit` returns. Blocks of zero are left as holes where the file has none of its own there.
 */
export class ImageFileDevice extends ImmediateDevice {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  /** The error behind the last request that failed, or null. */
  lastError: unknown = null;
  private readonly descriptor: number;
  private readonly readOnly: boolean;
  private readonly chunk: Uint8Array = new Uint8Array(CHUNK_BYTES);
  private readonly zeroes: Uint8Array = new Uint8Array(CHUNK_BYTES);
  /** Bytes from here on to the end of the file are a hole. */
  private writtenEnd: number;
  private open = true;

  /**
   * @throws InputError `ERR_IMAGE_MISSING`, `ERR_IMAGE_SIZE` or `ERR_IMAGE_OPEN` (the reason of the operating system).
   */
  constructor(path: string, options: ImageFileOptions = {}) {
    super();
    const { blockBytes = 4096, create = false, readOnly = false } = options;
    if (!existsSync(path) && !(create && !readOnly)) {
      throw new InputError('ERR_IMAGE_MISSING', `Image file ${path} does not exist. Pass create to make it.`, path);
    }
    this.descriptor = openImage(path, readOnly);
    try {
      const size = fstatSync(this.descriptor).size;
      const blockCount = options.blockCount ?? Math.floor(size / blockBytes);
      checkGeometry(blockBytes, Math.max(1, blockCount));
      if (blockCount < 1 || (readOnly && blockCount * blockBytes > size)) {
        throw new InputError(
          'ERR_IMAGE_SIZE',
          `Image file ${path} holds ${size} bytes, too few for ${Math.max(1, blockCount)} blocks of ${blockBytes}.`,
          path,
        );
      }
      if (size < blockCount * blockBytes) ftruncateSync(this.descriptor, blockCount * blockBytes);
      this.blockBytes = blockBytes;
      this.blockCount = blockCount;
      this.writtenEnd = size;
    } catch (error) {
      closeSync(this.descriptor);
      throw error;
    }
    this.readOnly = readOnly;
    this.features = { fua: true, volatileCache: true, discard: true, atomicBlocks: 1, keeps: 'contents' };
  }

  /** Closes the file; requests fail from now on. */
  close(): void {
    if (this.open) closeSync(this.descriptor);
    this.open = false;
  }

  protected perform(request: BlockRequest): number {
    if (this.readOnly && request.op !== BlockOp.read && request.op !== BlockOp.flush) return BlockStatus.readOnly;
    try {
      return this.transfer(request);
    } catch (error) {
      this.lastError = error;
      return (error as { code?: string }).code === 'ENOSPC' ? BlockStatus.noSpace : BlockStatus.ioError;
    }
  }

  private transfer(request: BlockRequest): number {
    const start = request.block * this.blockBytes;
    const bytes = request.count * this.blockBytes;
    switch (request.op) {
      case BlockOp.read:
        return this.read(request, start);
      case BlockOp.write:
        if ((request.flags & BlockFlag.preflush) !== 0) fdatasyncSync(this.descriptor);
        this.write(request, start, bytes);
        if ((request.flags & BlockFlag.fua) !== 0) fdatasyncSync(this.descriptor);
        return BlockStatus.ok;
      case BlockOp.flush:
        if (!this.readOnly) fdatasyncSync(this.descriptor);
        return BlockStatus.ok;
      default:
        this.zero(start, bytes);
        return BlockStatus.ok;
    }
  }

  private read(request: BlockRequest, start: number): number {
    const { data, tags, count } = request;
    if (data !== null) this.readFully(data, start, data.length);
    else if (tags !== null) {
      let status: number = BlockStatus.ok;
      for (let at = 0; at < count; at++) {
        this.readFully(this.chunk, start + at * this.blockBytes, this.blockBytes);
        const tag = tagOfBytes(this.chunk, 0, this.blockBytes);
        if (tag < 0) status = BlockStatus.notTagged;
        else tags[at] = tag;
      }
      return status;
    }
    return BlockStatus.ok;
  }

  private write(request: BlockRequest, start: number, bytes: number): void {
    const { data, tags } = request;
    if (data !== null) this.writeFully(data, start, bytes);
    else if (tags === null) this.zero(start, bytes);
    else {
      const perChunk = CHUNK_BYTES / this.blockBytes;
      for (let first = 0; first < tags.length; first += perChunk) {
        const here = Math.min(perChunk, tags.length - first);
        for (let at = 0; at < here; at++)
          expandTag(tags[first + at], this.chunk, at * this.blockBytes, this.blockBytes);
        this.writeFully(this.chunk, start + first * this.blockBytes, here * this.blockBytes);
      }
    }
  }

  /** Zeroes a range: cut off and grown again at the end of what was written, otherwise written unless zero already. */
  private zero(start: number, bytes: number): void {
    const end = start + bytes;
    if (start >= this.writtenEnd) return;
    if (end >= this.writtenEnd) {
      const size = fstatSync(this.descriptor).size;
      ftruncateSync(this.descriptor, start);
      ftruncateSync(this.descriptor, size);
      this.writtenEnd = start;
      return;
    }
    for (let at = start; at < end; at += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, end - at);
      this.readFully(this.chunk, at, length);
      if (this.chunk.subarray(0, length).some((byte) => byte !== 0)) this.writeFully(this.zeroes, at, length);
    }
  }

  private readFully(into: Uint8Array, position: number, length: number): void {
    for (let done = 0; done < length; ) {
      const read = readSync(this.descriptor, into, done, length - done, position + done);
      if (read === 0) throw new Error(`the image file ends at byte ${position + done}`);
      done += read;
    }
  }

  private writeFully(from: Uint8Array, position: number, length: number): void {
    for (let done = 0; done < length; ) {
      done += writeSync(this.descriptor, from, done, length - done, position + done);
    }
    this.writtenEnd = Math.max(this.writtenEnd, position + length);
  }
}

function openImage(path: string, readOnly: boolean): number {
  try {
    return openSync(path, readOnly ? 'r' : existsSync(path) ? 'r+' : 'w+');
  } catch (error) {
    throw new InputError('ERR_IMAGE_OPEN', `Cannot open image file ${path}: ${(error as Error).message}`, path);
  }
}

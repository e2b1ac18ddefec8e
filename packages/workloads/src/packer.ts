import type { Compression } from './compression.js';
import { compressFrame } from './zstd.js';

const FRAME_BYTES = 1024 * 1024;

/** Takes the bytes of a file as they come; may be awaited. */
export type WriteBytes = (bytes: Uint8Array) => void | Promise<void>;

/** Packs bytes as they come and writes them; memory does not grow with their number. */
export interface Packer {
  push(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Writes what is left. Nothing may be pushed afterwards. */
  end(): Promise<void>;
}

/** A packer for this compression. zstd is written as independent frames of about 1 MiB. */
export function packerFor(compression: Compression, write: WriteBytes): Packer {
  if (compression === 'gzip') return new GzipPacker(write);
  return compression === 'zstd' ? new ZstdPacker(write) : new PlainPacker(write);
}

class PlainPacker implements Packer {
  private readonly write: WriteBytes;

  constructor(write: WriteBytes) {
    this.write = write;
  }

  async push(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.write(bytes);
  }

  async end(): Promise<void> {}
}

class ZstdPacker implements Packer {
  private readonly write: WriteBytes;
  private readonly buffer = new Uint8Array(FRAME_BYTES);
  private length = 0;

  constructor(write: WriteBytes) {
    this.write = write;
  }

  async push(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + FRAME_BYTES - this.length);
      this.buffer.set(piece, this.length);
      this.length += piece.length;
      at += piece.length;
      if (this.length === FRAME_BYTES) await this.end();
    }
  }

  async end(): Promise<void> {
    if (this.length === 0) return;
    const frame = await compressFrame(this.buffer.subarray(0, this.length));
    this.length = 0;
    await this.write(frame);
  }
}

class GzipPacker implements Packer {
  private readonly writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  private readonly pumping: Promise<void>;
  private failure: unknown = null;

  constructor(write: WriteBytes) {
    const stream = new CompressionStream('gzip');
    this.writer = stream.writable.getWriter();
    const reader = stream.readable.getReader();
    const pump = async (): Promise<void> => {
      try {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) await write(piece.value);
      } catch (error) {
        this.failure = error;
        // Frees a push that waits for room.
        await reader.cancel(error);
      }
    };
    this.pumping = pump();
  }

  async push(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.writer.write(bytes).catch((error: unknown) => this.failed(error));
    if (this.failure !== null) this.failed(this.failure);
  }

  async end(): Promise<void> {
    await this.writer.close().catch((error: unknown) => this.failed(error));
    await this.pumping;
    if (this.failure !== null) this.failed(this.failure);
  }

  /** The failure of the writing, if there is one, is the cause of that of the stream. */
  private failed(error: unknown): never {
    throw this.failure ?? error;
  }
}

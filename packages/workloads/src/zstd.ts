import type { Zstd } from '@hpcc-js/wasm-zstd';
import { TraceError, TraceErrorCode } from './trace-error.js';

// RFC 8878: frames of a header, blocks of at most 128 KiB, and perhaps a checksum; or skippable frames.
const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const BLOCK_BYTES = 128 * 1024;
const RLE_BLOCK = 1;
const COMPRESSED_BLOCK = 2;
const CHECKSUM_BYTES = 4;
const MAX_WINDOW_LOG = 27;

/** True if the bytes, four at least, start like a zstd stream. */
export function isZstd(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && (word(bytes, 0) === MAGIC || isSkippable(word(bytes, 0)));
}

/** One frame with the bytes of `data`. */
export async function compressFrame(data: Uint8Array): Promise<Uint8Array> {
  const engine = await ZstdEngine.create();
  try {
    return engine.compress(data);
  } finally {
    engine.close();
  }
}

/** Unpacks a zstd stream block by block: memory is one window of its frames (8 MiB at the usual levels). */
export async function* inflateZstd(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  const engine = await ZstdEngine.create();
  const inflater = new ZstdInflater(engine, file);
  try {
    for await (const chunk of chunks) {
      inflater.push(chunk);
      for (let piece = inflater.next(); piece !== null; piece = inflater.next()) if (piece.length > 0) yield piece;
    }
    inflater.end();
  } finally {
    engine.close();
  }
}

/** Cuts a stream into frames and blocks, and hands each to the engine whole. */
class ZstdInflater {
  private readonly engine: ZstdEngine;
  private readonly file: string;
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private skip = 0;
  private inFrame = false;
  private checksum = false;

  constructor(engine: ZstdEngine, file: string) {
    this.engine = engine;
    this.file = file;
  }

  push(chunk: Uint8Array): void {
    const rest = this.bytes.subarray(this.at);
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    this.bytes = bytes;
    this.at = 0;
  }

  /** What the next part of the stream unpacks to, perhaps nothing; null if more must be pushed first. */
  next(): Uint8Array | null {
    const skipped = Math.min(this.skip, this.available);
    this.skip -= skipped;
    this.at += skipped;
    if (this.skip > 0) return null;
    return this.inFrame ? this.block() : this.frame();
  }

  /** Throws if the stream ends inside a frame. */
  end(): void {
    if (this.inFrame || this.available > 0 || this.skip > 0) {
      throw this.damaged('the zstd data ends early: the file is truncated');
    }
  }

  private get available(): number {
    return this.bytes.length - this.at;
  }

  private frame(): Uint8Array | null {
    const { bytes, at } = this;
    if (this.available < 8) return null;
    const magic = word(bytes, at);
    if (isSkippable(magic)) {
      this.skip = word(bytes, at + 4);
      this.at += 8;
      return new Uint8Array(0);
    }
    if (magic !== MAGIC) throw this.damaged('the zstd data is damaged (no frame starts where one should)');
    const length = headerBytes(bytes[at + 4]);
    if (this.available < length) return null;
    this.checkHeader(bytes[at + 4], bytes[at + 5]);
    this.checksum = (bytes[at + 4] & 4) !== 0;
    this.engine.reset();
    this.at += length;
    this.inFrame = true;
    return this.engine.inflate(bytes.subarray(at, at + length), 1);
  }

  private checkHeader(descriptor: number, window: number): void {
    if ((descriptor & 3) !== 0) throw this.damaged('the zstd data needs a dictionary, which is not supported');
    const windowLog = 10 + (window >> 3);
    if ((descriptor & 32) === 0 && windowLog > MAX_WINDOW_LOG) {
      throw this.damaged(`the zstd data needs a window of 2^${windowLog} bytes, more than 128 MiB`);
    }
  }

  private block(): Uint8Array | null {
    const { bytes, at } = this;
    if (this.available < 3) return null;
    const header = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
    const last = (header & 1) !== 0;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type > COMPRESSED_BLOCK || size > BLOCK_BYTES)
      throw this.damaged('the zstd data is damaged (a bad block header)');
    const length = 3 + (type === RLE_BLOCK ? 1 : size) + (last && this.checksum ? CHECKSUM_BYTES : 0);
    if (this.available < length) return null;
    const piece = this.engine.inflate(bytes.subarray(at, at + length), BLOCK_BYTES);
    // The engine tells an error, a wrong checksum too, by giving nothing where something must come.
    if (piece.length === 0 && size > 0) throw this.damaged('the zstd data is damaged');
    this.at += length;
    if (last) this.inFrame = false;
    return piece;
  }

  private damaged(what: string): TraceError {
    return new TraceError(TraceErrorCode.compression, `${this.file}: ${what}`, [
      'Copy or download the file again; "zstd -t" tells whether it is whole.',
    ]);
  }
}

/** Bytes of a frame header by its descriptor: magic, descriptor, window, dictionary, content size. */
function headerBytes(descriptor: number): number {
  const single = (descriptor >> 5) & 1;
  const dictionary = [0, 1, 2, 4][descriptor & 3];
  const size = descriptor >> 6 === 0 ? single : [0, 2, 4, 8][descriptor >> 6];
  return 5 + (1 - single) + dictionary + size;
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

function isSkippable(magic: number): boolean {
  return (magic & 0xfffffff0) >>> 0 === SKIPPABLE;
}

interface Memory {
  readonly ptr: number;
  readonly size: number;
}

/** The parts of the library, of a fixed version, that it does not publish but that a second stream needs. */
interface Internals {
  _zstd: { delete(): void };
  _zstdClass: new () => { delete(): void };
  _mainModule: { heapView(memory: Memory): Uint8Array };
}

/**
 * A zstd stream of its own. The library offers one stream per process, so that two traces read at a time would mix, and
 * copies results byte by byte; an object derived from its own, with another stream and a plain copy, does neither.
 */
class ZstdEngine {
  private readonly zstd: Zstd;
  private readonly internals: Internals;

  private constructor(zstd: Zstd) {
    this.zstd = zstd;
    this.internals = zstd as unknown as Internals;
  }

  /** Loads the library, which is large, only when a zstd stream comes. */
  static async create(): Promise<ZstdEngine> {
    const { Zstd } = await import('@hpcc-js/wasm-zstd');
    const shared = await Zstd.load();
    const { _zstdClass, _mainModule } = shared as unknown as Internals;
    const memory = Object.create(_mainModule, {
      heapToUint8Array: { value: (result: Memory) => _mainModule.heapView(result).slice() },
    });
    const own = Object.create(shared, { _zstd: { value: new _zstdClass() }, _mainModule: { value: memory } });
    return new ZstdEngine(own);
  }

  reset(): void {
    this.zstd.reset();
  }

  /** Unpacks a whole header or block to at most `outputBytes`. */
  inflate(piece: Uint8Array, outputBytes: number): Uint8Array {
    return this.zstd.decompressChunk(piece, outputBytes);
  }

  compress(data: Uint8Array): Uint8Array {
    return this.zstd.compress(data);
  }

  close(): void {
    this.internals._zstd.delete();
  }
}

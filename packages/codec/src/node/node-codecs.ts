import * as zlib from 'node:zlib';
import { type Codecs, CRC32, pureCodecs, TableCrc } from '../index.js';

/** `zlib.crc32`: the checksum of the data appended to what had checksum `value`. */
export type NativeCrc32Function = (data: Uint8Array, value?: number) => number;

/** Below this length a call into native code costs more than it saves. */
const NATIVE_FROM_BYTES = 64;

/** CRC-32 with the native function for all but short ranges; the operators are plain arithmetic. */
export class NativeCrc32 extends TableCrc {
  private readonly native: NativeCrc32Function;

  constructor(native: NativeCrc32Function) {
    super(CRC32);
    this.native = native;
  }

  override update(register: number, bytes: Uint8Array, start = 0, end: number = bytes.length): number {
    if (!(end - start >= NATIVE_FROM_BYTES && start >= 0 && end <= bytes.length)) {
      return super.update(register, bytes, start, end);
    }
    const range = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    return ~this.native(range, ~register >>> 0) >>> 0;
  }
}

/**
 * The fastest checksums this Node offers: `zlib.crc32` (Node 20.15 and 22.2 on) for CRC-32, plain arithmetic for the
 * others. `accelerated` says which; pass another function, or null for none, to choose.
 */
export function nodeCodecs(native: NativeCrc32Function | null = findNativeCrc32()): Codecs {
  const pure = pureCodecs();
  if (native === null) return pure;
  return { ...pure, crc32: new NativeCrc32(native), accelerated: [CRC32.name] };
}

function findNativeCrc32(): NativeCrc32Function | null {
  const found = (zlib as { crc32?: NativeCrc32Function }).crc32;
  return typeof found === 'function' ? found : null;
}

import { CRC16, CRC32, CRC32C, type Crc, TableCrc } from './crc.js';

/** The checksums that file systems and applications use, handed to them so that a faster implementation can be. */
export interface Codecs {
  readonly crc32c: Crc;
  readonly crc32: Crc;
  readonly crc16: Crc;
  /** Names of those that native code computes; the others are plain arithmetic. Empty for `pureCodecs`. */
  readonly accelerated: readonly string[];
}

/** All of them in plain arithmetic: the same on every machine and in a browser. */
export function pureCodecs(): Codecs {
  return { crc32c: new TableCrc(CRC32C), crc32: new TableCrc(CRC32), crc16: new TableCrc(CRC16), accelerated: [] };
}

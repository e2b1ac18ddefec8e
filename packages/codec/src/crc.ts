/** A cyclic redundancy check with the operators that spare recomputing it. */
export interface Crc {
  /** Such as `CRC-32C`. */
  readonly name: string;
  /** Bits of the checksum. */
  readonly width: number;
  /** Register before the first byte, as `checksum` uses it. On-disk formats often start from a seed of their own. */
  readonly initial: number;
  /** What `checksum` adds (exclusive or) to the register after the last byte. */
  readonly finalXor: number;
  /**
   * The register after the bytes `start` … `end − 1`; the whole array by default. Neither begins nor ends a checksum:
   * `checksum(bytes) = update(initial, bytes) ^ finalXor`.
   * @throws RangeError if the range is not within the array.
   */
  update(register: number, bytes: Uint8Array, start?: number, end?: number): number;
  /** The checksum as the catalogue of this CRC defines it, an unsigned integer. */
  checksum(bytes: Uint8Array): number;
  /**
   * The register after `count` further zero bytes, without going through them: a short record in a padded block.
   * @throws RangeError unless `count` is an integer from 0 to 2^31 − 1.
   */
  zeroTail(register: number, count: number): number;
  /**
   * The new checksum (or register) after `length` bytes have changed from `before[beforeStart…]` to
   * `after[afterStart…]`, given the old one and the number of bytes between the change and the end of what is summed.
   * @throws RangeError if a range is not within its array or `distance` is not an integer from 0 to 2^31 − 1.
   */
  delta(
    checksum: number,
    before: Uint8Array,
    beforeStart: number,
    after: Uint8Array,
    afterStart: number,
    length: number,
    distance: number,
  ): number;
}

/** What defines a reflected CRC. */
export interface CrcDefinition {
  readonly name: string;
  /** 16 or 32. */
  readonly width: 16 | 32;
  /** Generator without its highest term, bits reversed: bit 0 is the coefficient of x^(width − 1). */
  readonly polynomial: number;
  readonly initial: number;
  readonly finalXor: number;
}

/** CRC-32C (Castagnoli), as in iSCSI (RFC 3720), ext4 and Btrfs. */
export const CRC32C: CrcDefinition = {
  name: 'CRC-32C',
  width: 32,
  polynomial: 0x82f6_3b78,
  initial: 0xffff_ffff,
  finalXor: 0xffff_ffff,
};

/** CRC-32 of ISO-HDLC (Ethernet, gzip); F2FS uses it with a seed and without the final inversion. */
export const CRC32: CrcDefinition = {
  name: 'CRC-32',
  width: 32,
  polynomial: 0xedb8_8320,
  initial: 0xffff_ffff,
  finalXor: 0xffff_ffff,
};

/** CRC-16 of ARC, polynomial 0x8005 reflected; ext4 group descriptors use it from 0xffff on. */
export const CRC16: CrcDefinition = { name: 'CRC-16', width: 16, polynomial: 0xa001, initial: 0, finalXor: 0 };

/** Powers of two of zero bytes for which an operator is kept: lengths below 2^31. */
const POWERS = 31;

/**
 * A CRC in plain arithmetic: eight bytes a step through eight tables ("slicing-by-8": Kounavis and Berry, "A systematic
 * approach to building high performance software-based CRC generators", ISCC 2005). Zero tail and delta rest on the
 * linearity of the register: n zero bytes multiply it by x^(8n) modulo the generator.
 */
export class TableCrc implements Crc {
  readonly name: string;
  readonly width: number;
  readonly initial: number;
  readonly finalXor: number;
  private readonly mask: number;
  /** Eight tables of 256: entry [k][b] is the effect of byte b followed by k zero bytes. */
  private readonly tables: Int32Array = new Int32Array(8 * 256);
  /** Per power k: the effect of 2^k zero bytes on each byte of the register, four tables of 256; made when needed. */
  private readonly zeroOperators: (Int32Array | null)[] = new Array<Int32Array | null>(POWERS).fill(null);

  constructor(definition: CrcDefinition) {
    this.name = definition.name;
    this.width = definition.width;
    this.initial = definition.initial;
    this.finalXor = definition.finalXor;
    this.mask = definition.width === 32 ? -1 : 0xffff;
    const tables = this.tables;
    for (let byte = 0; byte < 256; byte++) {
      let register = byte;
      for (let bit = 0; bit < 8; bit++)
        register = (register >>> 1) ^ ((register & 1) === 0 ? 0 : definition.polynomial);
      tables[byte] = register;
    }
    for (let at = 256; at < tables.length; at++) {
      const shorter = tables[at - 256];
      tables[at] = tables[shorter & 0xff] ^ (shorter >>> 8);
    }
  }

  update(register: number, bytes: Uint8Array, start = 0, end: number = bytes.length): number {
    checkRange(bytes, start, end);
    const t = this.tables;
    let crc = register & this.mask;
    let at = start;
    for (const last = end - 7; at < last; at += 8) {
      const low = crc ^ (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24));
      crc =
        t[0x700 | (low & 0xff)] ^
        t[0x600 | ((low >>> 8) & 0xff)] ^
        t[0x500 | ((low >>> 16) & 0xff)] ^
        t[0x400 | (low >>> 24)] ^
        t[0x300 | bytes[at + 4]] ^
        t[0x200 | bytes[at + 5]] ^
        t[0x100 | bytes[at + 6]] ^
        t[bytes[at + 7]];
    }
    for (; at < end; at++) crc = t[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
    return crc >>> 0;
  }

  checksum(bytes: Uint8Array): number {
    return (this.update(this.initial, bytes) ^ this.finalXor) >>> 0;
  }

  zeroTail(register: number, count: number): number {
    if (!(count >= 0 && count <= 0x7fff_ffff) || (count | 0) !== count) {
      throw new RangeError(`number of zero bytes must be an integer from 0 to 2^31 − 1, found ${count}`);
    }
    let crc = register & this.mask;
    let rest = count;
    for (let power = 0; rest > 0; power++, rest >>>= 1) {
      if ((rest & 1) === 0) continue;
      const t = this.zeroOperators[power] ?? this.makeZeroOperator(power);
      crc =
        t[crc & 0xff] ^ t[0x100 | ((crc >>> 8) & 0xff)] ^ t[0x200 | ((crc >>> 16) & 0xff)] ^ t[0x300 | (crc >>> 24)];
    }
    return crc >>> 0;
  }

  delta(
    checksum: number,
    before: Uint8Array,
    beforeStart: number,
    after: Uint8Array,
    afterStart: number,
    length: number,
    distance: number,
  ): number {
    checkRange(before, beforeStart, beforeStart + length);
    checkRange(after, afterStart, afterStart + length);
    const t = this.tables;
    let crc = 0;
    for (let at = 0; at < length; at++) {
      crc = t[(crc ^ before[beforeStart + at] ^ after[afterStart + at]) & 0xff] ^ (crc >>> 8);
    }
    return (checksum ^ this.zeroTail(crc, distance)) >>> 0;
  }

  /** Twice as many zero bytes: the operator of half as many, applied to itself. */
  private makeZeroOperator(power: number): Int32Array {
    const made = new Int32Array(4 * 256);
    for (let position = 0; position < 4; position++) {
      for (let bit = 0; bit < 8; bit++) {
        const register = (1 << (8 * position + bit)) & this.mask;
        made[position * 256 + (1 << bit)] = power === 0 ? this.oneZero(register) : this.twice(register, power - 1);
      }
      for (let byte = 3; byte < 256; byte++) {
        const highest = 1 << (31 - Math.clz32(byte));
        if (byte !== highest)
          made[position * 256 + byte] = made[position * 256 + highest] ^ made[position * 256 + (byte ^ highest)];
      }
    }
    this.zeroOperators[power] = made;
    return made;
  }

  private oneZero(register: number): number {
    return this.tables[register & 0xff] ^ (register >>> 8);
  }

  private twice(register: number, power: number): number {
    return this.zeroTail(this.zeroTail(register, 2 ** power), 2 ** power);
  }
}

function checkRange(bytes: Uint8Array, start: number, end: number): void {
  if (!(start >= 0 && start <= end && end <= bytes.length)) {
    throw new RangeError(`bytes ${start} to ${end} are not within an array of ${bytes.length}`);
  }
}

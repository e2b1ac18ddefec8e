import * as zlib from 'node:zlib';
import { crc32 as rustCrc32, crc32c as rustCrc32c } from '@node-rs/crc32';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CRC16, CRC32, CRC32C, type Crc, type CrcDefinition, pureCodecs, TableCrc } from '../src/index.js';
import { NativeCrc32, nodeCodecs } from '../src/node/index.js';

const full = process.env.CI !== undefined;
const runs = { numRuns: full ? 2000 : 200 };

/** The naive reference: one bit at a time. */
function bitwise(definition: CrcDefinition, register: number, bytes: Uint8Array): number {
  let crc = register;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ definition.polynomial : crc >>> 1;
  }
  return crc >>> 0;
}

const text = (characters: string): Uint8Array => new TextEncoder().encode(characters);
const bytesArbitrary = fc.uint8Array({ maxLength: 300 });
const nativeZlib = (zlib as { crc32?: (data: Uint8Array, value?: number) => number }).crc32;
const node = nodeCodecs();
const implementations: [string, Crc, CrcDefinition][] = [
  ['CRC-32C', pureCodecs().crc32c, CRC32C],
  ['CRC-32', pureCodecs().crc32, CRC32],
  ['CRC-16', pureCodecs().crc16, CRC16],
  ['CRC-32 of ./node', node.crc32, CRC32],
  ['CRC-32C of ./node', node.crc32c, CRC32C],
  ['CRC-32 with another native function', new NativeCrc32((data, value) => rustCrc32(data, value)), CRC32],
];

describe('check values', () => {
  it('of the catalogue of parametrised CRC algorithms ("123456789")', () => {
    const { crc32c, crc32, crc16 } = pureCodecs();
    expect(crc32c.checksum(text('123456789'))).toBe(0xe306_9283);
    expect(crc32.checksum(text('123456789'))).toBe(0xcbf4_3926);
    expect(crc16.checksum(text('123456789'))).toBe(0xbb3d);
    // CRC-16/MODBUS is the same with a register of all ones, as ext4 starts it.
    expect(crc16.update(0xffff, text('123456789'))).toBe(0x4b37);
  });

  it('of RFC 3720, appendix B.4, for CRC-32C', () => {
    const { crc32c } = pureCodecs();
    const ascending = Uint8Array.from({ length: 32 }, (_, at) => at);
    expect(crc32c.checksum(new Uint8Array(32))).toBe(0x8a91_36aa);
    expect(crc32c.checksum(new Uint8Array(32).fill(0xff))).toBe(0x62a8_ab43);
    expect(crc32c.checksum(ascending)).toBe(0x46dd_794e);
    expect(crc32c.checksum(ascending.reverse())).toBe(0x113f_db5c);
  });
});

describe.each(implementations)('%s', (_name, crc, definition) => {
  it('agrees with the bitwise definition, from any register and over any range', () => {
    fc.assert(
      fc.property(bytesArbitrary, fc.nat(), fc.nat(), fc.nat(), (bytes, a, b, seed) => {
        const [start, end] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y);
        const register = crc.width === 16 ? seed & 0xffff : seed;
        expect(crc.update(register, bytes, start, end)).toBe(bitwise(definition, register, bytes.subarray(start, end)));
        const whole = (bitwise(definition, definition.initial, bytes) ^ definition.finalXor) >>> 0;
        expect(crc.checksum(bytes)).toBe(whole);
      }),
      runs,
    );
  });

  it('can be computed in pieces', () => {
    fc.assert(
      fc.property(fc.array(bytesArbitrary, { maxLength: 5 }), (pieces) => {
        const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
        let register = crc.initial;
        for (const piece of pieces) register = crc.update(register, piece);
        expect((register ^ crc.finalXor) >>> 0).toBe(crc.checksum(whole));
      }),
      runs,
    );
  });

  it('zero tail: the same as going through the zeroes', () => {
    fc.assert(
      fc.property(bytesArbitrary, fc.nat(20_000), (bytes, count) => {
        const register = crc.update(crc.initial, bytes);
        expect(crc.zeroTail(register, count)).toBe(crc.update(register, new Uint8Array(count)));
      }),
      runs,
    );
    const register = crc.update(crc.initial, text('abc'));
    expect(crc.zeroTail(register, 0)).toBe(register);
    const many = new Uint8Array((1 << 20) + 12_345);
    expect(crc.zeroTail(register, many.length)).toBe(crc.update(register, many));
    expect(crc.zeroTail(crc.zeroTail(register, 0x7fff_ffff), 1)).toBe(
      crc.zeroTail(crc.zeroTail(register, 0x4000_0000), 0x4000_0000),
    );
  });

  it('delta: the same as computing the changed bytes anew, for checksum and register', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 5000 }),
        fc.nat(),
        fc.nat(60),
        fc.nat(),
        (bytes, a, b, seed) => {
          const start = a % bytes.length;
          const length = Math.min(b, bytes.length - start);
          const changed = bytes.slice();
          for (let at = 0; at < length; at++) changed[start + at] = (seed >>> (at % 20)) ^ at;
          const distance = bytes.length - start - length;
          const delta = (old: number): number => crc.delta(old, bytes, start, changed, start, length, distance);
          expect(delta(crc.checksum(bytes))).toBe(crc.checksum(changed));
          expect(delta(crc.update(crc.initial, bytes))).toBe(crc.update(crc.initial, changed));
          const part = changed.slice(start, start + length);
          expect(crc.delta(crc.checksum(bytes), bytes, start, part, 0, length, distance)).toBe(crc.checksum(changed));
        },
      ),
      runs,
    );
  });

  it('refuses ranges outside the array and lengths that are none', () => {
    const bytes = new Uint8Array(100);
    expect(() => crc.update(0, bytes, -1, 5)).toThrow(RangeError);
    expect(() => crc.update(0, bytes, 0, 101)).toThrow(/bytes 0 to 101 are not within an array of 100/);
    expect(() => crc.update(0, bytes, 5, 4)).toThrow(RangeError);
    expect(() => crc.zeroTail(0, -1)).toThrow(RangeError);
    expect(() => crc.zeroTail(0, 0.5)).toThrow(RangeError);
    expect(() => crc.zeroTail(0, 2 ** 31)).toThrow(RangeError);
    expect(() => crc.delta(0, bytes, 99, bytes, 0, 2, 0)).toThrow(RangeError);
  });
});

describe('known libraries', () => {
  it('CRC-32C and CRC-32 agree with the crc32fast and crc32c crates', () => {
    const { crc32, crc32c } = pureCodecs();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        expect(crc32.checksum(bytes)).toBe(rustCrc32(bytes));
        expect(crc32c.checksum(bytes)).toBe(rustCrc32c(bytes));
      }),
      runs,
    );
  });

  it.skipIf(nativeZlib === undefined)('CRC-32 agrees with zlib', () => {
    const { crc32 } = pureCodecs();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
        expect(crc32.checksum(bytes)).toBe(nativeZlib?.(bytes));
      }),
      runs,
    );
  });
});

describe('accelerator', () => {
  it('says what is native, and does without it', () => {
    expect(node.accelerated).toEqual(nativeZlib === undefined ? [] : ['CRC-32']);
    const without = nodeCodecs(null);
    expect(without.accelerated).toEqual([]);
    expect(without.crc32).toBeInstanceOf(TableCrc);
    expect(without.crc32).not.toBeInstanceOf(NativeCrc32);
  });

  it('uses the native function for long ranges only', () => {
    const lengths: number[] = [];
    const crc = new NativeCrc32((data, value) => {
      lengths.push(data.length);
      return rustCrc32(data, value);
    });
    const bytes = new Uint8Array(4096).fill(3);
    crc.update(0, bytes, 10, 20);
    crc.update(0, bytes, 10, 3010);
    crc.update(0, bytes);
    expect(lengths).toEqual([3000, 4096]);
  });
});

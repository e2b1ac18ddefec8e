import { expect, test } from 'vitest';
import { HashVersion, hashName } from '../src/format/hash.js';

const seed = Uint8Array.from('1b0c44d952aa4a638e70d3f1a2b4c5e6'.match(/../g) ?? [], (byte) =>
  Number.parseInt(byte, 16),
);
const none = new Uint8Array(16);
const out = { major: 0, minor: 0 };
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

test.each([
  ['hello.txt', HashVersion.halfMd4, false, seed, 0x84cc_ff2c],
  ['lost+found', HashVersion.halfMd4, false, seed, 0x9648_6ba4],
  ['hello.txt', HashVersion.tea, false, seed, 0x20a3_f894],
  ['hello.txt', HashVersion.halfMd4, false, none, 0xa26e_1d86],
  ['lost+found', HashVersion.tea, false, none, 0x2dbf_9e80],
  ['hello.txt', HashVersion.legacy, false, none, 0x65a0_5776],
  ['имя-名前-1', HashVersion.halfMd4, false, seed, 0x5df5_22b6],
  ['имя-名前-1', HashVersion.halfMd4, true, seed, 0xfa5b_da9a],
] as const)('%s hashes as debugfs says', (name, version, unsigned, salt, expected) => {
  expect(hashName(bytes(name), version, unsigned, salt, out).major.toString(16)).toBe(expected.toString(16));
});

test('the minor hash breaks ties', () => {
  expect(hashName('hello.txt', HashVersion.halfMd4, false, seed, out).minor).toBe(0x24a8_55b1);
});

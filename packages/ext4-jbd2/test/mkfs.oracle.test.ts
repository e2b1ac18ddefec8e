import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type MkfsOptions, mkfs } from '../src/index.js';
import { bytesAt, HASH_SEED, imageOf, save, TIME, UUID } from './images.js';
import { complaintsOf, e2fsprogsMissing, mke2fs } from './oracle.js';

const missing = e2fsprogsMissing('nothing confirms the file systems that mkfs makes');
const MIB = 2 ** 20;
const BLOCK = 4096;

function made(mib: number, options: Partial<MkfsOptions> = {}): MemoryDevice {
  const device = new MemoryDevice({ blockCount: (mib * MIB) / BLOCK });
  runTask(new Simulator(), mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, ...options }));
  return device;
}

/** Clears what mke2fs counts of its own writes, and the checksum over it, if a block holds a superblock. */
function mask(block: Uint8Array, number: number): void {
  const at = number === 0 ? 1024 : 0;
  if (block[at + 0x38] !== 0x53 || block[at + 0x39] !== 0xef) return;
  block.fill(0, at + 0x178, at + 0x180);
  block.fill(0, at + 0x3fc, at + 0x400);
}

/** Where a device and a file differ: `block+offset`. */
function differences(device: MemoryDevice, path: string): string[] {
  const file = openSync(path, 'r');
  const found: string[] = [];
  expect(fstatSync(file).size).toBe(device.blockCount * BLOCK);
  const theirs = new Uint8Array(MIB);
  for (let at = 0; at < device.blockCount * BLOCK; at += MIB) {
    readSync(file, theirs, 0, MIB, at);
    const ours = bytesAt(device, at, MIB);
    if (Buffer.compare(ours, theirs) === 0) continue;
    for (let from = 0; from < MIB; from += BLOCK) {
      const number = (at + from) / BLOCK;
      const [a, b] = [ours.subarray(from, from + BLOCK), theirs.subarray(from, from + BLOCK)];
      mask(a, number);
      mask(b, number);
      const where = a.findIndex((byte, offset) => byte !== b[offset]);
      if (where >= 0) found.push(`${number}+${where}`);
    }
  }
  closeSync(file);
  return found;
}

// Several groups, last groups that are too small, journals in several pieces, two flex groups and more.
const SIZES = process.env.CI
  ? [8, 20, 32, 128, 129, 256, 257, 300, 385, 513, 640, 2560, 4500, 20_000]
  : [8, 32, 129, 300, 385, 640];

test('the minimal profile of 32 MiB is the golden image', () => {
  const golden = imageOf('min-empty');
  const ours = made(32);
  for (let number = 0; number < ours.blockCount; number++) {
    const [a, b] = [ours, golden].map((device) => bytesAt(device, number * BLOCK, BLOCK));
    mask(a, number);
    mask(b, number);
    if (Buffer.compare(a, b) !== 0) expect(a, `block ${number}`).toEqual(b);
  }
});

describe.skipIf(missing)('mkfs', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-mkfs-`);
  const path = `${folder}/image`;

  test.each(SIZES)('writes for %i MiB what mke2fs writes', (mib) => {
    rmSync(path, { force: true });
    mke2fs(path, mib, TIME);
    expect(differences(made(mib), path)).toEqual([]);
  });

  test.each<[string, Partial<MkfsOptions>, string[]]>([
    ['no reserve', { reservedPercent: 0 }, ['-m', '0']],
    ['a label', { label: 'sixteen bytes ok' }, ['-L', 'sixteen bytes ok']],
    ['few inodes', { bytesPerInode: 65_536 }, ['-i', '65536']],
    ['many inodes', { bytesPerInode: 4096 }, ['-i', '4096']],
    ['a journal of its own size', { journalBlocks: 2048 }, ['-J', 'size=8']],
  ])('takes %s as mke2fs does', (_, options, args) => {
    rmSync(path, { force: true });
    mke2fs(path, 200, TIME, args);
    expect(differences(made(200, options), path)).toEqual([]);
  });

  test('leaves nothing of an older journal that could be replayed', () => {
    // The same device, uuid and numbers of transactions: what is left of the old log would be valid.
    const device = imageOf('k-fsync');
    runTask(new Simulator(), mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME }));
    expect(bytesAt(device, 0, 32 * MIB)).not.toEqual(bytesAt(imageOf('k-fsync'), 0, 32 * MIB));
    save(device, path);
    expect(complaintsOf(path, TIME)).toEqual([]);
    const magic = Buffer.from([0xc0, 0x3b, 0x39, 0x98]);
    const journal = [...Array(device.blockCount / 4).keys()].filter(
      (number) => Buffer.compare(bytesAt(device, number * BLOCK, 1024).subarray(0, 4), magic) === 0,
    );
    expect(journal).toHaveLength(1);
  });
});

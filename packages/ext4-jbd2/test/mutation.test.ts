import type { BlockDevice } from '@flashstack/block-device';
import { RandomSource, type RandomStream, runTask, Simulator, type Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { put16, put32, u16, u32 } from '../src/format/bytes.js';
import { superblockChecksum } from '../src/format/checksums.js';
import { sealLeaf } from '../src/format/dir-block.js';
import { EXTENT_ENTRY, sealNode } from '../src/format/extents.js';
import { SB } from '../src/format/superblock.js';
import { fsck, needsRecovery, readAttributes, readContents, readEntries, recover, Volume } from '../src/index.js';
import { blocksOf, CLEAN, imageOf, LOGS, list, patch } from './images.js';

const CASES = process.env.CI ? 5000 : 500;
const BLOCK = 4096;
const run = <T>(task: Parameters<typeof runTask<T>>[1]): T => runTask(new Simulator(), task);

/** Numbers at which code that reads a format may go wrong. */
const EDGES = [
  0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x8001, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff,
];

/** Changes one field of 1, 2 or 4 bytes of a range. */
function change(bytes: Uint8Array, random: RandomStream, from: number, end: number): void {
  const size = 1 << random.below(3);
  const at = from + size * random.below(Math.floor((end - from) / size));
  const value = random.below(2) === 0 ? EDGES[random.below(EDGES.length)] : random.nextU32();
  if (size === 1) bytes[at] = value;
  else if (size === 2) put16(bytes, at, value);
  else put32(bytes, at, value);
}

/** Changes a structure and makes its checksum right again, so that what reads it comes past the checksum. */
type Mutation = (volume: Volume, device: BlockDevice, name: string, random: RandomStream) => void;

const mutations: readonly Mutation[] = [
  // Anything, anywhere.
  (_, device, name, random) => {
    const blocks = blocksOf(name);
    const number = blocks[random.below(blocks.length)];
    patch(device, number * BLOCK, (bytes) => change(bytes, random, 0, BLOCK), BLOCK);
  },
  (_, device, __, random) => {
    patch(device, 1024, (sb) => {
      change(sb, random, 0, 0x290);
      put32(sb, SB.s_checksum, superblockChecksum(sb));
    });
  },
  ({ geometry, sums }, device, _, random) => {
    patch(device, (geometry.firstDataBlock + 1) * geometry.blockBytes, (table) => {
      change(table, random, 0, geometry.descriptorBytes);
      if (sums.on || sums.groupsOnly) put16(table, 0x1e, sums.group(0, table, 0));
    });
  },
  ({ geometry, sums, ...rest }, device, _, random) => {
    const ino = random.below(3) === 0 ? [2, 7, 8, 11, 12][random.below(5)] : 1 + random.below(40);
    const table = u32(rest.descriptors, 8);
    patch(
      device,
      table * geometry.blockBytes + (ino - 1) * geometry.inodeBytes,
      (record) => {
        change(record, random, 0, geometry.inodeBytes);
        sums.sealInode(ino, record, 0);
      },
      geometry.inodeBytes,
    );
  },
  // What an inode leads to: a directory's first block, or a node of extents.
  (volume, device, _, random) => {
    const { geometry, sums } = volume;
    const ino = [2, 8, 11, 12, 13, 14, 15][random.below(7)];
    const { bytes, record } = run(volume.inode(ino));
    const place = u16(bytes, 0x28 + 6) > 0 ? u32(bytes, 0x28 + 16) : u32(bytes, 0x28 + 20);
    if (place === 0 || place >= geometry.blocks) return;
    const seed = sums.inodeSeed(ino, record.generation);
    patch(
      device,
      place * geometry.blockBytes,
      (block) => {
        change(block, random, 0, random.below(2) === 0 ? 64 : block.length);
        if (!sums.on) return;
        if (record.mode >>> 12 === FileKind.directory) sealLeaf(seed, block);
        else if (u16(bytes, 0x28 + 6) > 0 && EXTENT_ENTRY * (u16(block, 4) + 1) + 4 <= block.length)
          sealNode(seed, block);
      },
      geometry.blockBytes,
    );
  },
];

/** Reads the inodes that mutations change, and with `all` the whole tree. */
function* readVolume(volume: Volume, all: boolean): Task<void> {
  if (all) yield* list(volume, false);
  for (let ino = 1; ino <= 40; ino++) {
    const inode = yield* volume.inode(ino);
    yield* readAttributes(volume, inode);
    const kind = inode.record.mode >>> 12;
    if (kind === FileKind.directory) yield* readEntries(volume, inode);
    else if (kind === FileKind.regular && inode.record.size < 1 << 16)
      yield* readContents(volume, inode, () => undefined);
  }
}

/** The error that a task ends with must say what is wrong, and where. */
function judged(task: () => void, what: string): boolean {
  try {
    task();
    return true;
  } catch (error) {
    if (!(error instanceof FsError)) throw new Error(what, { cause: error });
    expect(['EINVAL', 'EUCLEAN', 'EIO', 'ENOTDIR'], what).toContain(error.code);
    expect(error.message, what).toMatch(/superblock|descriptor|group|inode|directory|journal|revoke|replay|block/);
    return false;
  }
}

test(`${CASES} damaged images end in a result or an error that names structure and place`, () => {
  const source = new RandomSource(2026);
  const names = [...CLEAN.filter((name) => name !== 'def-groups'), ...LOGS];
  let [read, refused, complaints] = [0, 0, 0];
  for (let at = 0; at < CASES; at++) {
    const random = source.stream(`case ${at}`);
    const name = names[random.below(names.length)];
    const device = imageOf(name);
    const volume = run(Volume.open(device));
    for (let left = 1 + random.below(3); left > 0; left--) {
      mutations[random.below(mutations.length)](volume, device, name, random);
    }
    const what = `case ${at}, ${name}`;
    if (judged(() => run(readVolume(run(Volume.open(device)), at % 20 === 0)), what)) read++;
    else refused++;
    if (at % 10 === 0)
      judged(() => {
        complaints += run(fsck(device)).length;
      }, `${what}, fsck`);
    judged(() => {
      const damaged = run(Volume.open(device));
      if (needsRecovery(damaged) || random.below(4) === 0) run(recover(damaged));
    }, `${what}, recovery`);
  }
  // Neither all refused nor all read: the mutations come past the checksums, and matter.
  for (const count of [read, refused]) expect(count).toBeGreaterThan(CASES / 10);
  expect(complaints).toBeGreaterThan(CASES / 100);
});

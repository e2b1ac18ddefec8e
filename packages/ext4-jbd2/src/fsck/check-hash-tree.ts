import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { entryInode, entryLength, entryName, TAIL_BYTES } from '../format/dir-block.js';
import { hashName } from '../format/hash.js';
import {
  checkIndex,
  hashVersionOf,
  indexBlock,
  indexCount,
  indexHash,
  levelsOf,
  NODE_INDEX,
  ROOT_INDEX,
} from '../format/htree.js';
import { readMap } from '../volume/file-map.js';
import type { StoredInode } from '../volume/volume.js';
import type { Findings } from './findings.js';

/** Above every hash. */
const HASH_END = 2 ** 32;
/** Versions from here on take the bytes of names as unsigned. */
const UNSIGNED = 3;

/**
 * Checks that every block of an indexed directory is led to once, and that its names hash to where it is.
 * @throws FsError EUCLEAN for damage that stops the check
 */
export function* checkHashTree(findings: Findings, directory: StoredInode): Task<void> {
  const { volume, geometry } = findings;
  const { sums } = volume;
  const { ino, record } = directory;
  const places: number[] = [];
  for (const { length, physical } of (yield* readMap(volume, directory)).extents) {
    for (let at = 0; at < length; at++) places.push(physical + at);
  }
  const seed = sums.inodeSeed(ino, record.generation);
  const seen = new Uint8Array(places.length);
  const enter = (logical: number): void => {
    if (seen[logical]++ !== 0) throw new FsError('EUCLEAN', `index: two entries lead to block ${logical}`);
  };

  function* walk(logical: number, offset: number, levels: number, from: number, to: number): Task<void> {
    const where = `index, block ${logical}`;
    const block = yield* volume.block(places[logical], Origin.directory, where);
    checkIndex(block, offset, sums.on, seed, places.length, where);
    const count = indexCount(block, offset);
    for (let entry = 0; entry < count; entry++) {
      const child = indexBlock(block, offset, entry);
      const low = entry === 0 ? from : indexHash(block, offset, entry);
      const high = entry + 1 < count ? indexHash(block, offset, entry + 1) : to;
      enter(child);
      if (levels > 0) yield* walk(child, NODE_INDEX, levels - 1, low, high);
      else yield* leaf(child, low, high);
    }
  }
  let version = 0;
  const hash = { major: 0, minor: 0 };
  function* leaf(logical: number, low: number, high: number): Task<void> {
    const block = yield* volume.block(places[logical], Origin.directory, `index, leaf ${logical}`);
    const end = sums.on ? block.length - TAIL_BYTES : block.length;
    // Bit 0 of a border: the names with its hash go on behind it.
    const last = high % 2 === 1 ? high : high - 1;
    for (let at = 0; at < end; at += entryLength(block, at)) {
      if (entryInode(block, at) === 0) continue;
      const name = entryName(block, at);
      const unsigned = geometry.unsignedHash || version >= UNSIGNED;
      const { major } = hashName(name, version % UNSIGNED, unsigned, geometry.hashSeed, hash);
      if (major < low - (low % 2) || major > last) {
        const range = `0x${low.toString(16)} to 0x${last.toString(16)}`;
        findings.add(
          'directory',
          ino,
          `${name} hashes to 0x${major.toString(16)}, but lies in leaf ${logical} for ${range}`,
        );
      }
    }
  }
  const root = yield* volume.block(places[0], Origin.directory, 'index, root');
  version = hashVersionOf(root);
  enter(0);
  yield* walk(0, ROOT_INDEX, levelsOf(root), 0, HASH_END);
  const lost = seen.indexOf(0);
  if (lost >= 0) findings.add('directory', ino, `nothing in the index leads to block ${lost}`);
}

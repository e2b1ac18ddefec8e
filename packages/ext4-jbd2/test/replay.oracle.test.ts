import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { runTask, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { recover, Volume } from '../src/index.js';
import { bytesAt, imageOf, LOGS, save, TIME } from './images.js';
import { e2fsck, e2fsprogsMissing } from './oracle.js';

const missing = e2fsprogsMissing('nothing confirms the replay of journals');
const SUPERBLOCK = 1024;
// What e2fsck counts in the superblock besides: time and number of the check, KiB written, state, and its checksum.
const COUNTED = [
  [0x2c, 0x44],
  [0x178, 0x180],
  [0x3fc, 0x400],
] as const;

// It also frees the inode that the log of `k-crash` leaves on the list of orphans: its record, bitmaps, counts.
const ORPHANS: Readonly<Record<string, readonly (readonly [from: number, end: number])[]>> = {
  'k-crash': [
    [SUPERBLOCK + 0xc, SUPERBLOCK + 0x14],
    [SUPERBLOCK + 0xe8, SUPERBLOCK + 0xec],
    [4096, 4096 + 64],
    [2 * 4096, 3 * 4096],
    [18 * 4096, 19 * 4096],
    [457_984, 457_984 + 256],
  ],
};

/** Places where two images differ, less what e2fsck counts. */
function differences(name: string, ours: Uint8Array, theirs: Uint8Array): number[] {
  const places: number[] = [];
  for (let at = 0; at < ours.length; at++) {
    if (ours[at] === theirs[at]) continue;
    const field = at - SUPERBLOCK;
    const spared = COUNTED.some(([from, end]) => field >= from && field < end);
    if (!spared && !ORPHANS[name]?.some(([from, end]) => at >= from && at < end)) places.push(at);
  }
  return places;
}

describe.skipIf(missing)('a recovery', () => {
  test.each(LOGS)('of %s leaves the bytes that e2fsck -E journal_only leaves', (name) => {
    const folder = mkdtempSync(`${tmpdir()}/flashstack-replay-`);
    const device = imageOf(name);
    save(device, `${folder}/theirs`);
    runTask(
      new Simulator(),
      (function* () {
        yield* recover(yield* Volume.open(device));
      })(),
    );
    const { status } = e2fsck(`${folder}/theirs`, ['-y', '-E', 'journal_only'], TIME);
    expect(status).toBeLessThan(2);
    const theirs = readFileSync(`${folder}/theirs`);
    const ours = bytesAt(device, 0, theirs.length);
    expect(differences(name, ours, theirs)).toEqual([]);
  });
});

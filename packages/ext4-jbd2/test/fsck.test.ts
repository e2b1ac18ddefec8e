import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { fsck, mkfs, recover, Volume } from '../src/index.js';
import { DAMAGES, damaged } from './damage.js';
import { CLEAN, HASH_SEED, imageOf, LOGS, save, TIME, UUID } from './images.js';
import { complaintsOf, e2fsprogsMissing } from './oracle.js';

const run = <T>(task: Parameters<typeof runTask<T>>[1]): T => runTask(new Simulator(), task);
const NOW = 1_900_000_000;

test.each(CLEAN)('%s is clean', (name) => {
  expect(run(fsck(imageOf(name), { nowSec: NOW }))).toEqual([]);
});

test.each(LOGS)('%s is clean after its recovery, but for what Linux does not log', (name) => {
  const device = imageOf(name);
  run(recover(run(Volume.open(device))));
  const problems = run(fsck(device, { nowSec: NOW }));
  // The superblock's totals are written at unmount only.
  const others = problems.filter(({ reason }) => !/^s_free_(blocks|inodes)_count/.test(reason));
  expect(others).toEqual([]);
});

test.each([8, 32, 129, 300, 640])('what mkfs makes of %i MiB is clean', (mib) => {
  const device = new MemoryDevice({ blockCount: mib * 256 });
  run(mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME }));
  expect(run(fsck(device, { nowSec: TIME }))).toEqual([]);
});

test.each(DAMAGES.map((damage) => [damage.name, damage] as const))('%s is found', (_, damage) => {
  expect(run(fsck(damaged(damage), { nowSec: TIME + 86_400 })).length).toBeGreaterThan(0);
});

describe.skipIf(e2fsprogsMissing('nothing confirms what fsck finds'))('e2fsck -fn', () => {
  const path = `${mkdtempSync(`${tmpdir()}/flashstack-fsck-`)}/image`;

  test.each(CLEAN)('is silent about %s as well', (name) => {
    save(imageOf(name), path);
    expect(complaintsOf(path, NOW)).toEqual([]);
  });

  const loud = DAMAGES.filter(({ quiet }) => quiet !== true);
  const some = process.env.CI ? loud : loud.filter((_, at) => at % 4 === 0);

  test.each(some.map((damage) => [damage.name, damage] as const))('complains about %s as well', (_, damage) => {
    save(damaged(damage), path);
    expect(complaintsOf(path, TIME + 86_400).length).toBeGreaterThan(0);
  });
});

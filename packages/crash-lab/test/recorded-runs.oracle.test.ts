import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guestMissing } from '@flashstack/linux-guest';
import { RandomSource } from '@flashstack/sim';
import { afterAll, expect, test } from 'vitest';
import { missingForKernel } from '../src/node/index.js';
import { acknowledgedMissing, operationsOf } from './recorded/acknowledged.js';
import { imagesOf, imageWithout, openRecording, type RecordedImage, thinBase } from './recorded/recording.js';
import { type RealFileSystem, type Recovered, Recoveries } from './recorded/recoveries.js';

// Power cuts of recorded runs: what the drive could have held is enumerated as for simulated runs, recovered by a kernel,
// and compared with what the recorded program had been promised.

const long = process.env.FLASHSTACK_LONG !== undefined;
const full = long || process.env.CI !== undefined;
/** The aged part of the volumes is not listed: 60 MB for each image. */
const WITHOUT = ['old', 'lost+found'];

const folder = mkdtempSync(join(tmpdir(), 'flashstack-recorded-runs-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Runs = Readonly<Record<string, RealFileSystem>>;
const onExt4: Runs = {
  'ext4-a': { type: 'ext4', options: 'data=ordered' },
  'ext4-b': { type: 'ext4', options: 'data=journal' },
};
const onF2fs: Runs = {
  'f2fs-a': { type: 'f2fs', options: 'fsync_mode=posix,mode=adaptive' },
  'f2fs-b': { type: 'f2fs', options: 'fsync_mode=strict,mode=lfs' },
};
/** Drives, and about how many images of each. */
const drives = [
  { model: 'volatile', onExt4: long ? 2000 : full ? 40 : 6, onF2fs: long ? 500 : full ? 20 : 4 },
  { model: 'lying(60)', onExt4: 4, onF2fs: 3 },
  { model: 'lying(120)', onExt4: 4, onF2fs: 3 },
] as const;

/** Block that operation 73 of `f2fs-b` overwrites block 0 of its file with, out of place. */
const OVERWRITTEN = 153_382_912 / 4096;

interface Asked extends RecordedImage {
  readonly recording: string;
  readonly model: string;
}

/** Adds a recovery of each image. */
function ask(jobs: Recoveries, runs: Runs, images: 'onExt4' | 'onF2fs'): Asked[] {
  const asked: Asked[] = [];
  for (const [name, system] of Object.entries(runs)) {
    const recording = openRecording(name, folder);
    if (images === 'onExt4') jobs.load(name, recording.base);
    else jobs.assemble(name, 4096 * recording.device.blockCount, thinBase(recording));
    for (const { model, [images]: about } of drives) {
      const random = new RandomSource(long ? 2 : 1);
      for (const image of imagesOf(recording, { model, about, nothingKept: model !== 'volatile', random })) {
        jobs.recover(name, system, image.blocks, WITHOUT);
        asked.push({ ...image, recording: name, model });
      }
    }
    if (name !== 'f2fs-b') continue;
    const image = imageWithout(recording, 'B 73 ', OVERWRITTEN);
    jobs.recover(name, system, image.blocks, WITHOUT);
    asked.push({ ...image, recording: name, model: 'volatile' });
  }
  return asked;
}

/** What is wrong with a recovered image. */
function complaints({ marks, recording }: Asked, { tree, error }: Recovered): string[] {
  if (tree === null) return [error];
  return acknowledgedMissing(operationsOf(marks), tree, recording in onExt4).map(
    ({ rule, path, text }) => `${rule} ${path}: ${text}`,
  );
}

function check(asked: readonly Asked[], answers: readonly Recovered[]): void {
  const recovered = answers.filter(({ tree, error }) => tree !== null || error !== '');
  expect(recovered.length).toBe(asked.length);
  let lies = 0;
  for (const [index, image] of asked.entries()) {
    const found = complaints(image, recovered[index]);
    const where = `${image.recording} on a drive that is ${image.model}, ${image.marks.length} marks`;
    if (image.model === 'volatile') expect(found, where).toEqual([]);
    else if (image.marks.some((mark) => mark.startsWith('A '))) {
      expect(found.length, where).toBeGreaterThan(0);
      lies++;
    }
  }
  expect(lies).toBeGreaterThan(5);
}

const lacks = missingForKernel('ext4');
if (lacks !== '' && process.env.CI !== undefined) throw new Error(`recovery by ext4 needs ${lacks}`);

test.skipIf(lacks !== '')(`ext4 of this kernel recovers what had been promised${lacks && ` (needs ${lacks})`}`, () => {
  const jobs = new Recoveries();
  try {
    const asked = ask(jobs, onExt4, 'onExt4');
    check(asked, jobs.runHere());
  } finally {
    jobs.dispose();
  }
});

test.skipIf(guestMissing('nothing shows that F2FS recovers recorded runs'))(
  'F2FS in the guest recovers what had been promised',
  async () => {
    const jobs = new Recoveries();
    try {
      const asked = ask(jobs, onF2fs, 'onF2fs');
      const recovered = await jobs.runInGuest();
      check(asked, recovered);
      // F2FS does not wait for data before it writes the node that leads to them: old data are lost with the new.
      const { marks } = asked[asked.length - 1];
      const { tree } = recovered[recovered.length - 1];
      if (tree === null) throw new Error('check has seen to that');
      const [violation, ...others] = acknowledgedMissing(operationsOf(marks), tree, true);
      expect(violation).toMatchObject({ rule: 'R7', path: 'd55/w67' });
      expect(others).toEqual([]);
    } finally {
      jobs.dispose();
    }
  },
);

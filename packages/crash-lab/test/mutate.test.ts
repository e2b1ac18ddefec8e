import { checkMiniJournal, formatMiniJournal, MiniJournalFs, miniJournalImage } from '@flashstack/mini-journal';
import { InputError } from '@flashstack/sim';
import { describe, expect, it } from 'vitest';
import { type CrashSubject, DURABILITY_RULES, ImageMutation, sampleImage } from '../src/index.js';
import { full, miniJournalSubject } from './subjects.js';

/** Of each of the two images. */
const COUNT = full ? 500 : 50;

const subject: CrashSubject = {
  name: 'mini-journal',
  blocks: 256,
  rules: DURABILITY_RULES['mini-journal'],
  check: (device) => checkMiniJournal(device),
  scheme: {
    onDevice: true,
    format: (device) => formatMiniJournal(device, { inodes: 48 }),
    open: (device, environment) => new MiniJournalFs(device, environment),
    image: miniJournalImage,
  },
};

describe('damaged mini-journal images', () => {
  for (const unmounted of [true, false]) {
    it(`${COUNT} of one ${unmounted ? 'unmounted' : 'with a log'} end in a result or an error that names a structure`, () => {
      const mutation = new ImageMutation(subject, sampleImage(subject, unmounted), { seed: 2026 });
      const { outcomes, failures, byStructure } = mutation.runMany(0, COUNT);
      expect(failures.slice(0, 5)).toEqual([]);
      // Damage comes past the checksums, and is seen: neither all refused nor all unnoticed.
      expect(outcomes.refused).toBeGreaterThan(COUNT / 20);
      expect(outcomes.unnoticed).toBeGreaterThan(COUNT / 20);
      expect([...byStructure.keys()]).toEqual(
        expect.arrayContaining(['superblock', 'bitmap', 'inode', 'directory', 'indirect', 'journal', 'image']),
      );
    }, 120_000);
  }

  it('the same seed and number make the same mutant, and the same end', () => {
    const image = sampleImage(subject, true);
    const [one, other] = [1, 2].map(() => new ImageMutation(subject, image, { seed: 5 }));
    one.runMany(0, 5);
    for (const number of [40, 3]) {
      expect(one.mutations(number)).toEqual(other.mutations(number));
      expect(one.run(one.mutations(number))).toEqual(other.run(other.mutations(number)));
    }
  });
});

describe('what a file system must not do', () => {
  /** Opens the file system, and does this when it is mounted. */
  function broken(mount: () => never): CrashSubject {
    const open: CrashSubject['scheme']['open'] = (device, environment) => {
      const fileSystem = subject.scheme.open(device, environment);
      fileSystem.mount = mount;
      return fileSystem;
    };
    return { ...subject, scheme: { ...subject.scheme, open } };
  }

  it('an exception of another kind is a failure, cut down to one change', () => {
    const image = sampleImage(subject, true);
    const thrown = broken(() => {
      throw new TypeError('of undefined');
    });
    const { failures } = new ImageMutation(thrown, image).runMany(0, 3);
    expect(failures.map(({ end, mutations }) => [end.outcome, end.phase, mutations.length])).toEqual(
      Array(3).fill(['exception', 'mount', 1]),
    );
    expect(failures[0].end.text).toContain('TypeError: of undefined');
  });

  it('more I/O than its budget is one that never ends', () => {
    const image = sampleImage(subject, true);
    const { outcomes } = new ImageMutation(subject, image, { budget: { requests: 2 } }).runMany(0, 20);
    expect(outcomes.endless).toBeGreaterThan(10);
  });

  it('a file system that does not tell its format is an error', () => {
    expect(() => new ImageMutation(miniJournalSubject(), new Uint8Array(4096))).toThrow(InputError);
  });
});

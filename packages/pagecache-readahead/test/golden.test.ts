import { expect, test } from 'vitest';
import { Linux6Readahead, Linux2637Readahead, NoReadahead, type ReadaheadLimits } from '../src/index.js';
import { fixture, type Pattern, Player, type Run, type Step } from './patterns.js';

const patterns = fixture<readonly Pattern[]>('readahead-linux-6.18.json.gz');
const limitsOf = ({ readAheadKb, maxSectorsKb }: Pattern): ReadaheadLimits => ({
  raPages: readAheadKb / 4,
  ioPages: maxSectorsKb / 4,
});
/** The steps as a player sees them, in the form of the record. */
const played = (player: Player, steps: readonly Step[]): Step[] =>
  steps.map(([text]) => {
    const { came, went } = player.step(text);
    return went.length > 0 ? [text, came, went] : [text, came];
  });

test.each(patterns)('linux-6 does what Linux 6.18 did: $name', (pattern) => {
  const { steps } = pattern.runs.order0;
  const player = new Player(new Linux6Readahead(), pattern.filePages, limitsOf(pattern));
  expect(played(player, steps)).toEqual(steps);
});

test.each(patterns)('linux-6 with large folios does what Linux 6.18 did: $name', (pattern) => {
  const { steps } = pattern.runs.large;
  const player = new Player(new Linux6Readahead(), pattern.filePages, limitsOf(pattern), true);
  expect(played(player, steps)).toEqual(steps);
});

const legacy = fixture<{
  readonly patterns: Readonly<
    Record<string, { filePages: number; raPages: number; reads: readonly [number, readonly Run[]][] }>
  >;
}>('readahead-linux-2.6.37.json.gz').patterns;

test.each(Object.entries(legacy))('linux-2.6.37 sends the requests of the independent model: %s', (name, expected) => {
  const pattern = patterns.find((candidate) => candidate.name === name) as Pattern;
  const limits = { raPages: expected.raPages, ioPages: 320 };
  const player = new Player(new Linux2637Readahead(), expected.filePages, limits);
  const reads = pattern.runs.order0.steps
    .map(([text], at) => [at, player.step(text).fetched] as const)
    .filter(([, fetched]) => fetched.length > 0);
  expect(reads).toEqual(expected.reads);
});

// Over MTD a device has neither a window nor a request size: every policy reads page by page there.
const mtd = fixture<{ readonly fs: Readonly<Record<string, Readonly<Record<string, readonly Step[]>>>> }>(
  'readahead-mtd-6.12.json.gz',
).fs;
const overMtd = ['jffs2', 'ubifs'].flatMap((fs) =>
  Object.entries(mtd[fs])
    .filter(([, steps]) => Array.isArray(steps))
    .map(([name, steps]) => [`${fs} ${name}`, steps] as const),
);

test('there are patterns over MTD', () => expect(overMtd.length).toBe(3));

test.each(overMtd)('nothing is read ahead over MTD: %s', (_, steps) => {
  for (const policy of [new Linux6Readahead(), new NoReadahead()]) {
    const player = new Player(policy, 1280, { raPages: 0, ioPages: 0 });
    expect(played(player, steps)).toEqual(steps);
  }
});

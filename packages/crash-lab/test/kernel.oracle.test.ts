import { describe, expect, it } from 'vitest';
import {
  boundedWorkloads,
  DURABILITY_RULES,
  Judge,
  KNOWN_BUGS,
  randomWorkload,
  type Step,
  type Tree,
  type Workload,
} from '../src/index.js';
import { type KernelOutcome, type KernelVolume, missingForKernel, runOnKernel } from '../src/node/index.js';
import { full, long } from './support.js';

const lacks = missingForKernel('ext4');
if (lacks !== '' && full) throw new Error(`running workloads on ext4 needs ${lacks}`);
const skipped = lacks && ` (needs ${lacks})`;

function volume(mode: string): KernelVolume {
  const formatArguments = ['-b', '4096', '-J', 'size=4', '-E', 'lazy_itable_init=0,lazy_journal_init=0'];
  return { fileSystem: 'ext4', mountOptions: `data=${mode}`, formatArguments, bytes: 16 * 2 ** 20 };
}

/** What the judge says of each outcome, as far as it says something. */
function complaints(outcomes: readonly KernelOutcome[], mode: string): string[] {
  return outcomes.flatMap(({ history, tree, error }) => {
    const steps = JSON.stringify(history.workload.processes[0]);
    if (tree === null) return [`${steps}: ${error}`];
    const violations = new Judge(history, DURABILITY_RULES[`ext4-${mode}`]).judge(Number.POSITIVE_INFINITY, tree);
    return violations.map(({ rule, path, text }) => `${steps}: ${rule} ${path}: ${text}`);
  });
}

const sampled = (length: number, count: number, seed: number): Workload[] => [
  ...boundedWorkloads({ length, persistence: 'anywhere' }, { sample: { count, seed } }),
];
const random = (count: number, steps: number): Workload[] =>
  Array.from({ length: count }, (_, seed) => randomWorkload({ steps, seed: seed + 1 }));
const times = long ? 20 : full ? 1 : 0;

const batches: readonly [mode: string, what: string, workloads: readonly Workload[]][] = [
  ['ordered', 'workloads of one operation', sampled(1, full ? 308 : 30, 1)],
  ['ordered', 'workloads of two operations', sampled(2, 300 * times || 30, 2)],
  ['ordered', 'random workloads', random(150 * times || 20, 12)],
  ['ordered', 'workloads that once showed bugs', KNOWN_BUGS.map(({ workload }) => workload)],
  ['journal', 'workloads of two operations', sampled(2, 100 * times || 10, 3)],
  ['journal', 'random workloads', random(50 * times || 5, 12)],
  ['writeback', 'workloads of two operations', sampled(2, 100 * times || 10, 4)],
  ['writeback', 'random workloads', random(50 * times || 5, 12)],
];

/** Sequences and whether something of the tree is as it was before them, as has been observed of Linux 6.18. */
const table: readonly [name: string, steps: readonly Step[], check: (tree: Tree) => boolean][] = [
  [
    'append; fsync',
    [
      ['append', 'foo', 5000],
      ['fsync', 'foo'],
    ],
    (tree) => tree.get('foo')?.size === 13_192,
  ],
  [
    'append; fdatasync',
    [
      ['append', 'foo', 5000],
      ['fdatasync', 'foo'],
    ],
    (tree) => tree.get('foo')?.size === 13_192,
  ],
  [
    'create; append; fdatasync',
    [
      ['create', 'bar'],
      ['append', 'bar', 5000],
      ['fdatasync', 'bar'],
    ],
    (tree) => tree.get('bar')?.size === 5000,
  ],
  [
    'create; fsync of the directory',
    [
      ['create', 'A/bar'],
      ['fsync', 'A'],
    ],
    (tree) => tree.has('A/bar'),
  ],
  ['append with O_SYNC', [['append-sync', 'foo', 5000]], (tree) => tree.get('foo')?.size === 13_192],
  ['append with O_DSYNC', [['append-dsync', 'foo', 5000]], (tree) => tree.get('foo')?.size === 13_192],
  [
    'blocks behind the end; fdatasync',
    [
      ['fallocate', 'foo', 'keep-size', 8192, 16_384],
      ['fdatasync', 'foo'],
    ],
    (tree) => tree.get('foo')?.sectors === 48,
  ],
  [
    'chmod; fdatasync is lost',
    [
      ['chmod', 'foo', 0o600],
      ['fdatasync', 'foo'],
    ],
    (tree) => tree.get('foo')?.mode === 0o644,
  ],
  [
    'rename; create; fsync',
    [
      ['rename', 'foo', 'bar'],
      ['create', 'foo'],
      ['fsync', 'foo'],
    ],
    (tree) => tree.get('foo')?.size === 0 && tree.get('bar')?.size === 8192,
  ],
  [
    'rename of a directory; create in it; fsync',
    [
      ['rename', 'A', 'C'],
      ['create', 'C/bar'],
      ['fsync', 'C/bar'],
    ],
    (tree) => tree.has('C/bar') && tree.has('C/foo') && !tree.has('A'),
  ],
  [
    'link; fdatasync loses the link',
    [
      ['link', 'foo', 'bar'],
      ['fdatasync', 'foo'],
    ],
    (tree) => !tree.has('bar'),
  ],
  [
    'rename out of a directory; fsync of it',
    [
      ['rename', 'A/foo', 'bar'],
      ['fsync', 'A'],
    ],
    (tree) => tree.has('bar') && !tree.has('A/foo'),
  ],
  [
    'append; rename over another; fsync of the directory',
    [
      ['append', 'foo', 5000],
      ['rename', 'foo', 'A/foo'],
      ['fsync', 'A'],
    ],
    (tree) =>
      tree
        .get('A/foo')
        ?.contents.subarray(12_800, 13_192)
        .some((byte) => byte !== 0) === true,
  ],
  [
    'create; append; rename over another, without a sync',
    [
      ['create', 'bar'],
      ['append', 'bar', 5000],
      ['rename', 'bar', 'foo'],
    ],
    (tree) => tree.get('foo')?.size === 8192 && !tree.has('bar'),
  ],
];

describe('a real ext4', () => {
  it.skipIf(lacks !== '')(`leaves what is known of it${skipped}`, { timeout: 600_000 }, () => {
    const base = 'two files with attributes';
    const outcomes = runOnKernel(
      table.map(([, steps]) => ({ base, processes: [steps], seed: 1 })),
      volume('ordered'),
    );
    const wrong = outcomes.flatMap(({ tree }, at) => (tree !== null && table[at][2](tree) ? [] : [table[at][0]]));
    expect(wrong.join()).toBe('');
    expect(complaints(outcomes, 'ordered')).toEqual([]);
  });
});

describe('what a real ext4 leaves of workloads that are cut off is right to the judge', () => {
  for (const [mode, what, workloads] of batches) {
    it.skipIf(lacks !== '')(`${workloads.length} ${what}, data=${mode}${skipped}`, { timeout: 600_000 }, () => {
      const outcomes = runOnKernel(workloads, volume(mode));
      expect(outcomes.length).toBe(workloads.length);
      expect(complaints(outcomes, mode)).toEqual([]);
    });
  }
});

import { describe, expect, it } from 'vitest';
import { boundedWorkloads, DURABILITY_RULES, Judge, randomWorkload, type Workload } from '../src/index.js';
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
  ['journal', 'workloads of two operations', sampled(2, 100 * times || 10, 3)],
  ['journal', 'random workloads', random(50 * times || 5, 12)],
  ['writeback', 'workloads of two operations', sampled(2, 100 * times || 10, 4)],
  ['writeback', 'random workloads', random(50 * times || 5, 12)],
];

describe('what a real ext4 leaves of workloads that are cut off is right to the judge', () => {
  for (const [mode, what, workloads] of batches) {
    it.skipIf(lacks !== '')(`${workloads.length} ${what}, data=${mode}${skipped}`, { timeout: 600_000 }, () => {
      const outcomes = runOnKernel(workloads, volume(mode));
      expect(outcomes.length).toBe(workloads.length);
      expect(complaints(outcomes, mode)).toEqual([]);
    });
  }
});

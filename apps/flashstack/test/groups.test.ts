import type { ExperimentResult } from '@flashstack/experiment';
import { expect, test } from 'vitest';
import { differencesOf, groupsOf, type NamedRun } from '../src/groups.js';

/** A result of which only the spec matters. */
function run(system: Readonly<Record<string, unknown>>, keeps: string, seed = 1): NamedRun {
  const spec = { seed, device: { name: 'drive', keeps }, system, workload: { kind: 'file-jobs' } };
  return { name: 'whole-stack', result: { spec, partial: null } as unknown as ExperimentResult };
}

const memfs = { name: 'memfs', parameters: {} };
const journal = { name: 'mini-journal', parameters: { commitIntervalNs: 5e9, inodes: 0, journalBlocks: 0 } };
const namesOf = (...runs: NamedRun[]): string[] => groupsOf(runs).map(({ name }) => name);

test('files of the same name are told apart by the values of the key that differs, without parameters if they are long', () => {
  expect(namesOf(run({ readahead: 'linux-6' }, 'contents'), run({ readahead: 'none' }, 'contents'))).toEqual([
    'linux-6',
    'none',
  ]);
  expect(namesOf(run({ fileSystem: memfs }, 'contents'), run({ fileSystem: journal }, 'contents'))).toEqual([
    'memfs',
    'mini-journal',
  ]);
});

test('by the values of two keys if two differ, and by one of them if both are too long', () => {
  const one = run({ readahead: 'linux-6', cpus: 4 }, 'contents');
  const other = run({ readahead: 'none', cpus: 8 }, 'contents');
  expect(namesOf(one, other)).toEqual(['linux-6, 4', 'none, 8']);
  const long = 'a-policy-with-a-long-name';
  expect(namesOf(one, run({ readahead: long, cpus: 8 }, 'contents'))).toEqual(['4', '8']);
});

test('by numbers only if no value tells them apart', () => {
  const long = (end: string): NamedRun => run({ readahead: `a-policy-with-a-long-name-${end}` }, 'contents');
  expect(namesOf(long('a'), long('b'))).toEqual(['whole-stack 1', 'whole-stack 2']);
});

test('what the drive keeps follows from the file system and is no difference of its own', () => {
  const groups = groupsOf([run({ fileSystem: memfs }, 'nothing'), run({ fileSystem: journal }, 'contents')]);
  expect(differencesOf(groups).map(({ path }) => path)).toEqual(['system.fileSystem']);
  const drives = groupsOf([run({ fileSystem: memfs }, 'nothing'), run({ fileSystem: memfs }, 'contents')]);
  expect(differencesOf(drives).map(({ path }) => path)).toEqual(['keeps']);
});

import { type PlantedName, plantedBugs } from '@flashstack/mini-journal';
import { describe, expect, it } from 'vitest';
import { type CrashSubject, Explorer, type Step, type Workload } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';
import { DefectiveDevice, deviceDefects } from './planted-devices.js';
import { plantedWorkloads } from './planted-workloads.js';
import { full } from './subjects.js';

/** The rule that a defect breaks, and how many operations it takes at least. */
type Expected = readonly [rule: string, operations: number];

const fileSystem: Readonly<Record<PlantedName, Expected>> = {
  'commit-without-preflush': ['R4', 2],
  'commit-without-fua': ['R4', 2],
  'commit-first': ['R4', 2],
  'checksum-ignored': ['R4', 2],
  'data-not-settled': ['R2', 5],
  'tail-first': ['R4', 2],
  'replay-oldest': ['R10', 4],
  'replay-one': ['R10', 4],
  'replay-unflushed': ['R4', 2],
  'orphans-kept': ['R1', 3],
  'name-not-logged': ['R8', 1],
  'removal-not-logged': ['R1', 1],
  'links-not-logged': ['R4', 2],
  'bitmap-not-logged': ['R1', 1],
  'attributes-not-logged': ['R2', 2],
  'reused-at-once': ['R7', 3],
  'reused-before-checkpoint': ['R7', 6],
  'tail-not-zeroed': ['R2', 3],
  'rename-in-two': ['R6', 1],
  'replaced-not-dropped': ['R1', 1],
  'parent-not-changed': ['R2', 2],
  'size-not-data': ['R3', 4],
  'overwrite-not-flushed': ['R3', 2],
  'sync-without-commit': ['R10', 2],
};

const device: Readonly<Record<string, Expected>> = {
  'flushes and FUA are ignored': ['R10', 2],
  'FUA is ignored': ['R4', 2],
  'the flush before a write is ignored': ['R4', 2],
  'flush commands are ignored': ['R3', 2],
  'every other flush is ignored': ['R4', 4],
  'blocks of the journal are lost': ['R10', 2],
  'blocks of the journal go to the next block': ['R10', 2],
  'the second half of a block of the journal is another': ['R10', 2],
  'blocks of a checkpoint are lost': ['R10', 2],
};

/** All rules that images of a workload break. */
function rulesOf(subject: CrashSubject, workload: Workload): Set<string> {
  const explorer = new Explorer(subject, { most: 24, uses: 1, unmounts: 1, again: 4 });
  explorer.explore(workload);
  return new Set(explorer.result.byRule.keys());
}

/** Workloads one after the other until one breaks the rule; then as few of its operations as still do. */
function fewestSteps(subject: CrashSubject, rule: string): readonly Step[] | null {
  const found = plantedWorkloads.find((workload) => rulesOf(subject, workload).has(rule));
  if (found === undefined) return null;
  let steps = found.processes[0];
  for (let at = steps.length - 1; at >= 0; at--) {
    const fewer = steps.filter((_, index) => index !== at);
    if (fewer.length > 0 && rulesOf(subject, { ...found, processes: [fewer] }).has(rule)) steps = fewer;
  }
  return steps;
}

/** Locally every third, all of them under CI. */
function chosen<T>(all: readonly T[]): readonly T[] {
  return full ? all : all.filter((_, at) => at % 3 === 0);
}

function caught(subject: CrashSubject, [rule, operations]: Expected): void {
  const steps = fewestSteps(subject, rule);
  expect(steps, `a workload that breaks ${rule}`).not.toBeNull();
  expect(steps?.length, JSON.stringify(steps)).toBeLessThanOrEqual(operations + 1);
}

describe('planted defects of the miniature journal are caught by name of a rule, with few operations', () => {
  it.each(chosen(plantedBugs))('$name: $text', ({ name }) => caught(miniJournal(name), fileSystem[name]));
});

describe('planted defects of a device are caught by name of a rule, with few operations', () => {
  it.each(chosen(Object.entries(deviceDefects)))('%s', (name, defect) => {
    const { scheme, ...subject } = miniJournal();
    const open: CrashSubject['scheme']['open'] = (under, environment) =>
      scheme.open(new DefectiveDevice(under, defect), environment);
    caught({ ...subject, scheme: { ...scheme, open } }, device[name]);
  });
});

it('a sound file system on a sound device breaks no rule with any of the workloads', () => {
  for (const workload of plantedWorkloads) expect([...rulesOf(miniJournal(), workload)]).toEqual([]);
});

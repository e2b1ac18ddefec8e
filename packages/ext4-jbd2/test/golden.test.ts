import { runTask, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { needsRecovery, recover, Volume } from '../src/index.js';
import { CLEAN, imageOf, LOGS, list, listed } from './images.js';

const run = <T>(task: Parameters<typeof runTask<T>>[1]): T => runTask(new Simulator(), task);

test.each([...CLEAN, ...LOGS])('%s reads as debugfs lists it', (name) => {
  const volume = run(Volume.open(imageOf(name)));
  expect(needsRecovery(volume)).toBe(LOGS.includes(name));
  expect(run(list(volume))).toEqual(listed(name, 'tree'));
});

describe.each(LOGS)('%s', (name) => {
  test('reads after its recovery as debugfs lists it after that of e2fsck', () => {
    const device = imageOf(name);
    const done = run(recover(run(Volume.open(device))));
    expect(done.damaged).toBe(0);
    expect(done.blocks).toBeGreaterThan(0);
    const volume = run(Volume.open(device));
    expect(needsRecovery(volume)).toBe(false);
    expect(run(list(volume))).toEqual(listed(name, 'treeAfterReplay'));
  });

  test('has nothing left to recover', () => {
    const device = imageOf(name);
    run(recover(run(Volume.open(device))));
    expect(run(recover(run(Volume.open(device))))).toMatchObject({ transactions: 0, blocks: 0 });
  });
});

test.each([
  ['jrnl-v3', { revoked: 1 }],
  ['k-fsync', { transactions: 71, blocks: 434, revoked: 5 }],
])('%s has what its makers put into its log', (name, expected) => {
  expect(run(recover(run(Volume.open(imageOf(name)))))).toMatchObject(expected);
});

import {
  boundedWorkloads,
  type CrashSubject,
  DURABILITY_RULES,
  Explorer,
  type ExplorerOptions,
} from '@flashstack/crash-lab';
import { expect, test } from 'vitest';
import { Ext4, fsck, mkfs } from '../src/index.js';
import { full, HASH_SEED, long, TIME, subject as tested, UUID } from './support.js';

const subject: CrashSubject = {
  name: 'ext4',
  blocks: 2048,
  rules: DURABILITY_RULES['ext4-ordered'],
  scheme: {
    onDevice: true,
    format: (device) => mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, bytesPerInode: 65_536 }),
    open: (device, environment) => new Ext4(device, environment),
  },
  // What is missing is what base states remove.
  *check(device) {
    const problems = yield* fsck(device);
    return problems.map(({ reason }) => reason).filter((reason) => !reason.includes('lost+found'));
  },
};
const { capabilities } = tested;

function explored(length: number, count: number, options: ExplorerOptions = {}): Explorer['result'] {
  const explorer = new Explorer(subject, { most: 16, ...options });
  const sample = { count, seed: 1 };
  for (const workload of boundedWorkloads({ length, persistence: 'anywhere', capabilities }, { sample })) {
    const found = explorer.explore(workload);
    if (found !== null) throw new Error(`${JSON.stringify(found)}\n${explorer.result.describe()}`);
  }
  return explorer.result;
}

test('nothing that was synced is lost, whatever a power cut leaves of workloads of one operation', () => {
  expect(explored(1, full || long ? 1000 : 30).counts.recovered).toBeGreaterThan(300);
});

test('nor of two operations, with power cuts during recovery', () => {
  expect(explored(2, long ? 5000 : full ? 400 : 20, { again: 8 }).counts.second).toBeGreaterThan(50);
});

test('nor where requests overlap and complete in any order', () => {
  expect(explored(2, full || long ? 100 : 8, { overlap: true }).counts.recovered).toBeGreaterThan(50);
});

test('a drive that lies about its flushes is found', () => {
  expect(() => explored(1, 40, { model: 'lying(3)' })).toThrow('violation');
});

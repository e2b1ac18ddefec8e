import { Origin, OriginTable } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { expect, test } from 'vitest';
import { writeFlowOf } from '../src/index.js';
import { jobSpec, runStack } from './stack-support.js';
import { checkAccounts, sum } from './write-flow-support.js';

const MIB = 2 ** 20;

test('from programs to flash every byte has an owner, and each layer is the one above with what stands between', async () => {
  const job = { rw: 'randwrite', size: 2 * MIB, ioSize: 16 * MIB, fdatasync: 1000, numjobs: 2 };
  const result = await runStack({ ...jobSpec(job), precondition: 'steady' });
  checkAccounts(result);
  const { metrics, writeFlow: parts } = result;
  expect(sum(parts, 'application')).toBe(metrics['calls.write.bytes']);
  expect(sum(parts, 'application')).toBe(2 * 16 * MIB);
  // The page cache and the drive count by themselves.
  expect(sum(parts, 'application') + sum(parts, 'pageCache')).toBe(metrics['cache.writtenBack'] * 4096);
  expect(sum(parts, 'pageCache')).toBeLessThan(0);
  expect(sum(parts, 'fileSystem', 'written', 'fileData')).toBe(metrics['cache.writtenBack'] * 4096);
  expect(sum(parts, 'device')).toBe(metrics['host.write.bytes']);
  const origins = new Set(parts.filter(({ layer }) => layer === 'fileSystem').map(({ origin }) => String(origin)));
  expect([...origins]).toEqual(expect.arrayContaining(['fileData', 'journal']));
  for (const origin of origins) {
    // The run ends with a sync: nothing is left on its way, and the drive has no buffer.
    expect(sum(parts, 'device', 'written', origin)).toBe(sum(parts, 'fileSystem', 'written', origin));
    expect(sum(parts, 'flash', 'host', origin)).toBe(sum(parts, 'fileSystem', 'written', origin));
  }
  expect(sum(parts, 'blockLayer')).toBe(0);
  expect(sum(parts, 'flash', 'gc', 'preconditioned')).toBeGreaterThan(0);
  expect(sum(parts, 'flash', 'gc', 'fileData')).toBeGreaterThan(0);
});

test('what is dirty at the end stays in the page cache', async () => {
  const { writeFlow } = await runStack(jobSpec({ rw: 'write' }, { memory: 64 * MIB, finalSync: false }));
  expect(writeFlow).toEqual([
    { layer: 'application', cause: 'written', origin: null, bytes: 4 * MIB },
    { layer: 'pageCache', cause: 'absorbed', origin: null, bytes: -4 * MIB },
  ]);
});

test('logs of programs are theirs as their files are, and origins have the names of the host', () => {
  const ssd = new Ssd(new Simulator(), resolvePreset('mqsim-b8', { capacity: 2 ** 28 }));
  const origins = new OriginTable();
  const own = origins.define('cold node');
  const fileSystemBytes = new Float64Array(256);
  fileSystemBytes[Origin.fileData] = MIB;
  fileSystemBytes[Origin.applicationLog] = 3 * MIB;
  fileSystemBytes[own] = 4096;
  expect(writeFlowOf(ssd, { applicationBytes: () => 3 * MIB, fileSystemBytes, origins })).toEqual([
    { layer: 'application', cause: 'written', origin: null, bytes: 3 * MIB },
    { layer: 'pageCache', cause: 'filled', origin: null, bytes: MIB },
    { layer: 'fileSystem', cause: 'written', origin: 'fileData', bytes: MIB },
    { layer: 'fileSystem', cause: 'written', origin: 'applicationLog', bytes: 3 * MIB },
    { layer: 'fileSystem', cause: 'written', origin: 'cold node', bytes: 4096 },
    { layer: 'blockLayer', cause: 'waiting', origin: 'fileData', bytes: -MIB },
    { layer: 'blockLayer', cause: 'waiting', origin: 'applicationLog', bytes: -3 * MIB },
    { layer: 'blockLayer', cause: 'waiting', origin: 'cold node', bytes: -4096 },
  ]);
});

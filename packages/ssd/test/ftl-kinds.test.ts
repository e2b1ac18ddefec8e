import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { phaseNames, Ssd, type SsdConfig } from '../src/index.js';
import { plainDrive } from './small-drives.js';

function drive(cmtEntries: number): SsdConfig {
  const mapping = { name: 'dftl', parameters: { cmtEntries, entryBytes: 128 } };
  return { ...plainDrive, capacityBytes: 500 * 4096, ftl: { mapping } };
}

/** Phases of single-slot reads, one at a time, of a drive that was filled. */
function readPhases(cmtEntries: number): Record<string, number> {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, drive(cmtEntries));
  ssd.precondition('fill');
  for (let slot = 0; slot < 400; slot += 40) {
    submitAndWait(simulator, ssd, { op: BlockOp.read, block: 8 * slot, count: 8 });
    simulator.drain();
  }
  const { phases } = ssd.stats.kinds.read;
  const found = phases.slowest(1);
  // Phases are disjoint and complete.
  const sum = phaseNames.reduce((total, name) => total + found[name], 0);
  expect(sum).toBeCloseTo(ssd.stats.kinds.read.latencyNs.mean, 3);
  return found;
}

test('flexible data placement has its log counters as metrics', () => {
  const simulator = new Simulator();
  const streams = { name: 'fdp', parameters: { handles: 2, isolation: 'persistent' } };
  const ssd = new Ssd(simulator, { ...plainDrive, capacityBytes: 400 * 4096, ftl: { streams } });
  const registry = new StatsRegistry();
  ssd.registerStats(registry);
  const random = new RandomSource(3).stream('writes');
  for (let i = 0; i < 3000; i++) {
    const slot = i < 400 ? i : random.below(400);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 8 * slot, count: 8, stream: slot % 3 });
  }
  simulator.drain();
  const metrics = registry.read();
  expect(metrics['ftl.fdp.hostBytes']).toBe(3000 * 4096);
  expect(metrics['ftl.fdp.mediaBytes'] / metrics['ftl.fdp.hostBytes']).toBeCloseTo(metrics['ftl.waf'], 2);
  expect(metrics['ftl.fdp.mediaBytesErased']).toBe(metrics['nand.erases'] * 16 * 4096);
  expect(metrics['ftl.fdp.mediaBytesErased']).toBeGreaterThan(0);
  expect(metrics['ftl.fdp.unknownPlacements']).toBeGreaterThan(900);
  expect(metrics['ftl.fdp.outsideGroup']).toBe(0);
});

test.each([
  ['block', true],
  ['fast', true],
  ['page', false],
  ['dftl', false],
  ['segment', false],
])('%s: merges of log blocks are a metric of schemes that have log blocks', (mapping, merges) => {
  const capacityBytes = (mapping === 'segment' ? 384 : 400) * 4096;
  const ssd = new Ssd(new Simulator(), { ...plainDrive, capacityBytes, ftl: { mapping } });
  const registry = new StatsRegistry();
  ssd.registerStats(registry);
  expect('ftl.merges.full' in registry.read()).toBe(merges);
});

describe('a map in flash', () => {
  test('the read of a translation page is told apart from that of the data', () => {
    const cached = readPhases(500);
    expect(cached.mapping).toBe(0);
    const missing = readPhases(1);
    const { timing } = plainDrive.nand;
    expect(missing.mapping).toBeGreaterThanOrEqual(Math.min(...timing.readNs) + timing.commandNs);
    expect(missing.array).toBe(cached.array);
    expect(missing.transfer).toBe(cached.transfer);
  });

  test('has metrics of its own', () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, drive(1));
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    for (let slot = 0; slot < 40; slot++) {
      submitAndWait(simulator, ssd, { op: BlockOp.write, block: 8 * slot, count: 8 });
    }
    const metrics = registry.read();
    expect(metrics['ftl.mapping.misses']).toBe(40);
    // Each write displaces the dirty entry of the one before.
    expect(metrics['ftl.mapping.slots']).toBe(39);
    expect(metrics['ftl.mapping.tableBytes']).toBe(2 * 128 + Math.ceil(500 / 32) * 128);
  });
});

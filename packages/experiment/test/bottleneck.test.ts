import { describe, expect, test } from 'vitest';
import { type ExperimentResult, noExtensions, readDocument, resolveDevice, runExperiment } from '../src/index.js';

// Drives built so that one thing limits them, with the rate that follows from it by hand.

/** A drive on which nothing costs anything but what a case makes dear. */
const free = {
  device: { preset: 'mqsim-b8', capacity: '256MiB', overProvisioning: '28%' },
  link: null,
  buffer: null,
  nand: {
    timing: { readNs: ['10us', '10us'], programNs: ['10us', '10us'], eraseNs: '20us', channelBytesPerSec: '20GB/s' },
  },
};
const KIB = 1024;

async function run(changes: Record<string, unknown>): Promise<ExperimentResult> {
  const { spec } = readDocument(merged(free, changes), noExtensions);
  return runExperiment(spec);
}

function merged(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const result = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const old = result[key];
    const both = typeof old === 'object' && old !== null && typeof value === 'object' && value !== null;
    result[key] =
      both && !Array.isArray(value) ? merged(old as Record<string, unknown>, value as Record<string, unknown>) : value;
  }
  return result;
}

/** The bound and the measured rate agree with a rate worked out by hand, requests per second. */
function expectRate({ analysis }: ExperimentResult, byHand: number, tolerance: number): void {
  const [{ boundRequestsPerSecond, share }] = analysis.bounds;
  expect((boundRequestsPerSecond ?? 0) / byHand).toBeGreaterThan(1 - tolerance);
  expect((boundRequestsPerSecond ?? 0) / byHand).toBeLessThan(1 + tolerance);
  expect(analysis.measured.requestsPerSecond / byHand).toBeGreaterThan(0.85 * (1 - tolerance));
  expect(share).toBeGreaterThan(0.85);
}

describe('the bottleneck that is named is the one that was built', () => {
  test('link: writes over a slow link', async () => {
    const result = await run({
      link: {
        readBytesPerSec: '100MB/s',
        writeBytesPerSec: '100MB/s',
        duplex: 'full',
        commandNs: 0,
        chunkBytes: '1MiB',
      },
      workload: { kind: 'random', requests: 20_000 },
    });
    expect(result.analysis.bottleneck).toBe('link');
    expect(result.analysis.headline).toMatch(/^Limited by the host link, at (9\d|100) %/);
    expectRate(result, 100e6 / (4 * KIB), 0.02);
  });

  test('link: a half-duplex link that is shared by reads and writes', async () => {
    const result = await run({
      link: {
        readBytesPerSec: '100MB/s',
        writeBytesPerSec: '100MB/s',
        duplex: 'half',
        commandNs: 0,
        chunkBytes: '1MiB',
      },
      workload: { kind: 'random', requests: 20_000, readShare: 0.5 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('link');
    expectRate(result, 100e6 / (4 * KIB), 0.02);
  });

  test('firmware: one slow core', async () => {
    const result = await run({
      firmware: { cores: 1, readNs: '50us' },
      workload: { kind: 'random', requests: 20_000, readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('firmware');
    expectRate(result, 1 / 50e-6, 0.02);
  });

  test('firmware: the host-interface core in front of eight idle ones', async () => {
    const result = await run({
      firmware: { cores: 8, binding: 'channel', readNs: '10us', hostCore: true, hostNs: '20us' },
      loop: 'closed:256',
      workload: { kind: 'random', requests: 20_000, readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('firmware');
    expect(result.analysis.headline).toMatch(/^Limited by the host-interface core, at (9\d|100) % of its bound/);
    expectRate(result, 1 / 20e-6, 0.02);
    expect(result.analysis.bounds.find(({ resource }) => resource === 'controller cores')?.share).toBeLessThan(0.1);
  });

  test('firmware: the core that relocates pages, while dies and I/O cores have time', async () => {
    const result = await run({
      firmware: { cores: 2, writeNs: '1us', gcCore: true, gcPageNs: '100us' },
      loop: 'closed:64',
      precondition: 'steady',
      warmup: '20%',
      workload: { kind: 'random', requests: 60_000 },
    });
    expect(result.analysis.bottleneck).toBe('firmware');
    expect(result.analysis.headline).toMatch(/^Limited by the collection core, at (9\d|100) % of its bound/);
    const { metrics } = result;
    // A page holds one slot.
    const pagesPerWrite = metrics['ftl.gc.copies'] / metrics['ftl.hostSlots'];
    expectRate(result, 1 / (pagesPerWrite * 100e-6), 0.05);
  });

  test('firmware: one of eight cores is asked for everything', async () => {
    const result = await run({
      firmware: { cores: 8, binding: 'lpn', readNs: '50us' },
      workload: { kind: 'random', requests: 20_000, readShare: 1, alignBytes: 8 * 4 * KIB },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('firmware');
    expect(result.analysis.headline).toMatch(/^Limited by one core, busy (9\d|100) %, while cores are busy 12 %/);
  });

  test('channel: large sequential reads over slow buses', async () => {
    const result = await run({
      nand: { timing: { channelBytesPerSec: '20MB/s' } },
      loop: 'closed:2',
      workload: { kind: 'sequential', requests: 2_000, requestBytes: '256KiB', readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('channel');
    // Eight channels; pages travel with nothing but their data.
    expectRate(result, (8 * 20e6) / (256 * KIB), 0.03);
  });

  test('die: random reads of a slow array', async () => {
    const result = await run({
      nand: { timing: { readNs: ['500us', '500us'] } },
      loop: 'closed:256',
      workload: { kind: 'random', requests: 20_000, readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('die');
    expect(result.analysis.headline).toContain('flash reads');
    expectRate(result, 16 / 500e-6, 0.05);
  });

  test('die: writes of a slow array, before garbage collection', async () => {
    const result = await run({
      nand: { timing: { programNs: ['2ms', '2ms'] } },
      loop: 'closed:256',
      workload: { kind: 'random', requests: 20_000 },
    });
    expect(result.analysis.bottleneck).toBe('die');
    expect(result.analysis.gc.startedNs).toBeNull();
    expectRate(result, 16 / 2e-3, 0.05);
  });

  test('gc: random writes to a drive in steady state with little spare space', async () => {
    const result = await run({
      device: { preset: 'mqsim-b8', capacity: '256MiB', overProvisioning: '10%' },
      nand: { timing: { programNs: ['1ms', '1ms'], readNs: ['100us', '100us'] } },
      loop: 'closed:128',
      precondition: 'steady',
      workload: { kind: 'random', requests: 100_000 },
    });
    expect(result.analysis.bottleneck).toBe('gc');
    expect(result.analysis.headline).toMatch(/^Limited by garbage collection/);
    expect(result.analysis.gc.dieShare).toBeGreaterThan(0.5);
    expect(result.metrics['ftl.waf']).toBeGreaterThan(2);
  });

  test('flush: one write at a time, each made durable', async () => {
    const result = await run({
      device: 'generic-tlc-nvme',
      nand: undefined,
      link: undefined,
      buffer: undefined,
      loop: 'closed:1',
      workload: { kind: 'random', requests: 3_000, flushEvery: 1 },
    });
    expect(result.analysis.bottleneck).toBe('flush');
    expect(result.analysis.headline).toMatch(/^Flushes set the pace/);
  });

  test('buffer: room for far fewer writes than the dies could take', async () => {
    const result = await run({
      nand: { timing: { programNs: ['1ms', '1ms'] } },
      buffer: { slots: 4, earlyCompletion: true, drain: 'eager', inFlightSlots: 4 },
      loop: 'closed:64',
      workload: { kind: 'random', requests: 10_000 },
    });
    expect(result.analysis.bottleneck).toBe('buffer');
    expect(result.analysis.headline).toMatch(/^Limited by the write buffer/);
    // Four slots, each taken for one program.
    expect(result.analysis.measured.requestsPerSecond).toBeCloseTo(4 / 1e-3, -2);
  });

  test('queue: a drive that takes one command at a time', async () => {
    const result = await run({
      nand: { timing: { readNs: ['100us', '100us'] } },
      queue: { depth: 1, queues: 1 },
      loop: 'closed:32',
      workload: { kind: 'random', requests: 5_000, readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('queue');
    // 31 of the 32 wait while one is served, 100 us each.
    expect(result.analysis.headline).toMatch(/^Requests wait for each other 97 % of their time/);
    expect(result.analysis.measured.requestsPerSecond / 10_000).toBeGreaterThan(0.95);
    expect(result.analysis.measured.requestsPerSecond / 10_000).toBeLessThan(1);
  });

  test('issue: on the delay model of VSSIM pages start a switch delay apart', async () => {
    const result = await run({
      nand: { features: { multiPlane: false } },
      scheduler: { kind: 'vssim', vssim: { registerReadNs: '1us', registerWriteNs: '1us' } },
      precondition: 'fill',
      workload: { kind: 'sequential', requests: 5_000, readShare: 1 },
    });
    expect(result.analysis.bottleneck).toBe('issue');
    expect(result.analysis.headline).toMatch(/^Limited by the order of issue: .* requests wait 9\d % of their time/);
    // 16 us a page, as long as no two pages of one channel follow each other.
    expect(result.analysis.measured.requestsPerSecond * 16e-6).toBeCloseTo(1, 2);
  });

  test('host: one request in flight', async () => {
    const result = await run({
      nand: { timing: { readNs: ['100us', '100us'] } },
      loop: 'closed:1',
      workload: { kind: 'random', requests: 5_000, readShare: 1 },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('host');
    expect(result.analysis.headline).toContain('with 1.0 requests in flight on average');
  });

  test('host: an open loop that asks for little', async () => {
    const result = await run({
      loop: 'open',
      workload: { kind: 'random', requests: 5_000, readShare: 0.5, gapNs: '100us' },
      precondition: 'fill',
    });
    expect(result.analysis.bottleneck).toBe('host');
    expect(result.analysis.measured.requestsPerSecond).toBeCloseTo(10_000, -2);
  });

  test('die: one die is asked for everything', async () => {
    // Static placement puts each lpn on a unit of its own: every 32nd slot lies on the same one.
    const result = await run({
      ftl: { allocation: 'static' },
      nand: { timing: { readNs: ['100us', '100us'] } },
      precondition: 'fill',
      workload: { kind: 'random', requests: 5_000, readShare: 1, alignBytes: 32 * 4 * KIB },
    });
    const { nand } = resolveDevice({ device: 'mqsim-b8' });
    expect(nand.geometry.channels * nand.geometry.ways * nand.geometry.dies * nand.geometry.planes).toBe(32);
    expect(result.analysis.bottleneck).toBe('die');
    expect(result.analysis.headline).toMatch(/^Limited by one die/);
  });
});

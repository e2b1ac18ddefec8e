import { RandomSource } from '@flashstack/sim';
import { type Operation, type OperationSource, SyntheticSource } from '@flashstack/workloads';
import { describe, expect, test } from 'vitest';
import { type ExperimentResult, type ExperimentSpec, hashSpec, RESULT_SCHEMA, runExperiment } from '../src/index.js';
import { smallSpec } from './small-spec.js';

/** The result without what depends on the machine. */
function comparable(result: ExperimentResult): string {
  const metrics = Object.fromEntries(Object.entries(result.metrics).filter(([name]) => !name.startsWith('run.')));
  return JSON.stringify({ ...result, metrics });
}

const run = async (changes: Partial<ExperimentSpec> = {}): Promise<ExperimentResult> =>
  runExperiment({ ...smallSpec, ...changes });

describe('a result', () => {
  test('holds the metrics that reports rely on', async () => {
    const { metrics, schema, specHash, seed } = await run();
    expect(schema).toBe(RESULT_SCHEMA);
    expect(seed).toBe(1);
    expect(specHash).toMatch(/^[0-9a-f]{64}$/);
    const names = [
      ...['read', 'write', 'discard', 'flush'].flatMap((kind) => [`host.${kind}.requests`, `host.${kind}.bytes`]),
      ...['read', 'write'].flatMap((kind) =>
        ['mean', 'p50', 'p99', 'p999', 'max'].map((quantile) => `host.${kind}.latencyNs.${quantile}`),
      ),
      ...['read', 'write'].flatMap((kind) => [`host.${kind}.iops`, `host.${kind}.bytesPerSecond`]),
      ...['ftl.waf', 'ftl.gc.runs', 'ftl.gc.copies', 'ftl.gc.erases', 'ftl.map.bytes'],
      ...['nand.reads', 'nand.programs', 'nand.erases'],
      ...['nand.busyFraction.mean', 'nand.busyFraction.max', 'channel.busyFraction.mean', 'channel.busyFraction.max'],
      ...['sim.elapsedNs', 'sim.events'],
    ];
    for (const name of names) expect(metrics[name], name).toBeTypeOf('number');
  });

  test('adds up: requests, rates, flash work', async () => {
    const { metrics, analysis, histograms } = await run();
    expect(metrics['host.read.requests'] + metrics['host.write.requests']).toBe(60_000);
    expect(metrics['host.read.requests']).toBe(metrics['ssd.read.requests']);
    expect(metrics['host.write.latencyNs.mean']).toBe(metrics['ssd.write.latencyNs.mean']);
    expect(histograms['host.write.latencyNs'].count).toBe(metrics['host.write.requests']);
    const seconds = metrics['host.elapsedNs'] / 1e9;
    expect(metrics['host.write.iops']).toBeCloseTo(metrics['host.write.requests'] / seconds, 6);
    expect(metrics['host.write.bytesPerSecond']).toBeCloseTo(metrics['host.write.bytes'] / seconds, 3);
    // One slot per page: every program is a slot, and every slot has a cause.
    expect(metrics['nand.programs']).toBe(metrics['ftl.programmedSlots']);
    const caused = analysis.programs.reduce((sum, { slots }) => sum + slots, 0);
    expect(caused).toBe(metrics['ftl.programmedSlots']);
    expect(metrics['ftl.waf']).toBe(metrics['ftl.programmedSlots'] / metrics['host.write.requests']);
    const phases = Object.entries(metrics).filter(([name]) => name.startsWith('ssd.write.phaseNs.'));
    const sum = phases.reduce((total, [, ns]) => total + ns, 0);
    expect(sum).toBeCloseTo(metrics['host.write.latencyNs.mean'], 3);
  });

  test('says when garbage collection began, or how far from it the drive stayed', async () => {
    const busy = await run();
    expect(busy.analysis.gc.startedNs).toBeGreaterThan(0);
    expect(busy.analysis.gcSentence).toContain(`${busy.metrics['ftl.gc.erases']} erases`);
    const calm = await run({ precondition: 'none', workload: { kind: 'random', parameters: { requests: 500 } } });
    expect(calm.analysis.gc.startedNs).toBeNull();
    expect(calm.metrics['ftl.gc.runs']).toBe(0);
    expect(calm.analysis.gcSentence).toContain('No garbage collection ran');
  });
});

describe('determinism', () => {
  test('the same spec and seed give the same bytes, however the run is sliced', async () => {
    const first = comparable(await run());
    expect(comparable(await run())).toBe(first);
    expect(comparable(await runExperiment(smallSpec, { sliceRequests: 777 }))).toBe(first);
    const clock = { cpuSeconds: () => 1, maxRssBytes: () => 2 };
    expect(comparable(await runExperiment(smallSpec, { clock, progress: async () => undefined }))).toBe(first);
  });

  test('another seed or scheduler gives another result', async () => {
    const results = [await run(), await run({ seed: 2 }), await run({ scheduler: 'event' })];
    expect(new Set(results.map(comparable)).size).toBe(3);
    expect(new Set(results.map(({ specHash }) => specHash)).size).toBe(3);
  });
});

describe('the environment', () => {
  test('hears of progress and can end a run, which is then marked', async () => {
    const seen: string[] = [];
    let requests = 0;
    const at: number[] = [];
    const result = await runExperiment(smallSpec, {
      sliceRequests: 5000,
      progress: (progress) => {
        seen.push(progress.phase);
        requests = progress.requests;
        at.push(requests);
        expect(progress.of).toBe(60_000);
      },
      cancelled: () => requests >= 20_000,
    });
    expect(seen[0]).toBe('prepare');
    expect(new Set(seen.slice(1))).toEqual(new Set(['run']));
    // Before preconditioning, after it, and after every slice.
    expect(at.slice(0, 2)).toEqual([0, 0]);
    expect(at[2]).toBeGreaterThanOrEqual(5000);
    expect(at[2]).toBeLessThan(5100);
    const partial = result.partial;
    expect(partial?.of).toBe(60_000);
    expect(partial?.requests).toBeGreaterThanOrEqual(20_000);
    expect(partial?.requests).toBeLessThan(20_100);
    expect(result.metrics['host.issued']).toBe(partial?.requests);
    expect(result.analysis.headline).toContain('Interrupted');
  });

  test('gives a clock, and only then is there a run group', async () => {
    let cpu = 0;
    const clock = { cpuSeconds: () => (cpu += 2), maxRssBytes: () => 123 };
    const { metrics } = await runExperiment(smallSpec, { clock });
    expect(metrics['run.cpuSeconds']).toBe(2);
    expect(metrics['run.requestsPerCpuSecond']).toBe(30_000);
    expect(metrics['run.maxRssBytes']).toBe(123);
    const without = await run();
    expect(Object.keys(without.metrics).filter((name) => name.startsWith('run.'))).toEqual([]);
  });

  test('gives the operations of a trace, which are part of the hash', async () => {
    const source = (seed: number): OperationSource =>
      new SyntheticSource({ pattern: 'random', rangeBytes: 64 * 2 ** 20, requests: 1000 }, new RandomSource(seed));
    const spec: ExperimentSpec = { ...smallSpec, workload: { kind: 'given', name: 'trace' } };
    const [a, b, c] = [
      await runExperiment(spec, { source: source(1) }),
      await runExperiment(spec, { source: source(1) }),
      await runExperiment(spec, { source: source(2) }),
    ];
    expect(a.spec.workload).toMatchObject({ kind: 'given', name: 'trace', requests: 1000 });
    expect(b.specHash).toBe(a.specHash);
    expect(c.specHash).not.toBe(a.specHash);
  });

  test('tells traces apart that differ in their recorded response times alone', () => {
    const source = (responseNs: number): OperationSource => {
      let left = 1;
      return {
        count: 1,
        next: (out: Operation): boolean => {
          if (left-- <= 0) return false;
          Object.assign(out, { op: 0, offsetBytes: 0, lengthBytes: 4096, timeNs: 0, responseNs });
          return true;
        },
        restart: () => {
          left = 1;
        },
      };
    };
    const spec: ExperimentSpec = { ...smallSpec, workload: { kind: 'given', name: 'trace' } };
    const hash = (responseNs: number): string => hashSpec(spec, source(responseNs)).specHash;
    expect(hash(0)).toBe(hash(0));
    expect(new Set([hash(0), hash(5000), hash(6000)]).size).toBe(3);
  });
});

describe('the causes of programs add up to what was programmed, waits or was dropped', () => {
  // Pages of four slots, units of a word line, preconditioned and warmed up: units are open at both ends.
  test.each([
    ['generic-tlc-nvme', 'page', 'steady'],
    ['sata-840-pro-class', 'page', 'fill'],
    ['sata-840-pro-class', 'dftl', 'fill'],
    ['sata-840-pro-class', 'fast', 'none'],
    ['sata-840-pro-class', 'segment', 'none'],
  ] as const)('%s, mapping %s, %s', async (preset, mapping, precondition) => {
    const { metrics, analysis } = await runExperiment({
      device: { preset, capacityBytes: 2 ** 30, overProvisioning: 0.6, overrides: { 'ftl.mapping': mapping } },
      workload: { kind: mapping === 'segment' ? 'sequential' : 'random', parameters: { requests: 6000 } },
      precondition,
      warmup: { requests: 1501 },
    });
    const causes = analysis.programs.reduce((sum, { slots }) => sum + slots, 0);
    const { 'ftl.programmedSlots': programmed, 'ftl.pendingSlots': pending } = metrics;
    const { 'ftl.droppedSlots': dropped, 'ftl.carriedSlots': carried } = metrics;
    expect(pending + carried).toBeGreaterThan(0);
    expect(causes).toBe(programmed + pending + dropped - carried);
    expect(metrics['ftl.waf']).toBeCloseTo(causes / metrics['ftl.hostSlots'], 12);
    expect(metrics['ftl.waf']).toBeGreaterThanOrEqual(1);
    expect(metrics['health.writeAmplification']).toBeGreaterThanOrEqual(1);
  });
});

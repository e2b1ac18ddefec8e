import { describe, expect, test } from 'vitest';
import { type ExperimentSpec, runExperiment } from '../src/index.js';

/** A drive of 256 MiB with an append-only mapping, filled, and rewritten one and a half times over. */
function spec(mapping: string, parameters: Record<string, number | string>, more: object = {}): ExperimentSpec {
  return {
    device: {
      preset: 'mqsim-b8',
      capacityBytes: 2 ** 28,
      overProvisioning: 0.3,
      overrides: { keeps: 'contents', 'ftl.mapping': { name: mapping, parameters } },
    },
    precondition: 'fill',
    workload: { kind: 'segments', parameters: { requests: 6144, requestBytes: 65_536, order: 'random', ...more } },
    loop: { kind: 'closed', depth: 8 },
    verify: true,
    seed: 5,
  };
}

describe.each([
  ['segment', {}],
  ['disaggregate', { superblockBytes: 8 * 2 ** 20 }],
  ['zoned', { placement: 'rotating', zoneUnits: 8, maxActive: 3 }],
] as const)('mapping %s', (mapping, parameters) => {
  test('a filled drive is rewritten without a failure, copies nothing, and holds what was written', async () => {
    const { metrics } = await runExperiment(spec(mapping, parameters, { logs: 2, readShare: 0.1 }));
    expect(metrics['host.failed'] ?? 0).toBe(0);
    for (const kind of ['read', 'write', 'discard']) expect(metrics[`host.${kind}.failed`]).toBe(0);
    expect(metrics['host.write.requests'] + metrics['host.read.requests']).toBe(6144);
    expect(metrics['host.discard.requests']).toBeGreaterThan(20);
    // Nothing is relocated; besides, there is what makes the ends of a run durable.
    expect(metrics['ftl.waf']).toBeGreaterThanOrEqual(1);
    expect(metrics['ftl.waf']).toBeLessThan(1.02);
  });

  test('flushes cost backups, which count', async () => {
    const { metrics } = await runExperiment(
      spec(mapping, parameters, { requests: 600, requestBytes: 4096, flushEvery: 1 }),
    );
    expect(metrics['host.flush.failed']).toBe(0);
    // Slots of a program unit that is not full are written to the page map too.
    expect(metrics['ftl.backups.slots']).toBeGreaterThan(40);
    expect(metrics['ftl.waf']).toBeGreaterThan(1 + metrics['ftl.backups.slots'] / 1200);
  });
});

test('a drive that is written anywhere takes the workload with a size of segments', async () => {
  const { metrics } = await runExperiment({
    device: { preset: 'mqsim-b8', capacityBytes: 2 ** 28 },
    workload: { kind: 'segments', parameters: { requests: 1000, segmentBytes: 2 ** 22 } },
    seed: 1,
  });
  expect(metrics['host.write.failed']).toBe(0);
  expect(metrics['host.discard.requests']).toBe(16);
});

test('more logs than zones may be active are refused', async () => {
  const zoned = spec('zoned', { placement: 'rotating', zoneUnits: 8, maxActive: 3 }, { logs: 4 });
  await expect(runExperiment(zoned)).rejects.toThrow(/logs must be a whole number from 1 to 3.*found 4/);
});

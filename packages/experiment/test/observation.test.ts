import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BusyMap } from '../src/busy-map.js';
import { type ExperimentSpec, runExperiment } from '../src/index.js';
import { smallSpec } from './small-spec.js';

const full = process.env.CI !== undefined;
const short: ExperimentSpec = {
  ...smallSpec,
  workload: { kind: 'random', parameters: { requests: 20_000, readShare: 0.3 } },
};

describe('heat maps', () => {
  test('spread busy time over the time that passed, lose nothing that fits, and never exceed it', () => {
    const step = fc.record({ ns: fc.integer({ min: 1, max: 300_000 }), busy: fc.integer({ min: 0, max: 400_000 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
        const map = new BusyMap(['a', 'b']);
        const counters = new Float64Array(2);
        let time = 0;
        let spent = 0;
        let due = 0;
        for (const { ns, busy } of steps) {
          time += ns;
          counters[0] += busy;
          // The naive account: what is due is paid as far as the time that has passed allows.
          due += busy;
          const paid = Math.min(due, ns);
          due -= paid;
          spent += paid;
          map.sample(time, counters);
        }
        const { widthNs, columns, rows, permille } = map.toRecord();
        expect(rows).toEqual(['a', 'b']);
        expect(columns).toBe(Math.ceil(time / widthNs));
        expect(columns).toBeLessThanOrEqual(200);
        expect(permille.length).toBe(2 * columns);
        for (const value of permille) expect(value).toBeGreaterThanOrEqual(0);
        for (const value of permille) expect(value).toBeLessThanOrEqual(1000);
        for (const value of permille.slice(columns)) expect(value).toBe(0);
        let total = 0;
        for (let at = 0; at < columns; at++) total += (permille[at] / 1000) * Math.min(widthNs, time - at * widthNs);
        // Half a permille of rounding per column.
        expect(Math.abs(total - spent)).toBeLessThanOrEqual(time * 0.0005 + 1);
      }),
      { numRuns: full ? 1000 : 100 },
    );
  });

  test('of a run agree with its busy fractions', async () => {
    const { heatmaps, metrics, spec } = await runExperiment(short);
    const { channels, ways, dies } = spec.device.nand.geometry;
    const mean = (name: string): number => {
      const { columns, rows, permille, widthNs } = heatmaps[name];
      // All columns but the last are equally wide.
      const last = metrics['ssd.elapsed'] ?? metrics['sim.elapsedNs'] - (columns - 1) * widthNs;
      let busy = 0;
      for (const [at, value] of permille.entries()) busy += value * (at % columns === columns - 1 ? last : widthNs);
      return busy / 1000 / rows.length / metrics['sim.elapsedNs'];
    };
    expect(heatmaps['nand.busy'].rows.length).toBe(channels * ways * dies);
    expect(heatmaps['nand.busy'].rows.slice(0, 3)).toEqual(['c0 d0', 'c0 d1', 'c1 d0']);
    expect(heatmaps['channel.busy'].rows).toEqual(['c0', 'c1', 'c2', 'c3']);
    expect(mean('nand.busy')).toBeCloseTo(metrics['nand.busyFraction.mean'], 2);
    expect(mean('channel.busy')).toBeCloseTo(metrics['channel.busyFraction.mean'], 2);
  });
});

describe('distributions', () => {
  test('count every victim, every closed block, every block', async () => {
    const { distributions, metrics, spec } = await runExperiment(short);
    const { channels, ways, dies, planes, blocksPerPlane, pagesPerBlock } = spec.device.nand.geometry;
    const blocks = channels * ways * dies * planes * blocksPerPlane;
    const total = (name: string): number => distributions[name].counts.reduce((sum, count) => sum + count, 0);
    const mean = (name: string): number => {
      const { from, binWidth, counts } = distributions[name];
      return counts.reduce((sum, count, at) => sum + count * (from + at * binWidth), 0) / total(name);
    };
    expect(total('ftl.victimValid')).toBe(metrics['ftl.gc.runs']);
    expect(total('nand.eraseCount')).toBe(blocks);
    // Preconditioning erases nothing: what was erased since is what blocks have.
    expect(mean('nand.eraseCount') * blocks).toBeCloseTo(metrics['nand.erases'], 6);
    expect(total('ftl.blockValid')).toBeGreaterThan(blocks * 0.7);
    expect(total('ftl.blockValid')).toBeLessThanOrEqual(blocks);
    // Copies are the valid slots of victims, but for the last ones still being moved.
    const copied = mean('ftl.victimValid') * total('ftl.victimValid');
    expect(Math.abs(copied - metrics['ftl.gc.copies'])).toBeLessThan(channels * ways * dies * planes * pagesPerBlock);
    expect(mean('ftl.victimValid')).toBeLessThan(mean('ftl.blockValid'));
  });
});

describe('percentiles over time', () => {
  test('have a value for each window with requests, around that of the whole run', async () => {
    const { series, metrics } = await runExperiment(short);
    for (const kind of ['read', 'write']) {
      const { count, sum, max, intervalNs } = series[`host.${kind}.latencyNs.p99`];
      expect(intervalNs * count.length).toBeGreaterThanOrEqual(metrics['host.elapsedNs']);
      const values = max.filter((value) => value !== null);
      expect(values.length).toBeGreaterThan(10);
      expect(sum.filter((_, at) => count[at] === 1)).toEqual(values);
      expect(Math.min(...values)).toBeLessThan(metrics[`host.${kind}.latencyNs.p99`] * 1.04);
      expect(Math.max(...values)).toBeGreaterThan(metrics[`host.${kind}.latencyNs.p99`] * 0.99);
      expect(Math.max(...values)).toBeLessThan(metrics[`host.${kind}.latencyNs.max`] * 1.04);
    }
  });
});

describe('a warm-up', () => {
  const run = (changes: Partial<ExperimentSpec>): ReturnType<typeof runExperiment> =>
    runExperiment({ ...short, ...changes });

  test.each([[{ requests: 5000 }], [{ share: 0.25 }]])(
    'of %j: what is left out and what counts are the whole',
    async (warmup) => {
      const whole = await run({});
      const rest = await run({ warmup });
      expect(rest.warmup?.requests).toBe(5000);
      expect(rest.metrics['host.completed']).toBe(15_000);
      expect(rest.metrics['ssd.read.requests'] + rest.metrics['ssd.write.requests']).toBe(15_000);
      const { untilNs } = rest.warmup as { untilNs: number };
      expect(rest.metrics['host.elapsedNs'] + untilNs).toBe(whole.metrics['host.elapsedNs']);
      // The simulation is the same; series and heat maps are of all of it.
      expect(rest.metrics['sim.elapsedNs']).toBe(whole.metrics['sim.elapsedNs']);
      expect(rest.series['host.write.bytes']).toEqual(whole.series['host.write.bytes']);
      expect(rest.heatmaps['nand.busy'].columns).toBe(whole.heatmaps['nand.busy'].columns);
      expect(rest.analysis.gc.startedNs).toBe(whole.analysis.gc.startedNs);
      expect(rest.metrics['nand.programs']).toBeLessThan(whole.metrics['nand.programs']);
      expect(rest.metrics['nand.erases']).toBeLessThanOrEqual(whole.metrics['nand.erases']);
      expect(rest.histograms['host.write.latencyNs'].count).toBe(rest.metrics['host.write.requests']);
      expect(rest.specHash).not.toBe(whole.specHash);
    },
  );

  test('does not depend on how the run is sliced', async () => {
    const spec: ExperimentSpec = { ...short, warmup: { requests: 5000 } };
    const first = JSON.stringify(await runExperiment(spec));
    expect(JSON.stringify(await runExperiment(spec, { sliceRequests: 777 }))).toBe(first);
    expect(JSON.stringify(await runExperiment(spec, { sliceRequests: 100_000 }))).toBe(first);
  });

  test('of simulated time ends at that time', async () => {
    const whole = await run({});
    const timeNs = Math.round(whole.metrics['host.elapsedNs'] / 4);
    const rest = await run({ warmup: { timeNs } });
    expect(rest.warmup?.untilNs).toBe(timeNs);
    expect(rest.metrics['host.completed'] + (rest.warmup?.requests ?? 0)).toBe(20_000);
    expect(rest.metrics['host.elapsedNs']).toBe(whole.metrics['host.elapsedNs'] - timeNs);
  });

  test('that leaves nothing to measure is refused; one of an interrupted run is not', async () => {
    await expect(run({ warmup: { requests: 20_000 } })).rejects.toThrow('warmup is as long as the run');
    await expect(run({ warmup: { timeNs: 1e15 } })).rejects.toThrow('warmup is as long as the run');
    await expect(run({ warmup: { share: 1.5 } })).rejects.toThrow('warmup: found');
    await expect(run({ warmup: { requests: 1, timeNs: 1 } as never })).rejects.toThrow('expected one of');
    const partial = await runExperiment({ ...short, warmup: { requests: 10_000 } }, { cancelled: () => true });
    expect(partial.partial?.requests).toBeLessThan(10_000);
    expect(partial.warmup).toBeNull();
  });
});

test('a drive saved after preparation gives the same run, also if it was prepared by writing', async () => {
  for (const changes of [{}, { precondition: 'steady' as const, scheduler: 'event' as const }]) {
    const spec = { ...short, ...changes };
    let image: Uint8Array | undefined;
    const first = await runExperiment(spec, {
      saveImage: (bytes) => {
        image = bytes;
      },
    });
    if (image === undefined) throw new Error('no image was given');
    expect(JSON.stringify(await runExperiment(spec, { image }))).toBe(JSON.stringify(first));
    await expect(runExperiment({ ...spec, seed: 9 }, { image })).rejects.toThrow('prepared from another device');
    await expect(runExperiment(spec, { image: image.subarray(0, 100) })).rejects.toThrow();
  }
});

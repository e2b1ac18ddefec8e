import { type ExperimentResult, runExperiment } from '@flashstack/experiment';
import { beforeAll, describe, expect, test } from 'vitest';
import { compare, groupOf } from '../src/compare/groups.js';
import { comparisonHeadline, ratioTitle } from '../src/compare/headline.js';
import { judge, measures, ratioText, spreadOf } from '../src/compare/measures.js';
import { renderReport } from '../src/index.js';
import { RunView } from '../src/view.js';
import { run, withVictim } from './runs.js';

let greedy: ExperimentResult[];
let fifo: ExperimentResult[];
let cold: ExperimentResult;
let page: string;

beforeAll(async () => {
  greedy = [await withVictim('greedy', 1), await withVictim('greedy', 2), await withVictim('greedy', 3)];
  fifo = [await withVictim('fifo', 1), await withVictim('fifo', 2), await withVictim('fifo', 3)];
  cold = await run({ workload: { kind: 'zipf', parameters: { requests: 6000 } } });
  page = renderReport([...greedy, ...fifo]);
});

const views = (...results: ExperimentResult[]): RunView[] => results.map((result) => new RunView(result));

describe('groups', () => {
  test('results that differ in the seed alone are one group', () => {
    const comparison = compare(views(...greedy, ...fifo), 0);
    expect(comparison.systems.map((system) => system.name)).toEqual(['victim greedy', 'victim fifo']);
    expect(comparison.groups.map((group) => group.views.length)).toEqual([3, 3]);
    expect(comparison.differences.map((difference) => difference.key)).toEqual(['device.ftl.victim']);
    expect(comparison.differences[0].values).toEqual(['greedy', 'fifo']);
    expect(comparison.workloads).toHaveLength(1);
  });

  test('the order of results does not matter to the groups, and the baseline is whose index is given', () => {
    const mixed = compare(views(fifo[0], greedy[0], fifo[1], greedy[1]), 1);
    expect(mixed.groups.map((group) => group.views.length)).toEqual([2, 2]);
    expect(mixed.systems[mixed.baseline].name).toBe('victim greedy');
    expect(mixed.systems[mixed.baseline].token).toBe('ext4');
  });

  test('drives under several workloads', () => {
    const comparison = compare(views(greedy[0], fifo[0], cold), 0);
    expect(comparison.workloads).toEqual(['random', 'zipf']);
    expect(comparison.systems).toHaveLength(2);
    expect(groupOf(comparison, 1, 0)?.views).toHaveLength(1);
    expect(groupOf(comparison, 1, 1)).toBeNull();
  });

  test('one drive under several workloads: the workloads are compared', () => {
    const comparison = compare(views(greedy[0], cold), 0);
    expect(comparison.systems).toHaveLength(2);
    expect(comparison.systems.map((system) => system.name).join()).toMatch(/random|zipf/);
    expect(comparison.workloads).toHaveLength(1);
  });

  test('seeds of one spec are one system', () => {
    const comparison = compare(views(...greedy), 0);
    expect(comparison.systems).toHaveLength(1);
    const html = renderReport(greedy);
    expect(html).toContain('3 seeds of one spec');
    expect(html).toContain('±');
  });
});

describe('judgement', () => {
  const [throughput] = measures;
  const latency = measures.find((measure) => measure.name === 'write p99') ?? throughput;
  const at = (low: number, high: number) => ({ mean: (low + high) / 2, low, high, seeds: 3 });

  test('ranges that overlap are no difference', () => {
    expect(judge(at(10, 12), at(11.9, 14), throughput)).toBe('same');
    expect(judge(at(10, 12), at(12.1, 14), throughput)).toBe('better');
    expect(judge(at(10, 12), at(12.1, 14), latency)).toBe('worse');
    expect(judge(at(10, 12), at(5, 6), latency)).toBe('better');
    expect(judge(at(10, 10), at(10, 10), latency)).toBe('equal');
    expect(judge(at(1000, 1000), at(1001, 1001), throughput)).toBe('same');
  });

  test('spreads are mean, least and most of the seeds', () => {
    const comparison = compare(views(...greedy), 0);
    const values = greedy.map(
      (result) => result.metrics['host.write.bytesPerSecond'] + result.metrics['host.read.bytesPerSecond'],
    );
    const spread = spreadOf(comparison.groups[0], throughput);
    expect(spread).toMatchObject({ low: Math.min(...values), high: Math.max(...values), seeds: 3 });
    expect(spread?.mean).toBeCloseTo((values[0] + values[1] + values[2]) / 3, 3);
    expect(spreadOf(null, throughput)).toBeNull();
  });

  test('ratios read as factors, those below 1 as divisors', () => {
    expect(ratioText(2.381)).toBe('×\u00a02.38');
    expect(ratioText(1)).toBe('×\u00a01.00');
    expect(ratioText(1 / 2.381)).toBe('÷\u00a02.38');
    expect(ratioText(1 / 326)).toBe('÷\u00a0326');
    expect(ratioText(0)).toBe('–');
  });
});

describe('the page', () => {
  test('has its figures, the same bytes for the same results', () => {
    expect(page).toBe(renderReport([...greedy, ...fifo]));
    const ids = [...page.matchAll(/<figure class="s\d+" id="([\w-]+)"/g)].map((match) => match[1]);
    expect(ids).toEqual(['ratios-1', 'writes', 'write-flow-1', 'write-flow-2', 'latency-1', 'throughput-1', 'waits']);
    expect(Buffer.byteLength(page)).toBeLessThan(400_000);
    expect(page).not.toMatch(/NaN|Infinity|undefined|https?:/);
  });

  test('is called by what differs, the drive and the workload', () => {
    expect(page).toContain('<h1>victim greedy and victim fifo on mqsim-b8 under random</h1>');
  });

  test('says what differs, and that one thing does', () => {
    expect(page).toContain('<code>device.ftl.victim</code>');
    expect(page).not.toContain('keys at once');
    expect(renderReport([greedy[0], cold])).toMatch(/differ in \d+ keys at once/);
  });

  test('says who wins and at what price', () => {
    const [g, f] = [greedy, fifo].map(
      (results) => spreadOf(compare(views(...results), 0).groups[0], measures[0])?.mean ?? 0,
    );
    const headline = comparisonHeadline(compare(views(...greedy, ...fifo), 0)).text;
    expect(g).toBeGreaterThan(f);
    expect(headline).toContain('victim greedy is fastest');
    expect(headline).toContain('programs the least flash per byte');
    const title = ratioTitle(compare(views(...greedy, ...fifo), 0), 0);
    expect(title).toMatch(/^victim fifo is (worse|better) than victim greedy in/);
  });

  test('claims nothing between equal results', () => {
    const twin = structuredClone(greedy[0]) as ExperimentResult & { spec: { device: { name: string } } };
    (twin.spec.device as { name: string }).name = 'twin';
    const comparison = compare(views(greedy[0], twin), 0);
    expect(comparisonHeadline(comparison).text).toContain('No difference in throughput');
    expect(ratioTitle(comparison, 0)).toContain('does not differ');
    const html = renderReport([greedy[0], twin]);
    expect(html.match(/class="(?:up|down)"/)).toBeNull();
    expect(html).toContain('Write latencies are about the same');
    expect(html).toContain('Throughput is about the same');
  });

  test('a drive that nobody ran under a workload is left out, not shown as zero', () => {
    const html = renderReport([greedy[0], fifo[0], cold]);
    expect(html).toMatch(/id="ratios-2".*?No quantity was measured/s);
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('many systems keep distinct looks', async () => {
    const many = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7].map((ms) =>
        run({
          device: {
            preset: 'mqsim-b8',
            capacityBytes: 128 * 2 ** 20,
            overProvisioning: 0.28,
            overrides: { 'nand.timing.eraseNs': ms * 1e6 },
          },
          workload: { kind: 'random', parameters: { requests: 2000 } },
        }),
      ),
    );
    const { systems } = compare(views(...many), 0);
    expect(new Set(systems.map(({ token, dash }) => `${token} ${dash}`)).size).toBe(7);
    expect(new Set(systems.map((system) => system.name)).size).toBe(7);
    expect(renderReport(many)).toContain('7 systems');
  });
});

test('programs are compared by their calls, not by what reaches the drive', async () => {
  const jobs = (size: number): Promise<ExperimentResult> =>
    runExperiment({
      device: { preset: 'mqsim-b8', capacityBytes: 128 * 2 ** 20, overProvisioning: 0.28 },
      system: { fileSystem: 'memfs' },
      workload: { kind: 'file-jobs', parameters: { rw: 'write', size } },
    });
  const [small, large] = [await jobs(2 ** 20), await jobs(2 ** 22)];
  const [throughput, median] = ['throughput', 'write p50'].map((name) => measures.find((of) => of.name === name));
  for (const result of [small, large]) {
    const { metrics } = result;
    const view = new RunView(result);
    expect(metrics['host.write.requests']).toBe(0);
    expect(throughput?.value(view)).toBe(metrics['calls.write.bytesPerSecond']);
    expect(median?.value(view)).toBe(metrics['calls.write.latencyNs.p50']);
  }
  expect(renderReport([small, large])).toContain('Write latency by percentile');
});

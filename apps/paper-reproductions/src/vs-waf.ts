import type { ExperimentResult } from '@flashstack/experiment';
import { claim, spread } from './claims.js';
import type { Study } from './study.js';
import { x25m } from './x25m.js';

const CAPACITY = 256 * 2 ** 20;

interface Setting {
  readonly name: string;
  readonly overrides: Readonly<Record<string, unknown>>;
}

const settings: readonly Setting[] = [
  { name: 'blocks of one plane, dynamic', overrides: {} },
  { name: 'blocks of one plane, static', overrides: { 'ftl.allocation': 'static' } },
  { name: 'one plane, FIFO', overrides: { 'ftl.victim': 'fifo' } },
  { name: 'blocks of two planes, dynamic', overrides: { 'ftl.domain': 'die' } },
  { name: 'two planes, FIFO', overrides: { 'ftl.domain': 'die', 'ftl.victim': 'fifo' } },
];

/** Write amplification alone misleads (digest of the papers, 6.6, finding iv). */
export const vsWaf: Study = {
  id: 'VS-WAF',
  title: 'write amplification and speed',
  paper: 'VSSIM (MSST 2013)',
  tightness: 'D',
  scale: 'drive 1:80 (256 MiB), blocks 1:4',
  seeds: 5,
  cpuSeconds: 8,
  run: async (lab) => {
    const results: ExperimentResult[][] = [];
    for (const { name, overrides } of settings) {
      results.push(
        await lab.overSeeds(name, {
          device: {
            config: x25m({ channels: 4, ways: 1, planes: 2, capacityBytes: CAPACITY, spare: 0.25 }),
            overrides,
          },
          workload: { kind: 'random', parameters: { requests: 60_000, requestBytes: 4096 } },
          precondition: 'steady',
          loop: { kind: 'closed', depth: 32 },
        }),
      );
    }
    const waf = results.map((row) => row.map(({ metrics }) => metrics['ftl.waf']));
    const rate = results.map((row) => row.map(({ metrics }) => metrics['host.write.bytesPerSecond'] / 1e6));
    const pairs = pairsOf(spread(waf), spread(rate));
    return {
      claims: [
        claim({
          name: 'pairs of settings in which the higher write amplification is faster',
          unit: '',
          published: 'there are some',
          band: [1, null],
          values: [pairs.length],
          basis: 'time',
        }),
      ],
      figures: [
        {
          id: 'waf',
          title: 'Write amplification of each setting',
          caption: 'Random writes of 4 KiB in steady state, 25 % spare, 32 in flight; range of the seeds.',
          kind: 'bars',
          x: { label: 'setting', values: settings.map(({ name }) => name) },
          y: { label: 'write amplification' },
          series: [{ name: 'write amplification', ...spread(waf) }],
        },
        {
          id: 'rate',
          title: 'Throughput of each setting does not follow from it',
          caption: 'The same runs.',
          kind: 'bars',
          x: { label: 'setting', values: settings.map(({ name }) => name) },
          y: { label: 'MB/s' },
          series: [{ name: 'throughput', ...spread(rate) }],
        },
      ],
      tables: [
        {
          title: 'Means of the seeds',
          head: ['setting', 'write amplification', 'MB/s'],
          rows: settings.map(({ name }, i) => [name, spread(waf).values[i], spread(rate).values[i]]),
        },
      ],
      notes: pairs.map(
        ([slow, fast]) => `${settings[fast].name} writes more than ${settings[slow].name}, and is faster.`,
      ),
    };
  },
};

type Spread = ReturnType<typeof spread>;

/** Settings [slower, faster] in which the faster one amplifies more; ranges of the seeds must not overlap. */
function pairsOf(waf: Spread, rate: Spread): [number, number][] {
  const pairs: [number, number][] = [];
  for (let slow = 0; slow < waf.values.length; slow++) {
    for (let fast = 0; fast < waf.values.length; fast++) {
      if (waf.low[fast] > waf.high[slow] && rate.low[fast] > rate.high[slow]) pairs.push([slow, fast]);
    }
  }
  return pairs;
}

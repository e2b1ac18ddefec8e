import type { ExperimentResult, ExperimentSpec } from '@flashstack/experiment';
import { greedyWriteAmplification, mappingTableBytes } from '@flashstack/ftl';
import type { Reproduction, ReproductionFigure } from '@flashstack/report';
import { claim, spread } from './claims.js';
import type { Lab, Study } from './study.js';
import { x25m } from './x25m.js';

const CAPACITY = 128 * 2 ** 20;
const SPARE = 0.25;
const SLOT = 4096;
const BLOCK_SLOTS = 64;
/** Space that can hold data over the space in use: in each of the four chips, three blocks are free or being filled. */
const alpha = (4 * (160 - 3) * BLOCK_SLOTS) / (CAPACITY / SLOT);
const REQUESTS = 12_000;
const TRACE = 'postgres.msr.csv.gz';

interface Scheme {
  readonly name: string;
  readonly mapping: string;
  /** Placement by lifetime that needs no hints of the host. */
  readonly streams?: string;
  /** Writes must come in order: workloads that overwrite at random do not exist for it. */
  readonly inOrder?: boolean;
}

const schemes: readonly Scheme[] = [
  { name: 'page', mapping: 'page' },
  { name: 'page, hot-cold', mapping: 'page', streams: 'hot-cold' },
  { name: 'page, DAC', mapping: 'page', streams: 'dac' },
  { name: 'page, SepBIT', mapping: 'page', streams: 'sepbit' },
  { name: 'DFTL', mapping: 'dftl' },
  { name: 'LAST', mapping: 'last' },
  { name: 'FAST', mapping: 'fast' },
  { name: 'SAST', mapping: 'sast' },
  { name: 'BAST', mapping: 'bast' },
  { name: 'block', mapping: 'block' },
  { name: 'segment', mapping: 'segment', inOrder: true },
];

type Shape = Pick<ExperimentSpec, 'workload' | 'precondition' | 'warmup' | 'address' | 'repeat'>;

const random = (kind: string): Shape => ({
  workload: { kind, parameters: { requests: REQUESTS, requestBytes: SLOT } },
  precondition: 'fill',
  warmup: { requests: REQUESTS / 2 },
});

const workloads: readonly { readonly name: string; readonly shape: Shape; readonly recorded?: boolean }[] = [
  {
    name: 'sequential',
    shape: {
      workload: { kind: 'sequential', parameters: { requests: CAPACITY / 131_072, requestBytes: 131_072 } },
      precondition: 'none',
    },
  },
  { name: 'random', shape: random('random') },
  { name: 'Zipf', shape: random('zipf') },
  { name: 'hot/cold', shape: random('hot-cold') },
  {
    name: 'PostgreSQL',
    shape: { workload: { kind: 'given', name: TRACE }, precondition: 'fill', address: 'wrap', repeat: 4 },
    recorded: true,
  },
];

/** The results of a scheme under a workload; null: the scheme does not take it. */
type Cell = readonly ExperimentResult[] | null;

async function measure(lab: Lab): Promise<Cell[][]> {
  const trace = await lab.trace(TRACE);
  const rows: Cell[][] = [];
  for (const { name, mapping, streams, inOrder = false } of schemes) {
    const row: Cell[] = [];
    for (const { name: load, shape, recorded = false } of workloads) {
      if (inOrder && load !== 'sequential') {
        row.push(null);
        continue;
      }
      const spec: ExperimentSpec = {
        device: {
          config: x25m({ channels: 4, ways: 1, capacityBytes: CAPACITY, spare: SPARE }),
          overrides: { 'ftl.mapping': mapping, ...(streams === undefined ? {} : { 'ftl.streams': streams }) },
        },
        loop: { kind: 'closed', depth: 32 },
        ...shape,
      };
      row.push(await lab.overSeeds(`${name}, ${load}`, spec, recorded ? trace : null));
    }
    rows.push(row);
  }
  return rows;
}

const waf = ({ metrics }: ExperimentResult): number => metrics['ftl.waf'];
const rate = ({ metrics }: ExperimentResult): number => metrics['host.write.bytesPerSecond'] / 1e6;
const tail = ({ metrics }: ExperimentResult): number => metrics['host.write.latencyNs.p999'] / 1e6;

function tableKib({ metrics }: ExperimentResult): number {
  const bytes = metrics['ftl.mapping.tableBytes'] ?? mappingTableBytes('page', { capacityBytes: CAPACITY });
  return bytes / 1024;
}

const none = [Number.NaN];
const valuesOf = (cell: Cell, of: (result: ExperimentResult) => number): readonly number[] => cell?.map(of) ?? none;

function figure(
  rows: Cell[][],
  [id, title, unit]: readonly [string, string, string],
  of: (result: ExperimentResult) => number,
): ReproductionFigure {
  return {
    id,
    title,
    caption: 'One NAND model, 25 % spare flash, 32 writes in flight; range of the seeds.',
    kind: 'lines',
    x: { label: 'workload', values: workloads.map(({ name }) => name) },
    y: { label: unit, log: true },
    series: schemes.map(({ name }, s) => ({ name, ...spread(rows[s].map((cell) => valuesOf(cell, of))) })),
  };
}

/** Mapping schemes over the same five workloads, with their defaults: all but disaggregate and zoned mapping. */
export const schemeComparison: Study = {
  id: 'SCHEMES',
  title: 'mapping schemes over five workloads',
  paper: 'flashstack',
  tightness: 'own',
  scale: "a drive of 128 MiB: four chips with blocks of 64 pages, a 160th of VSSIM's X25-M",
  seeds: 5,
  cpuSeconds: 70,
  run: async (lab) => {
    const rows = await measure(lab);
    const of = (scheme: string, load: string, value: (result: ExperimentResult) => number): readonly number[] =>
      valuesOf(
        rows[schemes.findIndex(({ name }) => name === scheme)][workloads.findIndex(({ name }) => name === load)],
        value,
      );
    const over = (a: readonly number[], b: readonly number[]): number[] => a.map((value, i) => value / b[i]);
    const table = (title: string, value: (result: ExperimentResult) => number): Reproduction['tables'][number] => ({
      title,
      head: ['', ...workloads.map(({ name }) => name)],
      rows: schemes.map(({ name }, at) => [name, ...rows[at].map((cell) => spread([valuesOf(cell, value)]).values[0])]),
    });
    const pageWaf = of('page', 'random', waf);
    return {
      claims: [
        claim({
          name: 'page mapping, random: write amplification over the closed form of greedy',
          unit: '×',
          published: 1,
          band: [0.85, 1.15],
          values: pageWaf.map((value) => value / greedyWriteAmplification(alpha, BLOCK_SLOTS)),
          basis: 'events',
        }),
        ...['DFTL', 'LAST', 'FAST', 'SAST', 'BAST', 'block'].map((name) =>
          claim({
            name: `${name} over page mapping, random: write amplification`,
            unit: '×',
            published: 'nobody has',
            band: null,
            values: over(of(name, 'random', waf), pageWaf),
            basis: 'events',
          }),
        ),
      ],
      figures: [
        figure(rows, ['waf', 'Write amplification spans two orders of magnitude', 'write amplification'], waf),
        figure(rows, ['rate', 'Coarse tables cost bandwidth wherever writes are not in order', 'MB/s'], rate),
        figure(rows, ['tail', 'Merges make the slowest writes slow', 'p99.9 of writes, ms'], tail),
      ],
      tables: [
        table('Write amplification', waf),
        table('Writes, MB/s', rate),
        table('p99.9 of writes, ms', tail),
        {
          title: 'Mapping tables in controller RAM, KiB',
          head: ['', 'KiB'],
          rows: schemes.map(({ name }, at) => [name, tableKib((rows[at][0] as readonly ExperimentResult[])[0])]),
        },
      ],
      notes: [
        'Hybrid schemes take three quarters of the spare flash as log blocks, and DFTL caches 1 % of the entries: the defaults of each.',
        'Not compared: disaggregate and zoned mapping, which take only the sequential one of these workloads, as segment mapping does, and want areas or zones laid out for a host of their own; and placement by hints of the host (host, fdp), because these workloads give none.',
        'Application-managed flash takes writes in order only; what its host would have to copy is not counted.',
      ],
    };
  },
};

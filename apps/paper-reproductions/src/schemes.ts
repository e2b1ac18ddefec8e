import type { ExperimentResult, ExperimentSpec } from '@flashstack/experiment';
import { greedyWriteAmplification, mappingTableBytes } from '@flashstack/ftl';
import type { Reproduction, ReproductionFigure } from '@flashstack/report';
import { RandomSource } from '@flashstack/sim';
import { type AccessPattern, type OperationSource, SyntheticSource, type Trace } from '@flashstack/workloads';
import { claim, spread } from './claims.js';
import { type HostedWorkload, hosted, segmentsOf } from './host-log.js';
import type { Lab, Study } from './study.js';
import { x25m } from './x25m.js';

const CAPACITY = 128 * 2 ** 20;
const SPARE = 0.25;
const SLOT = 4096;
const BLOCK_SLOTS = 64;
/** Space that can hold data over the space in use: in each of the four chips, three blocks are free or being filled. */
const alpha = (4 * (160 - 3) * BLOCK_SLOTS) / (CAPACITY / SLOT);
const REQUESTS = 12_000;
const STEADY_REQUESTS = 100_000;
const TRACE = 'postgres.msr.csv.gz';
const PASSES = 4;
const WIDE = 131_072;
const HOST_TABLE_BYTES = mappingTableBytes('page', { capacityBytes: CAPACITY });

/** What append-only drives offer of the same flash, the rest of which is theirs: segments of 1 MiB for a log. */
const APPEND_CAPACITY = 148 * 2 ** 20;
const META = 2 ** 20;
/** Hints of Zipf and hot/cold. */
const HINTS = 2;

interface Scheme {
  readonly name: string;
  readonly mapping: Named;
  readonly streams?: Named;
  /** Writes must come in order: a log-structured host stands before the drive. */
  readonly inOrder?: boolean;
}

type Named = string | { readonly name: string; readonly parameters: Readonly<Record<string, number | string>> };

const schemes: readonly Scheme[] = [
  { name: 'page', mapping: 'page' },
  { name: 'page, hot-cold', mapping: 'page', streams: 'hot-cold' },
  { name: 'page, DAC', mapping: 'page', streams: 'dac' },
  { name: 'page, SepBIT', mapping: 'page', streams: 'sepbit' },
  { name: 'page, host streams', mapping: 'page', streams: { name: 'host', parameters: { maxStreams: HINTS + 1 } } },
  {
    name: 'page, FDP',
    mapping: 'page',
    streams: { name: 'fdp', parameters: { handles: HINTS + 1, isolation: 'persistent' } },
  },
  { name: 'DFTL', mapping: 'dftl' },
  { name: 'LAST', mapping: 'last' },
  { name: 'FAST', mapping: 'fast' },
  { name: 'SAST', mapping: 'sast' },
  { name: 'BAST', mapping: 'bast' },
  { name: 'block', mapping: 'block' },
  { name: 'segment, host log', mapping: 'segment', inOrder: true },
  {
    name: 'disaggregate, host log',
    mapping: { name: 'disaggregate', parameters: { superblockBytes: 0, metaBytes: META } },
    inOrder: true,
  },
  { name: 'zoned, host log', mapping: 'zoned', inOrder: true },
];

type Shape = Pick<ExperimentSpec, 'workload' | 'precondition' | 'warmup' | 'address' | 'repeat'>;

interface Workload {
  readonly name: string;
  /** As a drive takes it that is written anywhere. */
  readonly shape: Shape;
  readonly recorded?: boolean;
  /** The same behind a log-structured host. */
  host(random: RandomSource, trace: Trace): HostedWorkload;
}

function sequential(random: RandomSource): OperationSource {
  return new SyntheticSource(
    { pattern: 'sequential', rangeBytes: CAPACITY, requests: CAPACITY / WIDE, requestBytes: WIDE },
    random,
  );
}

/** Random writes of a slot after everything has been written once; the first half is not counted. */
function overwriting(name: string, pattern: AccessPattern, streams = 0): Workload {
  const hints = streams === 0 ? {} : { streams };
  return {
    name,
    shape: {
      workload: { kind: pattern, parameters: { requests: REQUESTS, requestBytes: SLOT, ...hints } },
      precondition: 'fill',
      warmup: { requests: REQUESTS / 2 },
    },
    host: (random) => ({
      parts: [
        sequential(random),
        new SyntheticSource({ pattern, rangeBytes: CAPACITY, requests: REQUESTS, requestBytes: SLOT }, random),
      ],
      uncountedBytes: CAPACITY + (REQUESTS / 2) * SLOT,
    }),
  };
}

const workloads: readonly Workload[] = [
  {
    name: 'sequential',
    shape: {
      workload: { kind: 'sequential', parameters: { requests: CAPACITY / WIDE, requestBytes: WIDE } },
      precondition: 'none',
    },
    host: (random) => ({ parts: [sequential(random)], uncountedBytes: 0 }),
  },
  overwriting('random', 'random'),
  overwriting('Zipf', 'zipf', HINTS),
  overwriting('hot/cold', 'hot-cold', HINTS),
  {
    name: 'PostgreSQL',
    shape: { workload: { kind: 'given', name: TRACE }, precondition: 'fill', address: 'wrap', repeat: PASSES },
    recorded: true,
    host: (random, trace) => ({
      parts: [sequential(random), ...Array.from({ length: PASSES }, () => trace.source())],
      uncountedBytes: CAPACITY,
    }),
  },
];

/** What a scheme came to with one seed; all of it for what the workload writes, whatever a host makes of it. */
interface Measured {
  readonly waf: number;
  /** MB/s. */
  readonly rate: number;
  /** p99.9 of the writes, ms; NaN behind a host, in which writes wait too. */
  readonly tail: number;
  /** Mapping tables in the RAM of the drive. */
  readonly tableBytes: number;
}
type Cell = readonly Measured[];

function specOf({ mapping, streams, inOrder = false }: Scheme): Omit<ExperimentSpec, 'workload'> {
  const capacityBytes = inOrder ? APPEND_CAPACITY : CAPACITY;
  const spare = (CAPACITY * (1 + SPARE)) / capacityBytes - 1;
  return {
    device: {
      config: x25m({ channels: 4, ways: 1, capacityBytes, spare }),
      overrides: { 'ftl.mapping': mapping, ...(streams === undefined ? {} : { 'ftl.streams': streams }) },
    },
    loop: { kind: 'closed', depth: 32 },
  };
}

/** `amplification`: of the host before the drive, null: there is none. */
function measuredOf({ metrics }: ExperimentResult, amplification: number | null): Measured {
  return {
    waf: metrics['ftl.waf'] * (amplification ?? 1),
    rate: metrics['host.write.bytesPerSecond'] / (amplification ?? 1) / 1e6,
    tail: amplification !== null ? Number.NaN : metrics['host.write.latencyNs.p999'] / 1e6,
    tableBytes: metrics['ftl.mapping.tableBytes'] ?? HOST_TABLE_BYTES,
  };
}

async function measure(lab: Lab): Promise<Cell[][]> {
  const trace = await lab.trace(TRACE);
  const rows: Cell[][] = [];
  for (const scheme of schemes) {
    const row: Cell[] = [];
    for (const load of workloads) row.push(await cellOf(lab, scheme, load, trace));
    rows.push(row);
  }
  return rows;
}

async function cellOf(lab: Lab, scheme: Scheme, load: Workload, trace: Trace): Promise<Cell> {
  const name = `${scheme.name}, ${load.name}`;
  const common = specOf(scheme);
  if (scheme.inOrder !== true) {
    const spec: ExperimentSpec = { ...common, ...load.shape };
    return (await lab.overSeeds(name, spec, load.recorded === true ? trace : null)).map((result) =>
      measuredOf(result, null),
    );
  }
  const workload = { kind: 'given', name: `${load.name} behind a log` } as const;
  const shape = segmentsOf({ ...common, workload });
  const cell: Measured[] = [];
  for (const seed of lab.seeds) {
    const { source, warmup, amplification } = hosted(load.host(new RandomSource(seed), trace), shape, CAPACITY);
    const spec: ExperimentSpec = {
      ...common,
      workload,
      seed,
      ...(warmup === 0 ? {} : { warmup: { requests: warmup } }),
    };
    cell.push(measuredOf(await lab.run(name, spec, source), amplification));
  }
  return cell;
}

/** Write amplification of page mapping long after the fill: of the second half of so many random writes. */
async function steadyPage(lab: Lab): Promise<readonly number[]> {
  const spec: ExperimentSpec = {
    ...specOf(schemes[0]),
    workload: { kind: 'random', parameters: { requests: STEADY_REQUESTS, requestBytes: SLOT } },
    precondition: 'fill',
    warmup: { requests: STEADY_REQUESTS / 2 },
  };
  return (await lab.overSeeds('page, random, long', spec)).map(({ metrics }) => metrics['ftl.waf']);
}

const waf = (found: Measured): number => found.waf;
const rate = (found: Measured): number => found.rate;
const tail = (found: Measured): number => found.tail;

/** The schemes for which there is such a value, with the values of every workload. */
function given(rows: Cell[][], of: (found: Measured) => number): (readonly [name: string, cells: number[][]])[] {
  return schemes
    .map(({ name }, at) => [name, rows[at].map((cell) => cell.map(of))] as const)
    .filter(([, cells]) => !Number.isNaN(cells[0][0]));
}

function figure(
  rows: Cell[][],
  [id, title, unit]: readonly [string, string, string],
  of: (found: Measured) => number,
): ReproductionFigure {
  return {
    id,
    title,
    caption: 'One NAND model, 25 % spare flash, 32 writes in flight; range of the seeds.',
    kind: 'lines',
    x: { label: 'workload', values: workloads.map(({ name }) => name) },
    y: { label: unit, log: true },
    series: given(rows, of).map(([name, cells]) => ({ name, ...spread(cells) })),
  };
}

/** Mapping schemes over the same five workloads, with their defaults; those that take writes in order behind a host. */
export const schemeComparison: Study = {
  id: 'SCHEMES',
  title: 'mapping schemes over five workloads',
  paper: 'flashstack',
  tightness: 'own',
  scale: "a drive of 128 MiB: four chips with blocks of 64 pages, a 160th of VSSIM's X25-M",
  seeds: 5,
  cpuSeconds: 110,
  run: async (lab) => {
    const rows = await measure(lab);
    const of = (scheme: string, load: string, value: (found: Measured) => number): readonly number[] =>
      rows[schemes.findIndex(({ name }) => name === scheme)][workloads.findIndex(({ name }) => name === load)].map(
        value,
      );
    const over = (a: readonly number[], b: readonly number[]): number[] => a.map((value, i) => value / b[i]);
    const table = (title: string, value: (found: Measured) => number): Reproduction['tables'][number] => ({
      title,
      head: ['', ...workloads.map(({ name }) => name)],
      rows: given(rows, value).map(([name, cells]) => [name, ...spread(cells).values]),
    });
    const pageWaf = of('page', 'random', waf);
    const steady = await steadyPage(lab);
    return {
      claims: [
        claim({
          name: 'page mapping, random, 100,000 writes: write amplification over the closed form of greedy',
          unit: '×',
          published: 1,
          band: [0.85, 1.15],
          values: steady.map((value) => value / greedyWriteAmplification(alpha, BLOCK_SLOTS)),
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
        ...(
          [
            ['page, host streams', 'hot/cold'],
            ['segment, host log', 'random'],
          ] as const
        ).map(([name, load]) =>
          claim({
            name: `${name} over page mapping, ${load}: write amplification`,
            unit: '×',
            published: 'nobody has',
            band: null,
            values: over(of(name, load, waf), of('page', load, waf)),
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
          title: 'Mapping tables in RAM, KiB',
          head: ['', 'drive', 'host'],
          rows: schemes.map(({ name, inOrder = false }, at) => [
            name,
            rows[at][0][0].tableBytes / 1024,
            inOrder ? HOST_TABLE_BYTES / 1024 : 0,
          ]),
        },
      ],
      notes: [
        'Hybrid schemes take three quarters of the spare flash as log blocks, and DFTL caches 1 % of the entries: the defaults of each.',
        'Counted are the writes from 6,000 to 12,000 after a fill in order, which is no steady state: that takes ten times as many. When counting begins page mapping has 5 MiB of its spare flash left to write without collection, the log-structured host none.',
        'Host streams and FDP separate by the hints of Zipf and hot/cold: hot and cold. The other workloads give none. FDP is persistently isolated, so that it differs from host streams.',
        'Segment, disaggregate and zoned mapping take writes in order only. A log-structured host stands before them, which maps slots in its own RAM and cleans segments of 1 MiB greedily, on 148 MiB of the same 160 MiB of flash (the rest is reserve, and a page map for what is flushed before a page is full); what it copies counts as write amplification and not in MB/s. Their p99.9 is not given: writes wait in the host, too. Persistence of its map, and waiting of a copy for what it reads, are not modelled. The metadata area of disaggregate mapping lies idle.',
      ],
    };
  },
};

import type { Claim, Reproduction, ReproductionFigure } from '../src/index.js';

const claim = (name: string, rest: Partial<Claim>): Claim => ({
  name,
  unit: '×',
  published: 3.1,
  band: { low: 2.2, high: 4 },
  simulated: { mean: 2.84, low: 2.77, high: 2.9 },
  basis: 'time',
  verdict: 'pass',
  ...rest,
});

const rounds = Array.from({ length: 10 }, (_, i) => i + 1);

/** Figures of each kind and of every shape. */
const figures: readonly ReproductionFigure[] = [
  {
    id: 'benchmarks',
    title: 'Order and size agree, oltp is too good',
    caption: 'Throughput of four file systems.',
    kind: 'bars',
    x: { label: 'workload', values: ['videoserver', 'fileserver', 'varmail', 'oltp'] },
    y: { label: '× EXT4' },
    series: [
      { name: 'EXT4', values: [1, 1, 1, 1] },
      {
        name: 'F2FS',
        values: [1.01, 2.12, 2.31, 1.347],
        low: [1, 2.04, 2.22, 1.3],
        high: [1.02, 2.19, 2.4, 1.4],
      },
      { name: 'F2FS', values: [1, 2.4, 2.5, 1.16], published: true },
    ],
  },
  {
    id: 'rounds',
    title: 'Throughput drops in round 3, then stays level',
    caption: 'Throughput against a clean drive.',
    kind: 'lines',
    x: { label: 'round', values: rounds },
    y: { label: 'throughput, %' },
    series: [
      { name: '80 % full', values: rounds.map((round) => 100 - 1.2 / round) },
      {
        name: '97.5 % full',
        values: rounds.map((round) => (round < 3 ? 99 : 66 + 4 / round)),
        low: rounds.map((round) => (round < 3 ? 98 : 63)),
        high: rounds.map((round) => (round < 3 ? 100 : 70)),
      },
      { name: '97.5 % full', values: rounds.map((round) => (round === 10 ? 70 : Number.NaN)), published: true },
    ],
  },
  {
    id: 'sizes',
    title: 'Larger requests, more bandwidth',
    caption: 'Both axes logarithmic.',
    kind: 'lines',
    x: { label: 'request, KiB', values: [4, 8, 16, 32, 64, 128, 256, 512], log: true },
    y: { label: 'MB/s', log: true },
    series: [
      { name: 'sequential', values: [90, 170, 330, 600, 900, 1200, 1500, 1600] },
      { name: 'random', values: [12, 25, 48, 95, Number.NaN, 350, 640, 1100] },
      { name: 'the paper, read off', values: [10, 20, 40, 80, 160, 300, 600, 1000], published: true },
    ],
  },
  {
    id: 'memory',
    title: 'The mapping table of OrcFS is 400 times smaller',
    caption: 'At 1 TiB. Logarithmic.',
    kind: 'bars',
    x: { label: 'scheme', values: ['page map', 'hybrid', 'AMF', 'OrcFS with a long name that fits nowhere'] },
    y: { label: 'MiB', log: true },
    series: [
      { name: 'table', values: [1024, 186, 8, 2.27] },
      { name: 'paper', values: [1024, Number.NaN, 8, 2.2], published: true },
    ],
  },
  {
    id: 'changes',
    title: 'Changes go both ways',
    caption: 'Against the baseline.',
    kind: 'bars',
    x: { label: 'trace', values: Array.from({ length: 12 }, (_, i) => `trace number ${i + 1}`) },
    y: { label: 'change, %' },
    series: [
      { name: 'FAST', values: Array.from({ length: 12 }, (_, i) => (i - 5) * 7) },
      { name: 'LAST', values: Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? Number.NaN : 20 - i * 3)) },
    ],
  },
  {
    id: 'long',
    title: 'Write amplification settles',
    caption: 'From its floor.',
    kind: 'lines',
    x: { label: 'GiB written', values: Array.from({ length: 60 }, (_, i) => i * 3.5) },
    y: { label: 'write amplification' },
    series: [
      {
        name: 'greedy collection of the least valid of all blocks, the oldest first where some are equal',
        values: Array.from({ length: 60 }, (_, i) => (i === 30 || i === 32 ? Number.NaN : 1.02 + i / 900)),
        low: Array.from({ length: 60 }, (_, i) => 1.01 + i / 900),
        high: Array.from({ length: 60 }, (_, i) => 1.03 + i / 900),
      },
    ],
  },
  {
    id: 'policies',
    title: 'Policies by name',
    caption: 'Names along the axis.',
    kind: 'lines',
    x: { label: 'policy', values: ['greedy', 'cost-benefit', 'fifo', 'random'] },
    y: { label: 'erases' },
    series: [{ name: 'mean', values: [1000, 1200, 1500, 2200] }],
  },
];

/** A reproduction with a claim of every verdict and form, and a figure of every shape. */
export const f2fs: Reproduction = {
  schema: 'flashstack.reproduction/1',
  id: 'F2FS-FAST15',
  title: 'F2FS: A New File System for Flash Storage',
  paper: 'F2FS (FAST 2015)',
  tightness: 'B',
  scale: '1:8 (capacity, files, RAM)',
  seeds: [1, 2, 3],
  claims: [
    claim('random write, F2FS / EXT4', {}),
    claim('random writes leaving as 512 KiB', {
      unit: '%',
      published: '> 90',
      band: { low: 90, high: null },
      simulated: { mean: 94.1, low: 93.8, high: 94.3 },
      basis: 'events',
    }),
    claim('SQLite transactions', { published: 'up to 2.0', band: { low: 1.5, high: 2.5 }, simulated: same(1.71) }),
    claim('SQLite bytes against EXT4', {
      unit: '%',
      published: -46,
      band: { low: -55, high: -35 },
      simulated: { mean: -41.8, low: -42.6, high: -41.1 },
      basis: 'events',
    }),
    claim('oltp on SATA against EXT4', {
      unit: '%',
      published: '+16 %',
      band: { low: 5, high: 30 },
      simulated: { mean: 34.7, low: 32.1, high: 37.4 },
      verdict: 'miss',
      reason: 'EXT4 waits longer per fsync than on the machine of the authors.',
    }),
    claim('application trace, elapsed', {
      unit: '%',
      published: -20,
      band: { low: -30, high: -10 },
      simulated: { mean: 3.2, low: 1, high: 5.1 },
      verdict: 'expectedMiss',
      reason: 'The traces are not public.',
    }),
    claim('erases', {
      unit: '',
      published: 'shrinks with page size',
      band: null,
      simulated: same(13_751_424),
      basis: 'events',
      verdict: 'shown',
    }),
    claim('mapping table', {
      unit: 'MiB',
      published: 2.2,
      band: { low: 2.2, high: 2.4 },
      simulated: same(2.27),
      basis: 'size',
    }),
    claim('varmail', { published: 'no difference', band: { low: 0.9, high: 1.1 }, simulated: same(1.04) }),
  ],
  figures,
  tables: [
    {
      title: 'Calibration',
      head: ['bandwidth', 'published, MB/s', 'simulated, MB/s', 'used'],
      rows: [
        ['sequential read', 486, 484.21, 'yes'],
        ['sequential write', 471, 470.9, 'yes'],
      ],
    },
  ],
  notes: ['Bars of Figures 3 and 4 are not readable in the source: only values printed in the text are marked.'],
  runs: [
    { name: 'fileserver on f2fs', specHash: '9c41e0d7aa00bb11cc22dd33', seed: 1 },
    { name: 'fileserver on ext4', specHash: '0011223344556677889900aa', seed: 2 },
  ],
  versions: { flashstack: '1.0.0' },
};

/** A direction without a band. */
export const direction: Reproduction = {
  ...f2fs,
  id: 'JBD-READ',
  title: 'Reading while the journal is reclaimed',
  paper: 'JBD2 (2013)',
  tightness: 'D',
  scale: 'full size',
  seeds: [],
  claims: [
    claim('read speed', { unit: '×', published: 'faster', band: null, simulated: same(1.31), verdict: 'pass' }),
    claim('erases', { unit: '', published: 5, band: null, simulated: same(5), basis: 'events', verdict: 'shown' }),
  ],
  figures: [],
  tables: [],
  notes: [],
  runs: [],
};

function same(value: number): Claim['simulated'] {
  return { mean: value, low: value, high: value };
}

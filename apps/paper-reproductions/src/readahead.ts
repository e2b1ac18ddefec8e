import { Linux2637Readahead, NoReadahead, ReadaheadFile, type ReadaheadPolicy } from '@flashstack/pagecache-readahead';
import { RandomSource } from '@flashstack/sim';
import { claim, spread } from './claims.js';
import { meanLatencyNs } from './readahead-latency.js';
import type { Lab, Study } from './study.js';

const PAPER = 'Olivier (EWiLi 2014)';
const MIB = 2 ** 20;
const COUNTS = [8, 16, 32, 64, 128, 256, 512, 1024];
/** A window of 128 KiB; 2.6.37 knows no larger requests of the device. */
const limits = { raPages: 32, ioPages: 32 };
const SCALE = 'full size; pages of the cache are counted, two pages of flash each';

function pagesRead(policy: ReadaheadPolicy, fileBytes: number, offsets: readonly number[], bytes: number): number {
  const file = new ReadaheadFile(policy, { fileBytes, limits });
  const descriptor = file.open();
  for (const offset of offsets) file.read(descriptor, offset, bytes);
  return file.pagesFetched;
}

/** Pages that need not be read if read-ahead is off, per cent of those read with it. */
function saved(fileBytes: number, offsets: readonly number[], bytes: number): number {
  const off = pagesRead(new NoReadahead(), fileBytes, offsets, bytes);
  return 100 * (1 - off / pagesRead(new Linux2637Readahead(), fileBytes, offsets, bytes));
}

const inOrder = (count: number, bytes: number): number[] => Array.from({ length: count }, (_, at) => at * bytes);

/** Aligned offsets, drawn with repetition. */
function atRandom(seed: number, fileBytes: number, count: number, bytes: number): number[] {
  const random = new RandomSource(seed).stream(`offsets of ${bytes}`);
  return Array.from({ length: count }, () => random.below(fileBytes / bytes) * bytes);
}

const sequential = (fileBytes: number, count: number, bytes: number): number =>
  saved(fileBytes, inOrder(count, bytes), bytes);
const random = ({ seeds }: Lab, fileBytes: number, count: number, bytes: number): number[] =>
  seeds.map((seed) => saved(fileBytes, atRandom(seed, fileBytes, count, bytes), bytes));

/** The largest rise from one value to the next: not above zero if they fall. */
const largestRise = (values: readonly number[]): number =>
  Math.max(...values.slice(1).map((value, at) => value - values[at]));

const x = { label: 'requests', values: COUNTS, log: true };
const y = { label: 'page reads saved without read-ahead, %' };

/** What sequential reads lose by read-ahead (digest of the papers, 8.4 and 8.5). */
export const raSeq: Study = {
  id: 'RA-SEQ',
  title: 'read-ahead, 4 KiB reads in order',
  paper: PAPER,
  tightness: 'T',
  scale: SCALE,
  seeds: 1,
  cpuSeconds: 0,
  run: async () => {
    const values = COUNTS.map((count) => sequential(5 * MIB, count, 4096));
    return {
      claims: [
        claim({
          name: 'most that is saved',
          unit: '%',
          published: 'up to 70',
          band: [68, 75],
          values: [Math.max(...values)],
          basis: 'events',
        }),
        claim({
          name: 'least that is saved below 64 requests',
          unit: '%',
          published: 'above 50',
          band: [50, null],
          values: [Math.min(...values.slice(0, 3))],
          basis: 'events',
        }),
        claim({
          name: 'largest rise from one count to the next, from 16 on',
          unit: 'points',
          published: 'falls with the count',
          band: [null, 0],
          values: [largestRise(values.slice(1))],
          basis: 'events',
        }),
        claim({
          name: 'saved if the whole file is read',
          unit: '%',
          published: 'almost nothing',
          band: [0, 2],
          values: [sequential(5 * MIB, 1280, 4096)],
          basis: 'events',
        }),
      ],
      figures: [
        {
          id: 'saved',
          title: 'The fewer pages of a file are read, the more of what is read is read in vain',
          caption: 'A file of 5 MiB, 4 KiB requests in order, Linux 2.6.37 with a window of 128 KiB.',
          kind: 'lines',
          x,
          y,
          series: [{ name: 'sequential', values }],
        },
      ],
      tables: [
        {
          title: 'Page reads saved, %',
          head: ['requests', 'saved'],
          rows: COUNTS.map((count, at) => [count, values[at]]),
        },
      ],
      notes: ['Page counts only: the CPU time of a request, which lowers the saving in time, is not in them.'],
    };
  },
};

/** What random reads lose (digest of the papers, 8.4 and 8.5). */
export const raRand: Study = {
  id: 'RA-RAND',
  title: 'read-ahead, 4 KiB reads at random',
  paper: PAPER,
  tightness: 'B',
  scale: SCALE,
  // Of 32 reads at random, few or many have a cached neighbour: single runs lie between 0 and 50 %.
  seeds: 100,
  cpuSeconds: 1,
  run: async (lab) => {
    const rows = COUNTS.map((count) => random(lab, 5 * MIB, count, 4096));
    const of = (count: number): number[] => rows[COUNTS.indexOf(count)];
    return {
      claims: [
        claim({
          name: 'saved with 32 requests',
          unit: '%',
          published: 'about 20 up to 32',
          band: [12, 28],
          values: of(32),
          basis: 'events',
          lead: 'the mean of many draws is 9 %, but a single one of 32 requests lies anywhere from 0 to 40 %, and the paper does not say how many it shows.',
        }),
        claim({
          name: 'saved with 256 requests',
          unit: '%',
          published: 50,
          band: [42, 58],
          values: of(256),
          basis: 'events',
        }),
        claim({
          name: 'most that is saved',
          unit: '%',
          published: 'up to 60',
          band: [52, 68],
          values: lab.seeds.map((_, at) => Math.max(...rows.map((row) => row[at]))),
          basis: 'events',
        }),
        claim({
          name: 'saved with 1,024 requests less that with 256',
          unit: 'points',
          published: 'below 0',
          band: [null, 0],
          values: of(1024).map((value, at) => value - of(256)[at]),
          basis: 'events',
        }),
      ],
      figures: [
        {
          id: 'saved',
          title: 'Random reads meet cached neighbours, and each starts a window',
          caption:
            'A file of 5 MiB, 4 KiB requests at random, Linux 2.6.37 with a window of 128 KiB; range of the seeds.',
          kind: 'lines',
          x,
          y,
          series: [{ name: 'random', ...spread(rows) }],
        },
      ],
      tables: [
        {
          title: 'Page reads saved, %, mean of the seeds',
          head: ['requests', 'saved'],
          rows: COUNTS.map((count, at) => [count, spread(rows).values[at]]),
        },
      ],
      notes: [
        'One cached page before a miss is enough for 2.6.37 to read twelve pages. Kernels from 3.13 on ask for more cached pages than are requested.',
      ],
    };
  },
};

const SIZES = [2048, 4096, 8192, 16_384, 32_768];

/** Sizes of requests (digest of the papers, 8.4). */
export const raSize: Study = {
  id: 'RA-SIZE',
  title: 'read-ahead, requests of 2 to 32 KiB',
  paper: PAPER,
  tightness: 'B',
  scale: SCALE,
  seeds: 20,
  cpuSeconds: 2,
  run: async (lab) => {
    const file = 32 * MIB;
    const inTurn = SIZES.map((bytes) => COUNTS.map((count) => sequential(file, count, bytes)));
    const drawn = SIZES.map((bytes) => COUNTS.map((count) => random(lab, file, count, bytes)));
    const many = drawn.map((rows) => rows[COUNTS.length - 1]);
    return {
      claims: [
        claim({
          name: 'sequential: largest rise from 4 to 32 KiB at the same count',
          unit: 'points',
          published: 'falls with the bytes read',
          band: [null, 0],
          values: [Math.max(...COUNTS.map((_, at) => inTurn[4][at] - inTurn[1][at]))],
          basis: 'events',
        }),
        claim({
          name: 'random, 1,024 requests: 32 KiB less 16 KiB',
          unit: 'points',
          published: 'drops',
          band: [null, -8],
          values: many[4].map((value, at) => value - many[3][at]),
          basis: 'events',
        }),
        claim({
          name: 'random, 1,024 requests: 2 KiB less 4 KiB',
          unit: 'points',
          published: 'slightly above 0',
          band: [-8, 8],
          values: many[0].map((value, at) => value - many[1][at]),
          basis: 'events',
        }),
        claim({
          name: 'sequential, the whole file in 1,024 requests of 32 KiB',
          unit: '%',
          published: 'almost nothing',
          band: [0, 2],
          values: [inTurn[4][COUNTS.length - 1]],
          basis: 'events',
        }),
      ],
      figures: [
        {
          id: 'sequential',
          title: 'In order, what is saved falls with the bytes that are read',
          caption: 'A file of 32 MiB, Linux 2.6.37 with a window of 128 KiB.',
          kind: 'lines',
          x,
          y,
          series: SIZES.map((bytes, at) => ({ name: `${bytes / 1024} KiB`, values: inTurn[at] })),
        },
        {
          id: 'random',
          title: 'At random, requests that cover the file find fewer pages to read in vain',
          caption: 'A file of 32 MiB, Linux 2.6.37 with a window of 128 KiB; range of the seeds.',
          kind: 'lines',
          x,
          y,
          series: SIZES.map((bytes, at) => ({ name: `${bytes / 1024} KiB`, ...spread(drawn[at]) })),
        },
      ],
      tables: [
        {
          title: '1,024 requests: page reads saved, %, mean of the seeds',
          head: ['KiB', 'sequential', 'random'],
          rows: SIZES.map((bytes, at) => [bytes / 1024, inTurn[at][COUNTS.length - 1], spread(many).values[at]]),
        },
      ],
    };
  },
};

const GAPS_MS = [0, 1, 2, 5, 10, 20, 50];

/** The time between requests, on memory that is read synchronously (digest of the papers, 8.1 and 8.4). */
export const raGap: Study = {
  id: 'RA-GAP',
  title: 'read-ahead, time between requests',
  paper: PAPER,
  tightness: 'T',
  scale: 'full size; 130 µs for 2 KiB of flash, no CPU time',
  seeds: 1,
  cpuSeconds: 1,
  run: async () => {
    const synchronous = GAPS_MS.map((ms) => meanLatencyNs(ms * 1e6, true) / 1e3);
    const beside = GAPS_MS.map((ms) => meanLatencyNs(ms * 1e6, false) / 1e3);
    return {
      claims: [
        claim({
          name: 'mean latency: largest over least of all gaps',
          unit: '×',
          published: 'does not depend on the gap',
          band: [1, 1],
          values: [Math.max(...synchronous) / Math.min(...synchronous)],
          basis: 'time',
        }),
        claim({
          name: 'the same if the device read beside the program',
          unit: '×',
          published: 'not given',
          band: null,
          values: [Math.max(...beside) / Math.min(...beside)],
          basis: 'time',
        }),
      ],
      figures: [
        {
          id: 'latency',
          title: 'Read-ahead hides nothing where the program waits for all of it',
          caption: 'Mean latency of 4 KiB reads in order, a file of 5 MiB, Linux 2.6.37 with a window of 128 KiB.',
          kind: 'lines',
          x: { label: 'gap, ms', values: GAPS_MS },
          y: { label: 'µs' },
          series: [
            { name: 'the program waits for every page (MTD)', values: synchronous },
            { name: 'the device reads beside it', values: beside },
          ],
        },
      ],
      notes: ['The second line is ours: the same flash behind a device that takes requests in its own time.'],
    };
  },
};

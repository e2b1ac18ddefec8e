import { InputError, RandomSource, type RandomStream } from '@flashstack/sim';
import type { FsCapabilities } from '@flashstack/vfs';
import { BASE_STATES } from './base-states.js';
import { baseFor } from './enumerate.js';
import { Names } from './names.js';
import { offers } from './operations.js';
import type { Step, Workload } from './workload.js';

/** What random workloads are like. */
export interface RandomBounds {
  /** Operations of each program, about. */
  readonly steps: number;
  /** Programs that run beside each other. Default 1. */
  readonly processes?: number;
  readonly seed: number;
  /** What the file system offers; steps that it does not are not drawn. Absent: it offers everything. */
  readonly capabilities?: FsCapabilities;
  /** Longest offset of a write, bytes. Default 48 KiB. */
  readonly offsets?: number;
  /** How many persistence points there are among 100 operations, about. Default 25. */
  readonly persistence?: number;
}

const NAMES = ['foo', 'bar', 'baz', 'x', `long-${'n'.repeat(200)}`];
/** Limits of formats that writes begin and end near to. */
const EDGES = [0, 512, 4096, 8192, 12_288, 16_384, 49_152];
const MOST_DEPTH = 4;

type Draw = (random: RandomStream, around: Surroundings) => readonly Step[];

interface Surroundings {
  /** Behind each name that a program makes, so that several have their own. */
  readonly suffix: string;
  readonly files: readonly string[];
  readonly directories: readonly string[];
  readonly offsets: number;
}

function pick<T>(random: RandomStream, from: readonly T[]): T {
  return from[random.below(from.length)];
}

const file = (random: RandomStream, { files }: Surroundings): string =>
  files.length === 0 ? 'foo' : pick(random, files);

function fresh(random: RandomStream, { directories, suffix }: Surroundings): string {
  const shallow = directories.filter((path) => path.split('/').length < MOST_DEPTH);
  const directory = pick(random, shallow);
  const name = pick(random, NAMES) + suffix;
  return directory === '' ? name : `${directory}/${name}`;
}

function offset(random: RandomStream, { offsets }: Surroundings): number {
  const edge = pick(
    random,
    EDGES.filter((limit) => limit <= offsets),
  );
  return Math.max(0, edge + pick(random, [-1, 0, 0, 0, 1, 1000]));
}

const length = (random: RandomStream): number => pick(random, [1, 511, 512, 3000, 4096, 5000, 8192, 9000]);
const write =
  (name: string): Draw =>
  (random, around) => [[name, file(random, around), offset(random, around), length(random)]];
const append =
  (name: string): Draw =>
  (random, around) => [[name, file(random, around), length(random)]];
const object = (random: RandomStream, around: Surroundings): string =>
  random.below(3) === 0 ? pick(random, around.directories) : file(random, around);
const target = (random: RandomStream, around: Surroundings): string =>
  random.below(2) === 0 ? fresh(random, around) : object(random, around);

/** What is drawn, and how often. Several steps belong together where handles are used. */
const CHANGES: readonly (readonly [weight: number, draw: Draw])[] = [
  [10, (random, around) => [['create', fresh(random, around)]]],
  [4, (random, around) => [['mkdir', fresh(random, around)]]],
  [
    2,
    (random, around) => [
      ['symlink', `${pick(random, ['foo', '../foo', 'absent'])}${around.suffix}`, fresh(random, around)],
    ],
  ],
  [6, (random, around) => [['unlink', file(random, around)]]],
  [2, (random, around) => [['rmdir', pick(random, around.directories)]]],
  [5, (random, around) => [['link', file(random, around), fresh(random, around)]]],
  [10, (random, around) => [['rename', object(random, around), target(random, around)]]],
  [1, (random, around) => [['rename-noreplace', object(random, around), fresh(random, around)]]],
  [2, (random, around) => [['exchange', object(random, around), object(random, around)]]],
  [12, write('write')],
  [2, write('write-sync')],
  [2, write('write-dsync')],
  [3, (random, around) => [['write-direct', file(random, around), 4096 * random.below(4), 4096]]],
  [10, append('append')],
  [1, append('append-sync')],
  [1, append('append-dsync')],
  [3, write('store')],
  [5, (random, around) => [['truncate', file(random, around), offset(random, around)]]],
  [
    4,
    (random, around) => [
      [
        'fallocate',
        file(random, around),
        pick(random, ['allocate', 'keep-size', 'punch', 'zero', 'zero-keep-size']),
        offset(random, around),
        length(random),
      ],
    ],
  ],
  [1, (random, around) => [['fallocate', file(random, around), pick(random, ['collapse', 'insert']), 4096, 4096]]],
  [
    3,
    (random, around) => [
      ['setxattr', file(random, around), pick(random, ['user.one', 'user.two']), `value ${random.below(100)}`],
    ],
  ],
  [2, (random, around) => [['removexattr', file(random, around), 'user.one']]],
  [3, (random, around) => [['chmod', object(random, around), pick(random, [0o600, 0o640, 0o755])]]],
  [1, (random, around) => [['chown', file(random, around), random.below(3), random.below(3)]]],
  [1, unlinkedWrites],
  [1, unnamed],
];

const PERSISTENCE: readonly (readonly [weight: number, draw: Draw])[] = [
  [10, (random, around) => [['fsync', object(random, around)]]],
  [6, (random, around) => [['fdatasync', object(random, around)]]],
  [2, () => [['sync']]],
  [1, () => [['syncfs']]],
  [1, write('msync')],
  [1, write('sync-range')],
];

/** A file that is written after its name is gone. */
function unlinkedWrites(random: RandomStream, around: Surroundings): Step[] {
  const path = file(random, around);
  return [
    ['open', '#1', path],
    ['unlink', path],
    ['append', '#1', length(random)],
    ['fsync', '#1'],
    ['close', '#1'],
  ];
}

/** A file that gets its name when it is complete. */
function unnamed(random: RandomStream, around: Surroundings): Step[] {
  const directory = pick(random, around.directories);
  const synced: Step[] = random.below(2) === 0 ? [['fsync', '#2']] : [];
  return [
    ['tmpfile', '#2', directory],
    ['append', '#2', length(random)],
    ...synced,
    ['link', '#2', fresh(random, around)],
    ['close', '#2'],
  ];
}

/**
 * A workload drawn by a seed. Nearly all of its steps succeed. Several programs share directories, but each has files of its
 * own: the path and the file of a step are not looked up in one go, so that others could come between.
 * @throws InputError
 */
export function randomWorkload(bounds: RandomBounds): Workload {
  const { steps, processes = 1, seed, capabilities, offsets = 49_152, persistence = 25 } = bounds;
  demand('steps', steps, 1);
  demand('processes', processes, 1);
  demand('persistence', persistence, 0);
  const random = new RandomSource(seed).stream('workload');
  const base = baseFor(capabilities);
  const programs: Step[][] = [];
  for (let process = 0; process < processes; process++) {
    const names = new Names();
    for (const step of BASE_STATES[base]) if (process === 0 || step[0] === 'mkdir') names.apply(step);
    const suffix = process === 0 ? '' : `.${process}`;
    const wanted: Wanted = { offsets, persistence, capabilities, suffix, shared: processes > 1 };
    const program: Step[] = [];
    while (program.length < steps) program.push(...next(random, names, wanted));
    programs.push(program);
  }
  return { base, processes: programs, seed };
}

function demand(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new InputError('ERR_BOUNDS', `${name} is ${value}, expected an integer ≥ ${least}`, name);
}

interface Wanted {
  readonly offsets: number;
  readonly persistence: number;
  readonly capabilities: FsCapabilities | undefined;
  readonly suffix: string;
  /** Others use the directories of the base state too. */
  readonly shared: boolean;
}

/** What may not happen to a directory that others use. */
const MOVES: ReadonlySet<string> = new Set(['rename', 'rename-noreplace', 'exchange', 'rmdir', 'chmod']);
const SHARED: ReadonlySet<string | number> = new Set(['', 'A', 'B']);

/** The next steps that succeed. */
function next(random: RandomStream, names: Names, wanted: Wanted): readonly Step[] {
  const { offsets, persistence, capabilities, suffix, shared } = wanted;
  const around = { suffix, files: names.ofKind('file'), directories: names.ofKind('directory'), offsets };
  for (;;) {
    const table = random.below(100) < persistence ? PERSISTENCE : CHANGES;
    const steps = weighted(random, table)(random, around);
    if (capabilities !== undefined && !steps.every((step) => offers(capabilities, step))) continue;
    if (shared && steps.some(([name, ...args]) => MOVES.has(name) && args.some((path) => SHARED.has(path)))) continue;
    const after = names.copy();
    if (!steps.every((step) => performs(after, step))) continue;
    for (const step of steps) performs(names, step);
    return steps;
  }
}

/** Applies a step, that of a handle as far as names go. */
function performs(names: Names, step: Step): boolean {
  const [name, first, second] = step;
  if (!String(first).startsWith('#')) return names.apply(step);
  return name !== 'link' || names.apply(['create', second]);
}

function weighted(random: RandomStream, table: readonly (readonly [weight: number, draw: Draw])[]): Draw {
  let left = random.below(table.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, draw] of table) {
    left -= weight;
    if (left < 0) return draw;
  }
  throw new RangeError('weights do not add up');
}

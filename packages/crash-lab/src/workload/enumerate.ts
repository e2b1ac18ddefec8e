import { InputError, RandomSource } from '@flashstack/sim';
import type { FsCapabilities } from '@flashstack/vfs';
import { BASE_STATES } from './base-states.js';
import { CORE_STEPS } from './bounds.js';
import { Names, parentOf } from './names.js';
import { OPERATIONS, offers } from './operations.js';
import type { Step, Workload } from './workload.js';

/** Which bounded workloads are wanted. */
export interface Bounds {
  /** Core operations of a workload. */
  readonly length: number;
  /** Where something may be made durable: behind the last operation only, or behind each. */
  readonly persistence: 'last' | 'anywhere';
  /** What the file system offers; steps that it does not are left out. Absent: it offers everything. */
  readonly capabilities?: FsCapabilities;
}

/** Which of the bounded workloads are taken. */
export interface Selection {
  /** Every `of`-th workload, from number `index` (0 and up) on. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** So many workloads, drawn by a seed, in order. */
  readonly sample?: { readonly count: number; readonly seed: number };
}

/** How many there are. */
export interface BoundedCounts {
  /** Sequences of core operations. */
  readonly cores: number;
  readonly workloads: number;
}

/** A sequence of core operations, and what may stand behind each of them (null: nothing). */
interface Core {
  readonly steps: readonly Step[];
  readonly choices: readonly (readonly (Step | null)[])[];
}

/** Numbers of the bounded workloads. @throws InputError */
export function countBounded(bounds: Bounds): BoundedCounts {
  let [cores, workloads] = [0, 0];
  for (const core of sequences(bounds)) {
    cores++;
    workloads += combinations(core);
  }
  return { cores, workloads };
}

/**
 * The bounded workloads, in an order of their own, without ever holding more than one: all sequences of core operations
 * that succeed, with all ways to make something durable, never nothing at the end. @throws InputError
 */
export function* boundedWorkloads(bounds: Bounds, { shard, sample }: Selection = {}): Generator<Workload, void> {
  const { index, of } = shard ?? { index: 0, of: 1 };
  if (!Number.isSafeInteger(of) || of < 1 || !Number.isSafeInteger(index) || index < 0 || index >= of) {
    throw new InputError('ERR_SHARD', `shard ${index} of ${of}: expected integers, 0 ≤ index < of`, 'shard');
  }
  const base = baseFor(bounds.capabilities);
  const wanted = sample === undefined ? null : draw(countBounded(bounds).workloads, sample.count, sample.seed);
  // The next workload that is wanted: its number, and how many of them came before it.
  let [next, taken] = [wanted === null ? index : (wanted[index] ?? Number.POSITIVE_INFINITY), index];
  let first = 0;
  for (const core of sequences(bounds)) {
    const end = first + combinations(core);
    while (next < end) {
      yield { base, processes: [stepsOf(core, next - first)], seed: 1 };
      taken += of;
      next = wanted === null ? taken : (wanted[taken] ?? Number.POSITIVE_INFINITY);
    }
    first = end;
  }
}

/** Name of the base state of bounded workloads on a file system. */
export function baseFor(capabilities: FsCapabilities | undefined): string {
  return capabilities?.attributeBytes === 0 ? 'two files' : 'two files with attributes';
}

/** Different numbers below `population`, ascending. */
function draw(population: number, count: number, seed: number): number[] {
  const random = new RandomSource(seed).stream('bounded workloads');
  // Selection in one pass (Knuth, volume 2, algorithm S) would look at each of millions; collisions are rare instead.
  const drawn = new Set<number>();
  const most = Math.min(count, population);
  while (drawn.size < most) drawn.add(random.below(population));
  return [...drawn].sort((a, b) => a - b);
}

function combinations({ choices }: Core): number {
  return choices.reduce((product, { length }) => product * length, 1);
}

/** The steps of one combination of what stands behind each core operation. */
function stepsOf({ steps, choices }: Core, number: number): Step[] {
  const sequence: Step[] = [];
  let rest = number;
  for (const [at, step] of steps.entries()) {
    sequence.push(step);
    const choice = choices[at][rest % choices[at].length];
    rest = Math.floor(rest / choices[at].length);
    if (choice !== null) sequence.push(choice);
  }
  return sequence;
}

function* sequences({ length, persistence, capabilities }: Bounds): Generator<Core, void> {
  if (!Number.isSafeInteger(length) || length < 1) {
    throw new InputError('ERR_BOUNDS', `length is ${length}, expected an integer ≥ 1 of core operations`, 'length');
  }
  const usable = capabilities === undefined ? CORE_STEPS : CORE_STEPS.filter((step) => offers(capabilities, step));
  const names = new Names();
  for (const step of BASE_STATES[baseFor(capabilities)]) names.apply(step);
  yield* extend({ usable, length, anywhere: persistence === 'anywhere' }, names, [], [], []);
}

interface Search {
  readonly usable: readonly Step[];
  readonly length: number;
  readonly anywhere: boolean;
}

function* extend(
  search: Search,
  names: Names,
  steps: readonly Step[],
  choices: Core['choices'],
  used: readonly string[],
): Generator<Core, void> {
  if (steps.length === search.length) {
    yield { steps, choices };
    return;
  }
  const last = steps.length + 1 === search.length;
  for (const step of search.usable) {
    const paths = pathsOf(step);
    if (!inOrder(used, paths)) continue;
    const after = names.copy();
    if (!after.apply(step)) continue;
    const nowUsed = [...new Set([...used, ...paths])];
    const here = last || search.anywhere ? persistencePoints(after, nowUsed, last) : [null];
    yield* extend(search, after, [...steps, step], [...choices, here], nowUsed);
  }
}

function pathsOf([name, ...args]: Step): string[] {
  const { args: kinds } = OPERATIONS[name];
  return args.filter((_, at) => kinds[at] === 'path' || kinds[at] === 'file').map(String);
}

/** Of the two files that are alike, `B/foo` is used first. */
function inOrder(used: readonly string[], paths: readonly string[]): boolean {
  if (used.includes('B/foo') || !paths.includes('B/bar')) return true;
  return paths.includes('B/foo') && paths.indexOf('B/foo') < paths.indexOf('B/bar');
}

/** What may stand behind an operation: nothing (unless it is the last), sync, fsync and fdatasync of what is there. */
function persistencePoints(names: Names, used: readonly string[], last: boolean): (Step | null)[] {
  const points: (Step | null)[] = last ? [['sync']] : [null, ['sync']];
  const objects = new Set<string>();
  for (const path of used) objects.add(path).add(parentOf(path));
  for (const path of objects) {
    if (names.resolve(path) !== null) points.push(['fsync', path], ['fdatasync', path]);
  }
  return points;
}

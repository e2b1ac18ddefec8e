import { FaultDevice } from '@flashstack/block-device';
import { Delay, RandomSource, type RandomStream, Simulator, type Task } from '@flashstack/sim';
import { type DirectoryEntry, FileKind, FileStatus, OpenFlag, RenameFlag, type Thread } from '../index.js';
import { check, codeOf, equal, type FileSystemUnderTest, go, Tester } from './harness.js';
import { linearizable, type Run } from './linearize.js';
import { describeNode, TreeModel, type TreeOperation } from './tree-model.js';

const { create, directory, exclusive, readOnly, writeOnly } = OpenFlag;
const { exchange, noReplace } = RenameFlag;
const BYTES = 2 * 2 ** 20;
/** Directories that there are at the beginning, each of them known by its permissions. */
const START = ['/a', '/a/b', '/a/b/c', '/b', '/b/a', '/c'].map((path, at): [string, number] => [path, 0o700 + at]);
const NAMES = ['a', 'b', 'c'];
const OPERATIONS: readonly (readonly [TreeOperation['name'], number])[] = [
  ['mkdir', 4],
  ['file', 2],
  ['rmdir', 3],
  ['unlink', 1],
  ['rename', 9],
  ['stat', 3],
  ['list', 2],
  ['chdir', 1],
];
const WEIGHT: number = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);
/** Each alone is right. Both, checked side by side, would leave a loop that nothing leads to. */
const INTO_EACH_OTHER: readonly (readonly [string, string])[] = [
  ['/a/b', '/b/a/c'],
  ['/b/a', '/a/b/a'],
];
/** Up from wherever one is, and further. */
const CLIMB: string = '../'.repeat(64);

/** How often operations ended with which code, over all cases. */
export type Outcomes = Map<string, number>;

function draw(random: RandomStream, mode: number, exchanges: boolean): TreeOperation {
  let left = random.below(WEIGHT);
  let name: TreeOperation['name'] = 'stat';
  for (const [candidate, weight] of OPERATIONS) {
    left -= weight;
    if (left >= 0) continue;
    name = candidate;
    break;
  }
  // What is looked at may end in two dots, what is changed has a name.
  const looks = name === 'stat' || name === 'list' || name === 'chdir';
  const flags = [0, 0, noReplace, exchanges ? exchange : 0][random.below(4)];
  return { name, path: pathOf(random, looks), other: pathOf(random, false), flags, mode };
}

function pathOf(random: RandomStream, mayEndInDots: boolean): string {
  const parts: string[] = [];
  for (let left = random.below(3); left > 0; left--) {
    parts.push(NAMES[random.below(3)]);
    if (random.below(5) === 0) parts.push('..');
  }
  if (!mayEndInDots || random.below(4) > 0) parts.push(NAMES[random.below(3)]);
  else parts.push('..');
  return (random.below(4) > 0 ? '/' : '') + parts.join('/');
}

/** Runs an operation; its result in the words of the model. */
function* run(thread: Thread, operation: TreeOperation): Task<string> {
  let result = 'ok';
  const code = yield* codeOf(() => call(thread, operation, (text) => (result = text)));
  return code === 'none' ? result : code;
}

function* call(
  thread: Thread,
  { name, path, other, flags, mode }: TreeOperation,
  say: (text: string) => void,
): Task<void> {
  switch (name) {
    case 'mkdir':
      yield* go(thread.mkdir(path, mode));
      return;
    case 'file':
      yield* go(thread.close(yield* go(thread.open(path, create | exclusive | writeOnly, mode))));
      return;
    case 'rmdir':
      yield* go(thread.rmdir(path));
      return;
    case 'unlink':
      yield* go(thread.unlink(path));
      return;
    case 'rename':
      yield* go(thread.rename(path, other, flags));
      return;
    case 'chdir':
      yield* go(thread.chdir(path));
      return;
    case 'stat': {
      const status = new FileStatus();
      yield* go(thread.lstat(path, status));
      return say(describe(status));
    }
    default:
      return say(yield* namesOf(thread, path));
  }
}

function describe(status: FileStatus): string {
  const permissions = status.mode & 0o777;
  return describeNode(status.mode >> 12 === FileKind.directory, permissions === 0o755 ? 0 : permissions, status.links);
}

function* namesOf(thread: Thread, path: string): Task<string> {
  const fd = yield* go(thread.open(path, readOnly | directory));
  try {
    const entries: DirectoryEntry[] = [];
    yield* go(thread.readdir(fd, entries));
    return entries
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .join();
  } finally {
    yield* go(thread.close(fd));
  }
}

/** A mounted file system whose device takes a while, with the directories that cases begin with. */
function begun(subject: FileSystemUnderTest, source: RandomSource, seed: number): Tester {
  const simulator = new Simulator();
  const made = subject.format?.(simulator, BYTES) ?? null;
  const latency = { simulator, random: source.stream('latency'), rules: [{ probability: 0.5, latencyNs: 1700 }] };
  const device = made === null ? null : new FaultDevice(made, { ...latency, latencyNs: 1000 });
  const t = new Tester(subject, BYTES, device === null ? null : { simulator, device }, seed);
  t.run(go(t.root.chmod('/', 0o755)));
  return t;
}

function* together(t: Tester, count: number, program: (number: number) => Task<void>): Task<void> {
  const started = Array.from({ length: count }, (_, at) => t.simulator.spawn(`program ${at}`, program(at)));
  for (const process of started) {
    yield process;
    if (process.state === 'failed') throw process.error;
  }
}

/** Three programs move directories about; throws unless what they saw fits some order of the steps of their operations. */
export function nest(subject: FileSystemUnderTest, seed: number, operations: number, outcomes: Outcomes): void {
  const source = new RandomSource(seed);
  const t = begun(subject, source, seed);
  for (const [path, mode] of START) t.run(t.mkdir(path, mode));
  const runs: Run<TreeOperation>[] = [];
  let order = 0;
  function* program(process: number): Task<void> {
    const random = source.stream(`program ${process}`);
    const thread = t.as(0, 0);
    for (let at = 0; at < operations; at++) {
      const drawn = draw(random, 0o710 + process * operations + at, t.capabilities.renameExchange);
      const first = at === 0 && seed % 4 === 0 ? INTO_EACH_OTHER[process] : undefined;
      const operation: TreeOperation =
        first === undefined ? drawn : { ...drawn, name: 'rename', path: first[0], other: first[1], flags: 0 };
      const done: Run<TreeOperation> = { process, operation, begin: order++, end: 0, result: '' };
      runs.push(done);
      done.result = yield* run(thread, operation);
      done.end = order++;
      count(outcomes, operation, done.result);
      yield new Delay(t.simulator).for(random.below(4) * 700);
    }
  }
  t.run(together(t, 3, program));
  const listing = t.run(soundTree(t));
  if (!linearizable(new TreeModel(3, START), runs, 3, listing)) {
    const history = runs.map(
      ({ process, operation: { name, path, other, flags, mode }, begin, end, result }) =>
        `${begin}–${end} process ${process}: ${name} ${path} ${other} flags ${flags} mode ${mode.toString(8)} → ${result}`,
    );
    throw new Error(
      `seed ${seed}: no order of these operations explains their results and\n${listing}\n${history.join('\n')}`,
    );
  }
  t.run(t.unmount());
}

function count(outcomes: Outcomes, { name }: TreeOperation, result: string): void {
  const key = `${name} ${result}`;
  outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
}

/**
 * Many programs move directories about. Whoever climbs comes to the root at any time; in the end there is one tree, with
 * nothing outside of it, also after a remount; and when it is removed, all of its space has come back.
 */
export function crowd(subject: FileSystemUnderTest, seed: number, programs: number, operations: number): void {
  const source = new RandomSource(seed);
  const t = begun(subject, source, seed);
  t.run(t.mkdir('/t', 0o711));
  const before = t.run(used(t));
  t.run(go(t.root.chmod('/t', 0o755)));
  const root = t.run(t.lstat('/')).ino;
  function* program(process: number): Task<void> {
    const random = source.stream(`program ${process}`);
    const thread = t.as(0, 0, { directory: '/t' });
    const status = new FileStatus();
    for (let at = 0; at < operations; at++) {
      const drawn = draw(random, 1 + ((process * operations + at) % 0o700), t.capabilities.renameExchange);
      const operation = { ...drawn, path: below(drawn.path), other: below(drawn.other) };
      // Some go on from where they are, though that may have been moved or removed.
      yield* run(thread, random.below(3) === 0 ? drawn : operation);
      yield* go(thread.lstat(CLIMB, status));
      equal(status.ino, root, `seed ${seed}: where program ${process} comes to by climbing`);
    }
  }
  t.run(together(t, programs, program));
  const listing = t.run(soundTree(t));
  t.run(t.remount());
  equal(t.run(soundTree(t)), listing, `seed ${seed}: the tree after a remount`);
  t.run(emptied(t, '/t'));
  for (const name of t.run(t.names('/'))) {
    if (name !== 't' && NAMES.includes(name)) t.run(removed(t, `/${name}`));
  }
  t.run(t.remount());
  equal(t.run(used(t)), before, `seed ${seed}: what is in use without the tree`);
  t.run(t.unmount());
}

/** The same path under `/t`. */
function below(path: string): string {
  return path.startsWith('/') ? `/t${path}` : path;
}

/** Inodes in use, or blocks if inodes are not limited. */
function* used(t: Tester): Task<number> {
  yield* go(t.root.sync());
  const { blocks, free, inodes, freeInodes } = yield* t.status();
  return inodes > 0 ? inodes - freeInodes : blocks - free;
}

function* emptied(t: Tester, path: string): Task<void> {
  for (const name of yield* t.names(path)) yield* removed(t, `${path}/${name}`);
}

function* removed(t: Tester, path: string): Task<void> {
  if ((yield* t.lstat(path)).mode >> 12 !== FileKind.directory) {
    yield* go(t.root.unlink(path));
    return;
  }
  yield* emptied(t, path);
  yield* go(t.root.rmdir(path));
}

/** All that can be reached, as a model lists it. @throws Error unless it is a tree, with links and two dots as they must be. */
function* soundTree(t: Tester): Task<string> {
  const lines: string[] = [];
  const seen = new Set<number>();
  function* walk(path: string, up: number): Task<boolean> {
    const status = yield* t.lstat(path || '/');
    check(!seen.has(status.ino), `${path} is reached by one path only`);
    seen.add(status.ino);
    lines.push(`${path || '/'} ${describe(status)}`);
    if (status.mode >> 12 !== FileKind.directory) {
      equal(status.links, 1, `links of ${path}`);
      return false;
    }
    const { ino, links } = status;
    const dots = (yield* t.entries(path || '/')).filter(({ name }) => name.startsWith('.'));
    equal(dots.find(({ name }) => name === '.')?.ino, ino, `number of the dot of ${path}`);
    equal(dots.find(({ name }) => name === '..')?.ino, up < 0 ? ino : up, `number of the two dots of ${path}`);
    equal((yield* t.lstat(`${path}/..`)).ino, up < 0 ? ino : up, `where the two dots of ${path} lead`);
    let directories = 0;
    for (const name of yield* t.names(path || '/')) if (yield* walk(`${path}/${name}`, ino)) directories++;
    equal(links, 2 + directories, `links of ${path || '/'}`);
    return true;
  }
  yield* walk('', -1);
  return lines.join('\n');
}

import { type BlockDevice, FaultDevice } from '@flashstack/block-device';
import { Delay, RandomSource, type RandomStream, type Scheduler, Simulator, type Task } from '@flashstack/sim';
import { type DirectoryEntry, FileStatus, OpenFlag, type Thread } from '../index.js';
import { bytesOf, codeOf, type FileSystemUnderTest, go, Tester, textOf } from './harness.js';
import { linearizable, type Run } from './linearize.js';
import { type Operation, ReferenceModel } from './reference-model.js';

const { append, create, directory, exclusive, readOnly, readWrite } = OpenFlag;
const BYTES = 2 * 2 ** 20;
const NAMES = ['/d0/x', '/d0/y', '/d1/x', '/d1/y'];
const OPERATIONS = [
  ['create', 2],
  ['open', 3],
  ['openOrCreate', 3],
  ['mkdir', 2],
  ['unlink', 3],
  ['rmdir', 2],
  ['rename', 5],
  ['link', 3],
  ['truncate', 2],
  ['stat', 3],
  ['list', 2],
  ['append', 4],
  ['read', 4],
  ['ftruncate', 1],
  ['fstat', 2],
  ['fsync', 2],
  ['close', 1],
] as const;
const WEIGHT = OPERATIONS.reduce((sum, [, weight]) => sum + weight, 0);

function draw(random: RandomStream, number: number, links: boolean): Operation {
  let left = random.below(WEIGHT);
  let name: string = 'stat';
  for (const [candidate, weight] of OPERATIONS) {
    left -= weight;
    if (left >= 0) continue;
    name = candidate;
    break;
  }
  if (name === 'link' && !links) name = 'rename';
  const path = name === 'list' ? `/d${random.below(2)}` : NAMES[random.below(NAMES.length)];
  const other = NAMES[random.below(NAMES.length)];
  return { name, path, other, text: String.fromCharCode(97 + (number % 26)).repeat(2), size: random.below(6) };
}

/** One process: its descriptor, and its operations one after the other. */
class Program {
  private readonly thread: Thread;
  private fd = -1;

  constructor(thread: Thread) {
    this.thread = thread;
  }

  /** Runs an operation; its result in the words of the reference model. */
  *run(operation: Operation): Task<string> {
    let result = 'ok';
    const code = yield* codeOf(() => this.call(operation, (text) => (result = text)));
    return code === 'none' ? result : code;
  }

  private *call({ name, path, other, text, size }: Operation, say: (text: string) => void): Task<void> {
    const { thread, fd } = this;
    const status = new FileStatus();
    switch (name) {
      case 'create':
        return yield* this.become(path, readWrite | create | exclusive);
      case 'open':
        return yield* this.become(path, readWrite);
      case 'openOrCreate':
        return yield* this.become(path, readWrite | create);
      case 'mkdir':
        yield* go(thread.mkdir(path, 0o755));
        return;
      case 'unlink':
        yield* go(thread.unlink(path));
        return;
      case 'rmdir':
        yield* go(thread.rmdir(path));
        return;
      case 'rename':
        yield* go(thread.rename(path, other));
        return;
      case 'link':
        yield* go(thread.link(path, other));
        return;
      case 'truncate':
        yield* go(thread.truncate(path, size));
        return;
      case 'stat':
        yield* go(thread.stat(path, status));
        return say(describe(status));
      case 'list':
        return say(yield* this.list(path));
      case 'append':
        yield* go(thread.write(fd, bytesOf(text), text.length));
        return;
      case 'read': {
        const bytes = new Uint8Array(4096);
        return say(textOf(bytes.subarray(0, yield* go(thread.pread(fd, bytes, bytes.length, 0)))));
      }
      case 'ftruncate':
        yield* go(thread.ftruncate(fd, size));
        return;
      case 'fstat':
        yield* go(thread.fstat(fd, status));
        return say(describe(status));
      case 'fsync':
        yield* go(thread.fsync(fd));
        return;
      default:
        this.fd = -1;
        yield* go(thread.close(fd));
    }
  }

  private *become(path: string, flags: number): Task<void> {
    const fd = yield* go(this.thread.open(path, flags | append, 0o644));
    const old = this.fd;
    this.fd = fd;
    if (old >= 0) yield* go(this.thread.close(old));
  }

  private *list(path: string): Task<string> {
    const fd = yield* go(this.thread.open(path, readOnly | directory));
    const entries: DirectoryEntry[] = [];
    yield* go(this.thread.readdir(fd, entries));
    yield* go(this.thread.close(fd));
    return entries
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.'))
      .sort()
      .join();
  }
}

function describe(status: FileStatus): string {
  return status.mode >> 12 === 4 ? 'directory' : `file ${status.size} ${status.links}`;
}

/** How programs are run beside each other. */
export interface InterleavingOptions {
  /** Default 3. */
  readonly programs?: number;
  /** Of each program. Default 5. */
  readonly operations?: number;
  /**
   * Decides the order of what the programs do; every request takes the same time then, and nobody pauses longer than an
   * instant, so that the order is open as often as can be. Default: requests and pauses of random length.
   */
  readonly scheduler?: Scheduler;
  /** Puts something in front of the device, which the programs are to use from then on. */
  readonly watch?: (device: BlockDevice) => BlockDevice;
  /** Called after the file system was unmounted, with its device; not for one that lives in memory. */
  readonly unmounted?: (simulator: Simulator, device: BlockDevice) => void;
}

/**
 * Runs several programs beside each other.
 * @throws Error unless what they saw and left is what some order of their operations explains; SimulationError for a
 * deadlock
 */
export function interleave(subject: FileSystemUnderTest, seed: number, options: InterleavingOptions = {}): void {
  const { programs = 3, operations = 5, scheduler = null, watch = (device) => device } = options;
  const source = new RandomSource(seed);
  const simulator = new Simulator();
  const made = subject.format?.(simulator, BYTES) ?? null;
  const rules = scheduler === null ? [{ probability: 0.5, latencyNs: 1700 }] : [];
  const latency = { simulator, random: source.stream('latency'), rules };
  const device = made === null ? null : watch(new FaultDevice(made, { ...latency, latencyNs: 1000 }));
  const t = new Tester(subject, BYTES, device === null ? null : { simulator, device }, seed);
  t.run(t.mkdir('/d0'));
  t.run(t.mkdir('/d1'));
  const runs: Run<Operation>[] = [];
  let order = 0;
  function* program(process: number): Task<void> {
    const random = source.stream(`program ${process}`);
    const user = new Program(t.as(0, 0));
    for (let at = 0; at < operations; at++) {
      const operation = draw(random, process * operations + at, t.capabilities.links > 1);
      const run: Run<Operation> = { process, operation, begin: order++, end: 0, result: '' };
      runs.push(run);
      run.result = yield* user.run(operation);
      run.end = order++;
      yield new Delay(t.simulator).for(scheduler === null ? random.below(4) * 700 : 0);
    }
  }
  t.simulator.scheduler = scheduler;
  t.run(
    (function* (): Task<void> {
      const started = Array.from({ length: programs }, (_, at) => t.simulator.spawn(`program ${at}`, program(at)));
      for (const process of started) yield process;
    })(),
  );
  t.simulator.scheduler = null;
  const listing = t.run(listingOf(t));
  if (!linearizable(new ReferenceModel(programs), runs, programs, listing)) {
    const history = runs.map(
      ({ process, operation: { name, path, other, text, size }, begin, end, result }) =>
        `${begin}–${end} process ${process}: ${name} ${path} ${other} "${text}" ${size} → ${result}`,
    );
    throw new Error(
      `seed ${seed}: no order of these operations explains their results and ${listing}\n${history.join('\n')}`,
    );
  }
  t.run(t.unmount());
  if (device !== null) options.unmounted?.(simulator, device);
}

function* listingOf(t: Tester): Task<string> {
  const parts: string[] = [];
  const numbers: number[] = [];
  for (const path of [...NAMES].sort()) {
    const name = path.slice(4);
    if (!(yield* t.names(path.slice(0, 3))).includes(name)) continue;
    const status = yield* t.lstat(path);
    if (!numbers.includes(status.ino)) numbers.push(status.ino);
    const file = status.mode >> 12 === 8;
    const what = file ? `${yield* t.contents(path)}.${status.links}` : 'directory';
    parts.push(`${path}=${numbers.indexOf(status.ino)}:${what}`);
  }
  return parts.join(' ');
}

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RandomSource, type RandomStream } from '@flashstack/sim';
import { FileStatus, FsError, OpenFlag, Seek } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { type Calls, callsOf, memoryHost } from './support.js';

type Value = string | number;
type Step = readonly [name: string, a: Value, b: Value, c: Value, d: Value];

const long = process.env.FLASHSTACK_LONG !== undefined;
const TRACES = long ? 20_000 : 300;
const STEPS = 60;
const NAMES = ['a', 'b', 'd0', 'd1', 'd0/a', 'd0/b', 'd0/d2', 'd1/a', 'd0/d2/a', 'd0/../b', 'a/', 'd1/'];
const { append, create, directory, exclusive, noFollow, readOnly, readWrite, truncate, writeOnly } = OpenFlag;
const FLAGS = [
  readOnly,
  readWrite,
  writeOnly | append,
  readWrite | create,
  readWrite | create | exclusive,
  readWrite | create | truncate,
  readOnly | directory,
  readWrite | noFollow,
];
const MODES = [0, 1, 3, 8, 16, 17, 32];
const ATTRIBUTES = ['user.one', 'user.two', 'trusted.three', 'other.four'];

function pick<T>(random: RandomStream, from: readonly T[]): T {
  return from[random.below(from.length)];
}

/** A random step. Positions are near the edges of blocks. */
function draw(random: RandomStream): Step {
  const path = pick(random, NAMES);
  const other = pick(random, NAMES);
  const fd = random.below(3);
  const place = Math.max(0, 4096 * random.below(6) + pick(random, [-1, 0, 0, 1, 100]));
  const letter = String.fromCharCode(97 + random.below(26));
  const mode = pick(random, [0o644, 0o755, 0o4711, 0o2755, 0o1777]);
  const steps: readonly Step[] = [
    ['open', path, fd, pick(random, FLAGS), 0],
    ['open', path, fd, readWrite | create, 0],
    ['write', fd, letter, 1 + random.below(6000), 0],
    ['pwrite', fd, letter, 1 + random.below(6000), place],
    ['pread', fd, 0, 1 + random.below(9000), place],
    ['ftruncate', fd, 0, place, 0],
    ['fallocate', fd, pick(random, MODES), place, pick(random, [1, 4096, 8192, 5000])],
    ['fallocate', fd, pick(random, [8, 32]), 4096 * random.below(4), 4096],
    // Not to data and holes, which have traces of their own. Not from the end: that of a directory is its own matter.
    ['lseek', fd, pick(random, [0, 1]), place, 0],
    ['fstat', fd, 0, 0, 0],
    ['fsync', fd, 0, 0, 0],
    ['close', fd, 0, 0, 0],
    ['mkdir', path, mode, 0, 0],
    ['mkdir', pick(random, ['d0', 'd1', 'd0/d2']), 0o755, 0, 0],
    ['rmdir', path, 0, 0, 0],
    ['unlink', path, 0, 0, 0],
    ['rename', path, other, 0, 0],
    ['rename', path, other, 1 + random.below(2), 0],
    ['link', path, other, 0, 0],
    ['symlink', pick(random, ['a', 'd0', 'd0/../b', 'd2/../a', 'absent', 'loop']), pick(random, [other, 'loop']), 0, 0],
    ['readlink', path, 0, 0, 0],
    ['chmod', path, mode, 0, 0],
    ['chown', path, pick(random, [-1, 0, 7]), pick(random, [-1, 0, 9]), 0],
    ['truncate', path, place, 0, 0],
    ['stat', path, 0, 0, 0],
    ['lstat', path, 0, 0, 0],
    ['list', path, 0, 0, 0],
    ['setxattr', path, pick(random, ATTRIBUTES), letter.repeat(random.below(50)), 0],
    ['getxattr', path, pick(random, ATTRIBUTES), 0, 0],
    ['removexattr', path, pick(random, ATTRIBUTES), 0, 0],
    ['listxattr', path, 0, 0, 0],
  ];
  return pick(random, steps);
}

/**
 * A random step on one file that leaves or finds holes. `unwritten`: space may be allocated that nothing is written to,
 * which is data to ext4 wherever a page of it is cached, for whatever reason.
 */
function drawHoles(random: RandomStream, unwritten: boolean): Step {
  const place = Math.max(0, 4096 * random.below(24) + pick(random, [-1, 0, 0, 0, 1, 100]));
  const length = pick(random, [1, 4095, 4096, 4097, 8192, 12_288, 20_000]);
  const block = 4096 * random.below(24);
  const steps: readonly Step[] = [
    ['pwrite', 0, 'x', length, place],
    ['ftruncate', 0, 0, place, 0],
    ['ftruncate', 0, 0, 100_000, 0],
    ['fallocate', 0, pick(random, unwritten ? [0, 1, 3, 16, 17] : [3]), place, length],
    ['fallocate', 0, pick(random, [8, 32]), block, 4096 * (1 + random.below(3))],
    ['fsync', 0, 0, 0, 0],
    ['lseek', 0, Seek.data, place, 0],
    ['lseek', 0, Seek.hole, place, 0],
    ['lseek', 0, pick(random, [Seek.data, Seek.hole]), block, 0],
  ];
  return pick(random, steps);
}

/** What holds data here holds data on ext4, which may take zeroes of unwritten space for data too. */
function agrees([name, , whence]: Step, ours: Value, real: Value): boolean {
  if (name !== 'lseek' || ours === real) return ours === real;
  if (whence === Seek.hole) return typeof ours === 'number' && typeof real === 'number' && real > ours;
  return typeof real === 'number' && (ours === 'ENXIO' || real < Number(ours));
}

function describe(status: FileStatus): string {
  const size = status.mode >> 12 === 4 ? 0 : status.size;
  return `${status.mode.toString(8)} ${status.links} ${status.uid}:${status.gid} ${size}`;
}

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

function list(calls: Calls, path: string): string[] {
  const fd = calls.open(path, readOnly | directory);
  const entries: { name: string }[] = [];
  while (calls.readdir(fd, entries as never) > 0);
  calls.close(fd);
  return entries
    .map(({ name }) => name)
    .filter((name) => name !== '.' && name !== '..')
    .sort();
}

function onOpen(calls: Calls, fd: number, [name, , b, c, d]: Step): Value {
  if (fd < 0) throw new FsError('EBADF');
  const bytes = (): Buffer => Buffer.alloc(Number(c), String(b), 'latin1');
  switch (name) {
    case 'write':
      return calls.write(fd, bytes(), Number(c));
    case 'pwrite':
      return calls.pwrite(fd, bytes(), Number(c), Number(d));
    case 'pread': {
      const into = new Uint8Array(Number(c));
      return latin(into.subarray(0, calls.pread(fd, into, into.length, Number(d))));
    }
    case 'ftruncate':
      return calls.ftruncate(fd, Number(c));
    case 'fallocate':
      return calls.fallocate(fd, Number(b), Number(c), Number(d));
    case 'lseek':
      return calls.lseek(fd, Number(c), Number(b));
    case 'fsync':
      return calls.fsync(fd);
    default: {
      const status = new FileStatus();
      calls.fstat(fd, status);
      return describe(status);
    }
  }
}

/** One step on the simulated host. */
function apply(calls: Calls, fds: number[], step: Step): Value {
  const [name, a, b, c] = step;
  const path = String(a);
  const status = new FileStatus();
  switch (name) {
    case 'open': {
      const fd = calls.open(path, Number(c), 0o666);
      if (fds[Number(b)] >= 0) calls.close(fds[Number(b)]);
      fds[Number(b)] = fd;
      return 0;
    }
    case 'close': {
      const fd = fds[Number(a)];
      if (fd < 0) throw new FsError('EBADF');
      fds[Number(a)] = -1;
      return calls.close(fd);
    }
    case 'mkdir':
      return calls.mkdir(path, Number(b));
    case 'rmdir':
      return calls.rmdir(path);
    case 'unlink':
      return calls.unlink(path);
    case 'rename':
      return calls.rename(path, String(b), Number(c));
    case 'link':
      return calls.link(path, String(b));
    case 'symlink':
      return calls.symlink(path, String(b));
    case 'readlink':
      return calls.readlink(path);
    case 'chmod':
      return calls.chmod(path, Number(b));
    case 'chown':
      return calls.chown(path, Number(b), Number(c));
    case 'truncate':
      return calls.truncate(path, Number(b));
    case 'stat':
      calls.stat(path, status);
      return describe(status);
    case 'lstat':
      calls.lstat(path, status);
      return describe(status);
    case 'list':
      return list(calls, path).join();
    case 'setxattr':
      return calls.setAttribute(path, String(b), Buffer.from(String(c), 'latin1'));
    case 'getxattr':
      return latin(calls.getAttribute(path, String(b)));
    case 'removexattr':
      return calls.removeAttribute(path, String(b));
    case 'listxattr':
      return calls.listAttributes(path).sort().join();
    default:
      return onOpen(calls, fds[Number(a)], step);
  }
}

function tree(calls: Calls, path: string, numbers: number[], out: string[]): void {
  for (const name of list(calls, path)) {
    const below = path === '.' ? name : `${path}/${name}`;
    const status = new FileStatus();
    calls.lstat(below, status);
    if (!numbers.includes(status.ino)) numbers.push(status.ino);
    let line = `${below} #${numbers.indexOf(status.ino)} ${describe(status)}`;
    if (status.mode >> 12 === 8) {
      const fd = calls.open(below, readOnly);
      const bytes = new Uint8Array(status.size);
      calls.pread(fd, bytes, bytes.length, 0);
      calls.close(fd);
      line += ` ${Buffer.from(bytes).toString('hex')}`;
    }
    if (status.mode >> 12 === 10) line += ` -> ${calls.readlink(below)}`;
    else {
      const names = calls.listAttributes(below).sort();
      line += ` ${names.map((x) => `${x}=${latin(calls.getAttribute(below, x))}`).join()}`;
    }
    out.push(line);
    if (status.mode >> 12 === 4) tree(calls, below, numbers, out);
  }
}

function simulate(trace: readonly Step[]): { results: Value[]; tree: string[] } {
  const host = memoryHost();
  const calls = callsOf(host, host.process({ umask: 0 }).thread());
  const fds = [-1, -1, -1];
  const results = trace.map((step): Value => {
    try {
      return apply(calls, fds, step);
    } catch (error) {
      if (error instanceof FsError) return error.code;
      throw error;
    }
  });
  const lines: string[] = [];
  tree(calls, '.', [], lines);
  return { results, tree: lines };
}

/** Why the real file system cannot be asked, or an empty string. */
function missing(): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  if (!existsSync('/dev/loop-control')) return 'loop devices';
  for (const tool of ['mkfs.ext4', 'mount', 'umount', 'findmnt', 'python3']) {
    try {
      execFileSync('sh', ['-c', `command -v ${tool}`]);
    } catch {
      return tool;
    }
  }
  return '';
}

const run = (tool: string, args: string[]): Buffer => execFileSync(tool, args);
const lacks = missing();
if (lacks !== '' && process.env.CI !== undefined) throw new Error(`comparing with ext4 needs ${lacks}`);

test.skipIf(lacks !== '')(
  `${TRACES} traces give on memfs what they give on ext4${lacks && ` (needs ${lacks})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'flashstack-ext4-'));
    const image = join(folder, 'image');
    const place = join(folder, 'mounted');
    try {
      writeFileSync(image, '');
      truncateSync(image, 512 * 2 ** 20);
      run('mkfs.ext4', ['-q', '-O', '^has_journal', image]);
      run('mkdir', [place]);
      run('mount', ['-o', 'loop', image, place]);
      try {
        compare(place, 'trace', TRACES, draw);
        // Otherwise ext4 writes small unwritten extents out as zeroes when a part of one is written.
        const { stdout } = spawnSync('findmnt', ['-no', 'SOURCE', place], { encoding: 'utf8' });
        writeFileSync(`/sys/fs/ext4/${basename(stdout.trim())}/extent_max_zeroout_kb`, '0');
        const start: Step = ['open', 'a', 0, readWrite | create, 0];
        compare(place, 'holes', TRACES / 3, (random) => drawHoles(random, false), start);
        compare(place, 'unwritten', TRACES / 5, (random) => drawHoles(random, true), start, agrees);
      } finally {
        run('umount', [place]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

function compare(
  place: string,
  name: string,
  count: number,
  step: (random: RandomStream) => Step,
  start: Step | null = null,
  agree: (step: Step, ours: Value, real: Value) => boolean = (_, ours, real) => ours === real,
): void {
  const random = new RandomSource(long ? 2 : 1).stream(name === 'trace' ? 'traces' : name);
  const drawn = (): Step[] => [
    ...(start === null ? [] : [start]),
    ...Array.from({ length: STEPS }, () => step(random)),
  ];
  const traces = Array.from({ length: count }, drawn);
  const script = fileURLToPath(new URL('real-calls.py', import.meta.url));
  const answer = execFileSync('python3', [script, place, name], { input: JSON.stringify(traces), maxBuffer: 2 ** 30 });
  const real = JSON.parse(answer.toString()) as ReturnType<typeof simulate>[];
  for (const [number, trace] of traces.entries()) {
    const ours = simulate(trace);
    for (const [at, step] of trace.entries()) {
      const [found, expected] = [ours.results[at], real[number].results[at]];
      if (!agree(step, found, expected)) {
        expect.fail(`${name} ${number}, step ${at}: ${JSON.stringify(step)} is ${found}, on ext4 ${expected}`);
      }
    }
    expect(ours.tree, `tree of ${name} ${number}`).toEqual(real[number].tree);
  }
}

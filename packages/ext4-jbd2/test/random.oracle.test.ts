import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTree, type Tree } from '@flashstack/crash-lab';
import { RandomSource, Simulator, type Task } from '@flashstack/sim';
import { afterAll, describe, expect, test } from 'vitest';
import { e2fsck, e2fsprogsMissing } from './oracle.js';
import { randomProgram } from './random-programs.js';
import { bytesOf, formatted, full, hostOn, long, TIME } from './support.js';

const SEQUENCES = long ? 3000 : full ? 300 : 6;
const MOUNTED = full || long ? 20 : 2;
const folder = mkdtempSync(join(tmpdir(), 'flashstack-'));
const image = join(folder, 'image');
const point = join(folder, 'mount');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An image that three programs beside each other have used, and the tree that we see in it. */
function aged(seed: number): { bytes: Uint8Array; tree: Tree } {
  const simulator = new Simulator();
  const device = formatted(simulator, 3 * 2 ** 20, false);
  const source = new RandomSource(seed);
  const host = hostOn(simulator, device);
  host.run(host.mount());
  const programs = ['one', 'two', 'three'].map((name) => {
    const process = host.process();
    function* whole(): Task<void> {
      yield* randomProgram(process.thread(), source.stream(name), 250, simulator);
      yield* process.exit();
    }
    return simulator.spawn(name, whole());
  });
  host.run(
    (function* (): Task<void> {
      for (const program of programs) yield program;
    })(),
  );
  const reader = host.process();
  const tree = host.run(readTree(reader.thread(), false));
  host.run(reader.exit());
  host.run(host.unmount());
  return { bytes: bytesOf(simulator, device), tree };
}

/** Why the kernel cannot mount here, or an empty text. */
function unmountable(): string {
  if (process.getuid?.() !== 0) return 'only root can mount images';
  execFileSync('mkdir', ['-p', point]);
  const { status, stderr } = spawnSync('mount', ['-o', 'loop,ro', image, point], { encoding: 'utf8' });
  if (status !== 0) return `mount says ${stderr.trim()}`;
  spawnSync('umount', [point]);
  return '';
}

/** What the kernel sees in an image, in the words of `linesOf`. */
function kernelLines(): string[] {
  execFileSync('mount', ['-o', 'loop,ro', image, point]);
  try {
    const lines: string[] = [];
    const walk = (path: string): void => {
      const full = join(point, path);
      const status = lstatSync(full);
      let what = `${path} ${(status.mode & 0o7777).toString(8)} ${status.nlink}`;
      if (status.isFile()) what += ` ${status.size} ${sumOf(readFileSync(full))}`;
      if (status.isSymbolicLink()) what += ` -> ${readlinkSync(full)}`;
      lines.push(what);
      if (status.isDirectory()) for (const name of readdirSync(full)) walk(path === '' ? name : `${path}/${name}`);
    };
    walk('');
    return lines.sort();
  } finally {
    execFileSync('umount', [point]);
  }
}

function linesOf(tree: Tree): string[] {
  return [...tree]
    .map(([path, node]) => {
      let what = `${path} ${node.mode.toString(8)} ${node.links}`;
      if (node.kind === 'file') what += ` ${node.size} ${sumOf(node.contents)}`;
      if (node.kind === 'symlink') what += ` -> ${node.target}`;
      return what;
    })
    .sort();
}

function sumOf(bytes: Uint8Array): number {
  let sum = bytes.length;
  for (const byte of bytes) sum = (Math.imul(sum, 31) + byte) | 0;
  return sum;
}

describe.skipIf(e2fsprogsMissing('images that random programs leave are not checked'))(
  'what random programs leave',
  () => {
    test(`is clean for e2fsck after each of ${SEQUENCES} sequences, and the same to the kernel`, () => {
      let mounts = 0;
      for (let seed = 1; seed <= SEQUENCES; seed++) {
        const { bytes, tree } = aged(seed);
        writeFileSync(image, bytes);
        const { status, output } = e2fsck(image, ['-fn'], TIME + 10 ** 6);
        const said = output
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('Pass ') && !line.startsWith('e2fsck '));
        expect(status, `seed ${seed}: ${output}`).toBe(0);
        expect(said, `seed ${seed}`).toEqual([expect.stringMatching(/^\S+: \d+\/\d+ files .*, \d+\/\d+ blocks$/)]);
        if (mounts === MOUNTED) continue;
        if (mounts === 0) {
          const reason = unmountable();
          if (reason !== '' && process.env.CI) throw new Error(reason);
          if (reason !== '') process.stderr.write(`\n◐ SKIPPED: trees of the kernel: ${reason}\n\n`);
          mounts = reason === '' ? 0 : MOUNTED;
          if (reason !== '') continue;
        }
        expect(kernelLines(), `seed ${seed}`).toEqual(linesOf(tree));
        mounts++;
      }
    });
  },
);

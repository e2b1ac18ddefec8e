import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { InputError } from '@flashstack/sim';
import { BASE_STATES, type History, type Tree, type TreeNode, type Workload } from '../index.js';

/** A file system of the kernel that workloads run on. */
export interface KernelVolume {
  readonly fileSystem: 'ext4' | 'f2fs';
  /** Options of mount, such as `data=journal`. */
  readonly mountOptions: string;
  /** Arguments of mkfs besides the image. */
  readonly formatArguments: readonly string[];
  /** Size of the volume, bytes. */
  readonly bytes: number;
}

/** What became of a workload whose file system was cut off behind its last operation. */
export interface KernelOutcome {
  readonly history: History;
  /** Null: the volume could not be mounted or read again, `error` says why. */
  readonly tree: Tree | null;
  readonly error: string;
}

/** One line that the script answers with. */
interface KernelAnswer {
  readonly codes: readonly string[];
  readonly bytes: readonly number[];
  readonly tree?: readonly (readonly [path: string, node: KernelNode])[];
  readonly error?: string;
}

type KernelNode = Omit<TreeNode, 'attributes' | 'contents'> & {
  readonly ino: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly contents: string;
};

/** Path of the script that runs workloads under a kernel: Python 3, standard library only. */
export function kernelScript(): string {
  // In a built package it lies beside the code.
  for (const place of ['../../kernel/workloads.py', './workloads.py']) {
    const path = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(path)) return path;
  }
  throw new InputError('ERR_KERNEL_SCRIPT', 'kernel/workloads.py is missing: expected it in the package');
}

/** What a file system of this machine's kernel cannot be asked for lack of; empty: it can. */
export function missingForKernel(fileSystem: string): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  if (!existsSync('/dev/loop-control')) return 'loop devices';
  for (const tool of [`mkfs.${fileSystem}`, 'losetup', 'python3']) {
    try {
      execFileSync('sh', ['-c', `command -v ${tool}`]);
    } catch {
      return tool;
    }
  }
  return '';
}

/** Where a script finds what it works on. */
export interface KernelPlaces {
  /** A block device with an empty file system. */
  readonly device: string;
  /** The file behind it, or the device itself. */
  readonly backing: string;
  /** An empty directory to mount it on. */
  readonly place: string;
}

/** What the script is told, see there. */
export function kernelTask(workloads: readonly Workload[], volume: KernelVolume, places: KernelPlaces): string {
  const base = baseOf(workloads);
  const { fileSystem, mountOptions: options } = volume;
  const programs = workloads.map(({ processes }) => processes[0]);
  return JSON.stringify({ ...places, fileSystem, options, base: BASE_STATES[base], workloads: programs });
}

/** What the lines that the script has answered say about these workloads. */
export function kernelOutcomes(workloads: readonly Workload[], lines: readonly string[]): KernelOutcome[] {
  return lines.map((line, at) => outcomeOf(workloads[at], JSON.parse(line) as KernelAnswer));
}

/**
 * Runs workloads of one program each, all on the same base state, on a file system of this machine's kernel: each on a new
 * copy, cut off behind its last operation so that nothing further reaches the device, and mounted again.
 * @throws InputError `ERR_KERNEL_WORKLOADS` for several programs or base states; Error of a tool that fails.
 */
export function runOnKernel(workloads: readonly Workload[], volume: KernelVolume): KernelOutcome[] {
  baseOf(workloads);
  // Flushes of a loop device wait for what its file lies on.
  const fast = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const folder = mkdtempSync(join(fast, 'flashstack-kernel-'));
  const image = join(folder, 'image');
  const place = join(folder, 'mounted');
  let device = '';
  try {
    writeFileSync(image, '');
    truncateSync(image, volume.bytes);
    mkdirSync(place);
    execFileSync(`mkfs.${volume.fileSystem}`, ['-q', ...volume.formatArguments, image]);
    device = execFileSync('losetup', ['-f', '--show', image], { encoding: 'utf8' }).trim();
    const input = kernelTask(workloads, volume, { device, backing: image, place });
    const output = execFileSync('python3', [kernelScript()], { input, maxBuffer: 2 ** 30, encoding: 'utf8' });
    return kernelOutcomes(workloads, output.trim().split('\n'));
  } finally {
    if (device !== '') execFileSync('losetup', ['-d', device]);
    rmSync(folder, { recursive: true });
  }
}

function baseOf(workloads: readonly Workload[]): string {
  const bases = new Set(workloads.map(({ base }) => base));
  if (bases.size !== 1 || workloads.some(({ processes }) => processes.length !== 1)) {
    const found = `${bases.size} base states`;
    const message = `${found}, expected workloads of one program each on one base state: run the others by themselves`;
    throw new InputError('ERR_KERNEL_WORKLOADS', message, 'workloads');
  }
  return [...bases][0];
}

function outcomeOf(workload: Workload, answer: KernelAnswer): KernelOutcome {
  const events = answer.codes.map((code, step) => {
    return { process: 0, step, begin: 2 * step + 1, end: 2 * step + 2, code, bytes: answer.bytes[step] };
  });
  const history: History = { workload, events };
  return { history, tree: answer.tree === undefined ? null : treeOf(answer.tree), error: answer.error ?? '' };
}

function treeOf(entries: NonNullable<KernelAnswer['tree']>): Tree {
  const nodes = new Map<number, TreeNode>();
  const tree = new Map<string, TreeNode>();
  for (const [path, { ino, attributes, contents, ...rest }] of entries) {
    let node = nodes.get(ino);
    if (node === undefined) {
      const bytes = new Uint8Array(inflateSync(Buffer.from(contents, 'base64')));
      node = { ...rest, attributes: new Map(Object.entries(attributes)), contents: bytes };
      nodes.set(ino, node);
    }
    tree.set(path, node);
  }
  return tree;
}

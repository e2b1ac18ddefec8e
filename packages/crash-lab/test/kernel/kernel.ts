import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, inflateSync } from 'node:zlib';
import { runGuest } from '@flashstack/linux-guest';
import type { Step, Tree, TreeNode } from '../../src/index.js';

const program = fileURLToPath(new URL('kernel.py', import.meta.url));
const PIECE_BYTES = 4096;

/** A file system of the kernel, with options of mount. */
export interface RealFileSystem {
  readonly type: 'ext4' | 'f2fs';
  readonly options: string;
}

/** A step, with what a write writes. */
export interface RealStep {
  readonly step: Step;
  readonly bytes: Uint8Array | null;
}

/** Blocks of 4 KiB and what they hold. */
export type Blocks = Iterable<readonly [block: number, contents: Uint8Array]>;

/** What the kernel has made of a job. */
export interface KernelAnswer {
  /** Code (`none`, `ENOENT`, …) and bytes written, per step. */
  readonly outcomes: readonly (readonly [code: string, bytes: number])[];
  /** What was found after the last mount; null: it failed, or nobody asked. */
  readonly tree: Tree | null;
  /** Why it could not be mounted or read, or an empty string. */
  readonly error: string;
}

/** Why the kernel of this machine cannot be asked about ext4, or an empty string. */
export function hostKernelLacks(): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  if (!existsSync('/dev/loop-control')) return 'loop devices';
  for (const tool of ['mkfs.ext4', 'python3']) {
    try {
      execFileSync('sh', ['-c', `command -v ${tool}`]);
    } catch {
      return tool;
    }
  }
  return '';
}

/** Jobs for `kernel.py`, which are done together: a guest takes longer to boot than for most of them. */
export class KernelJobs {
  private readonly folder: string = mkdtempSync(join(tmpdir(), 'flashstack-kernel-jobs-'));
  private readonly jobs: string[] = [];
  private readonly pieces: Map<string, number> = new Map();
  private patched = 0;

  constructor() {
    for (const name of ['pieces', 'patches']) writeFileSync(join(this.folder, name), '');
  }

  /** Formats a volume, performs steps on it and unmounts it: a base for other jobs. */
  make(base: string, bytes: number, mkfs: readonly string[], system: RealFileSystem, steps: readonly RealStep[]): void {
    this.add({ job: 'make', base, bytes, mkfs, ...system, steps: steps.map(encoded) });
  }

  /** Takes a file of this machine for a base. */
  load(base: string, from: string): void {
    this.add({ job: 'load', base, from });
  }

  /** Makes a base of some blocks and zeroes. */
  assemble(base: string, bytes: number, blocks: Blocks): void {
    this.add({ job: 'assemble', base, bytes, patch: this.patchOf(blocks) });
  }

  /** Mounts a base with blocks replaced, and lists it but for some directories. */
  recover(base: string, system: RealFileSystem, blocks: Blocks, without: readonly string[]): void {
    this.add({ job: 'recover', base, ...system, patch: this.patchOf(blocks), without });
  }

  /** Performs steps on a base, stops the file system as a power cut would, mounts and lists it. */
  cut(base: string, system: RealFileSystem, steps: readonly RealStep[], without: readonly string[]): void {
    this.add({ job: 'cut', base, ...system, steps: steps.map(encoded), without });
  }

  /** Does them all on this machine's kernel. */
  runHere(): KernelAnswer[] {
    this.write();
    execFileSync('python3', [program, this.folder], { stdio: ['ignore', 'inherit', 'pipe'] });
    return this.answers();
  }

  /** Does them all in the guest. */
  async runInGuest(limitSeconds = 900): Promise<KernelAnswer[]> {
    this.write();
    copyFileSync(program, join(this.folder, 'kernel.py'));
    const script = 'modprobe -a loop f2fs && python3 /share/kernel.py /share';
    const { status, output } = await runGuest({ script, share: this.folder, limitSeconds, memoryMiB: 1024 });
    if (status !== 0) throw new Error(`kernel.py ended with status ${status} in the guest:\n${output}`);
    return this.answers();
  }

  /** Removes what the jobs were kept in. */
  dispose(): void {
    rmSync(this.folder, { recursive: true });
  }

  private add(job: unknown): void {
    this.jobs.push(JSON.stringify(job));
  }

  private write(): void {
    writeFileSync(join(this.folder, 'jobs.jsonl'), this.jobs.map((job) => `${job}\n`).join(''));
  }

  private patchOf(blocks: Blocks): [first: number, count: number] {
    const pairs: number[] = [];
    for (const [block, contents] of blocks) pairs.push(block, this.pieceOf(contents));
    appendFileSync(join(this.folder, 'patches'), new Uint8Array(Uint32Array.from(pairs).buffer));
    const first = this.patched;
    this.patched += pairs.length / 2;
    return [first, pairs.length / 2];
  }

  private pieceOf(contents: Uint8Array): number {
    if (contents.length !== PIECE_BYTES) throw new Error(`blocks of ${PIECE_BYTES} bytes, found ${contents.length}`);
    const key = Buffer.from(contents).toString('latin1');
    const known = this.pieces.get(key);
    if (known !== undefined) return known;
    const piece = this.pieces.size;
    this.pieces.set(key, piece);
    appendFileSync(join(this.folder, 'pieces'), contents);
    return piece;
  }

  private answers(): KernelAnswer[] {
    const lines = readFileSync(join(this.folder, 'results.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => {
      const { outcomes = [], tree = null, error = '' } = JSON.parse(line);
      return { outcomes, tree: tree === null ? null : treeOf(tree), error };
    });
  }
}

function encoded({ step, bytes }: RealStep): unknown[] {
  return bytes === null ? [...step] : [...step, deflateSync(bytes).toString('base64')];
}

type ListedNode = Omit<TreeNode, 'attributes' | 'contents' | 'target'> & {
  readonly ino: number;
  readonly target?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly contents?: string;
};

/** Links of one file share a node. */
function treeOf(listed: readonly (readonly [path: string, node: ListedNode])[]): Tree {
  const nodes = new Map<number, TreeNode>();
  const tree = new Map<string, TreeNode>();
  for (const [path, { ino, target = '', attributes = {}, contents = '', ...rest }] of listed) {
    const node = nodes.get(ino) ?? {
      ...rest,
      target,
      attributes: new Map(Object.entries(attributes)),
      contents: contents === '' ? new Uint8Array(0) : new Uint8Array(inflateSync(Buffer.from(contents, 'base64'))),
    };
    nodes.set(ino, node);
    tree.set(path, node);
  }
  return tree;
}

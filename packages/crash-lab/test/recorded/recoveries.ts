import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { runGuest } from '@flashstack/linux-guest';
import type { Tree, TreeNode } from '../../src/index.js';

const program = fileURLToPath(new URL('recover.py', import.meta.url));
const PIECE_BYTES = 4096;

/** A file system of the kernel, with options of mount. */
export interface RealFileSystem {
  readonly type: 'ext4' | 'f2fs';
  readonly options: string;
}

/** Blocks of 4 KiB and what they hold. */
export type Blocks = Iterable<readonly [block: number, contents: Uint8Array]>;

/** What the kernel has made of a job. */
export interface Recovered {
  /** What was found after the last mount; null: it failed, or nobody asked. */
  readonly tree: Tree | null;
  /** Why it could not be mounted or read, or an empty string. */
  readonly error: string;
}

/** Jobs for `recover.py`, which are done together: a guest takes longer to boot than for most of them. */
export class Recoveries {
  private readonly folder: string = mkdtempSync(join(tmpdir(), 'flashstack-recoveries-'));
  private readonly jobs: string[] = [];
  private readonly pieces: Map<string, number> = new Map();
  private patched = 0;

  constructor() {
    for (const name of ['pieces', 'patches']) writeFileSync(join(this.folder, name), '');
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

  /** Does them all on this machine's kernel. */
  runHere(): Recovered[] {
    this.write();
    execFileSync('python3', [program, this.folder], { stdio: ['ignore', 'inherit', 'pipe'] });
    return this.answers();
  }

  /** Does them all in the guest. */
  async runInGuest(limitSeconds = 900): Promise<Recovered[]> {
    this.write();
    copyFileSync(program, join(this.folder, 'recover.py'));
    const script = 'modprobe -a loop f2fs && python3 /share/recover.py /share';
    const { status, output } = await runGuest({ script, share: this.folder, limitSeconds, memoryMiB: 1024 });
    if (status !== 0) throw new Error(`recover.py ended with status ${status} in the guest:\n${output}`);
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

  private answers(): Recovered[] {
    const lines = readFileSync(join(this.folder, 'results.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => {
      const { tree = null, error = '' } = JSON.parse(line);
      return { tree: tree === null ? null : treeOf(tree), error };
    });
  }
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

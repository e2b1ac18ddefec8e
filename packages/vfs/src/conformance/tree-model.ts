import { RenameFlag } from '../index.js';
import type { Outcome, SteppedModel } from './linearize.js';

/** One operation on a tree of directories. */
export interface TreeOperation {
  readonly name: 'mkdir' | 'file' | 'rmdir' | 'unlink' | 'rename' | 'stat' | 'list' | 'chdir';
  readonly path: string;
  /** `rename`: the new path. */
  readonly other: string;
  /** `rename`: `RenameFlag`. */
  readonly flags: number;
  /** Permissions of what is made, by which it is known again. */
  readonly mode: number;
}

interface Node {
  readonly directory: boolean;
  readonly mode: number;
  /** Where `..` leads, also after the removal; of the root: itself. */
  readonly parent: number;
  readonly removed: boolean;
}

const ROOT = 0;
const SEPARATOR = '/';

/** Immutable, so that the steps of a search share it. */
class Tree {
  readonly nodes: readonly Node[];
  /** By `number of the directory/name`. */
  readonly entries: ReadonlyMap<string, number>;
  private text = '';

  constructor(nodes: readonly Node[], entries: ReadonlyMap<string, number>) {
    this.nodes = nodes;
    this.entries = entries;
  }

  key(): string {
    if (this.text === '') this.text = `${[...this.entries].sort().join()}|${this.nodes.map(keyOf).join()}`;
    return this.text;
  }

  entry(directory: number, name: string): number {
    return this.entries.get(directory + SEPARATOR + name) ?? -1;
  }

  names(directory: number): string[] {
    const start = directory + SEPARATOR;
    return [...this.entries.keys()].filter((key) => key.startsWith(start)).map((key) => key.slice(start.length));
  }

  isAbove(node: number, other: number): boolean {
    for (let at = other; at !== ROOT; at = this.nodes[at].parent) if (at === node) return true;
    return node === ROOT;
  }

  describe(node: number): string {
    const { directory, mode, removed } = this.nodes[node];
    const below = this.names(node).filter((name) => this.nodes[this.entry(node, name)].directory);
    const links = removed ? 0 : directory ? 2 + below.length : 1;
    return describeNode(directory, node === ROOT ? 0 : mode, links);
  }

  make(directory: number, name: string, isDirectory: boolean, mode: number): Tree {
    const node = { directory: isDirectory, mode, parent: directory, removed: false };
    return new Tree([...this.nodes, node], this.with(directory, name, this.nodes.length));
  }

  remove(directory: number, name: string): Tree {
    const at = this.entry(directory, name);
    const entries = new Map(this.entries);
    entries.delete(directory + SEPARATOR + name);
    return new Tree(this.changed(at, { removed: true }), entries);
  }

  /** Puts a node at a place in place of what is there. */
  put(directory: number, name: string, node: number): Tree {
    return new Tree(this.changed(node, { parent: directory }), this.with(directory, name, node));
  }

  private with(directory: number, name: string, node: number): Map<string, number> {
    return new Map(this.entries).set(directory + SEPARATOR + name, node);
  }

  private changed(at: number, change: Partial<Node>): Node[] {
    return this.nodes.map((node, index) => (index === at ? { ...node, ...change } : node));
  }
}

function keyOf({ mode, parent, removed }: Node): string {
  return `${mode}.${parent}.${removed}`;
}

/** A file in words: its kind, permissions (0 for the root), and links. */
export function describeNode(directory: boolean, mode: number, links: number): string {
  return `${directory ? 'directory' : 'file'} ${mode.toString(8)} ${links}`;
}

/** How far a process's operation has come: components walked of both its paths, where that led, and the first directory. */
interface Walk {
  readonly step: number;
  readonly at: number;
  readonly from: number;
}

/** A tree of directories that several processes change and walk through, one component at a time. */
export class TreeModel implements SteppedModel<TreeOperation> {
  private tree: Tree;
  private readonly walks: (Walk | null)[];
  /** Working directories. */
  private readonly working: number[];

  /** @param paths of directories that there are, parents first, with their permissions. */
  constructor(processes: number, paths: readonly (readonly [path: string, mode: number])[]) {
    this.tree = new Tree([{ directory: true, mode: 0, parent: ROOT, removed: false }], new Map());
    this.walks = new Array<null>(processes).fill(null);
    this.working = new Array<number>(processes).fill(ROOT);
    for (const [path, mode] of paths) {
      const parts = partsOf(path);
      const last = parts.pop() as string;
      let at = ROOT;
      for (const part of parts) at = this.tree.entry(at, part);
      this.tree = this.tree.make(at, last, true, mode);
    }
  }

  copy(): TreeModel {
    const copy = new TreeModel(0, []);
    copy.tree = this.tree;
    copy.walks.push(...this.walks);
    copy.working.push(...this.working);
    return copy;
  }

  key(): string {
    const walks = this.walks.map((walk) => (walk === null ? '' : `${walk.step}.${walk.at}.${walk.from}`));
    return `${this.tree.key()}|${walks.join()}|${this.working.join()}`;
  }

  /** Every path with its kind, permissions and links. */
  listing(): string {
    const lines: string[] = [];
    const walk = (at: number, path: string): void => {
      lines.push(`${path || '/'} ${this.tree.describe(at)}`);
      for (const name of this.tree.names(at).sort()) walk(this.tree.entry(at, name), `${path}/${name}`);
    };
    walk(ROOT, '');
    return lines.join('\n');
  }

  step(process: number, operation: TreeOperation): Outcome {
    const walk = this.walks[process] ?? { step: 0, at: this.start(process, operation.path), from: -1 };
    const outcome = this.walked(process, operation, walk);
    if (typeof outcome === 'string') this.walks[process] = null;
    else this.walks[process] = outcome;
    return typeof outcome === 'string' ? outcome : null;
  }

  private start(process: number, path: string): number {
    return path.startsWith('/') ? ROOT : this.working[process];
  }

  /** The next component, or the effect: what the operation ends with, or how far it has come. */
  private walked(process: number, operation: TreeOperation, walk: Walk): string | Walk {
    const { name, path, other } = operation;
    const first = partsOf(path);
    const whole = name === 'stat' || name === 'list' || name === 'chdir';
    const ofFirst = whole ? first.length : first.length - 1;
    const { step, at, from } = walk;
    if (step < ofFirst) return this.component(walk, first[step]);
    if (whole) return this.looked(process, name, at);
    if (!this.tree.nodes[at].directory) return 'ENOTDIR';
    const last = first[ofFirst];
    if (name !== 'rename') return this.changed(operation, at, last);
    const second = partsOf(other);
    if (from < 0) return { step: step + 1, at: this.start(process, other), from: at };
    const ofSecond = step - ofFirst - 1;
    if (ofSecond < second.length - 1) return this.component(walk, second[ofSecond]);
    if (!this.tree.nodes[at].directory) return 'ENOTDIR';
    return this.renamed(from, last, at, second[ofSecond], operation.flags);
  }

  private component({ step, at, from }: Walk, name: string): string | Walk {
    const { directory, parent } = this.tree.nodes[at];
    if (!directory) return 'ENOTDIR';
    const found = name === '..' ? parent : this.tree.entry(at, name);
    return found < 0 ? 'ENOENT' : { step: step + 1, at: found, from };
  }

  private looked(process: number, name: string, at: number): string {
    const { tree } = this;
    if (name === 'stat') return tree.describe(at);
    if (!tree.nodes[at].directory) return 'ENOTDIR';
    if (name === 'list') return tree.nodes[at].removed ? 'ENOENT' : tree.names(at).sort().join();
    this.working[process] = at;
    return 'ok';
  }

  private changed({ name, mode }: TreeOperation, at: number, last: string): string {
    const { tree } = this;
    if (tree.nodes[at].removed) return 'ENOENT';
    const found = tree.entry(at, last);
    if (name === 'mkdir' || name === 'file') {
      if (found >= 0) return 'EEXIST';
      this.tree = tree.make(at, last, name === 'mkdir', mode);
      return 'ok';
    }
    if (found < 0) return 'ENOENT';
    const { directory } = tree.nodes[found];
    if (directory && name === 'unlink') return 'EISDIR';
    if (!directory && name === 'rmdir') return 'ENOTDIR';
    if (directory && tree.names(found).length > 0) return 'ENOTEMPTY';
    this.tree = tree.remove(at, last);
    return 'ok';
  }

  private renamed(from: number, name: string, to: number, newName: string, flags: number): string {
    const { tree } = this;
    if (tree.nodes[from].removed || tree.nodes[to].removed) return 'ENOENT';
    const moving = tree.entry(from, name);
    const target = tree.entry(to, newName);
    const exchange = (flags & RenameFlag.exchange) !== 0;
    if (moving < 0) return 'ENOENT';
    if (target >= 0 && (flags & RenameFlag.noReplace) !== 0) return 'EEXIST';
    if (target < 0 && exchange) return 'ENOENT';
    if (tree.isAbove(moving, to)) return 'EINVAL';
    if (target >= 0 && tree.isAbove(target, from)) return exchange ? 'EINVAL' : 'ENOTEMPTY';
    if (moving === target) return 'ok';
    if (exchange) {
      this.tree = tree.put(to, newName, moving).put(from, name, target);
      return 'ok';
    }
    if (target >= 0) {
      const [one, other] = [tree.nodes[moving].directory, tree.nodes[target].directory];
      if (one !== other) return one ? 'ENOTDIR' : 'EISDIR';
      if (tree.names(target).length > 0) return 'ENOTEMPTY';
      this.tree = tree.remove(to, newName);
    }
    const put = this.tree.put(to, newName, moving);
    const entries = new Map(put.entries);
    entries.delete(from + SEPARATOR + name);
    this.tree = new Tree(put.nodes, entries);
    return 'ok';
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

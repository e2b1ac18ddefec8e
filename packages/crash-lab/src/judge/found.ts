import type { FileObject } from './file-object.js';
import type { Durable, Promises } from './promises.js';
import type { Register } from './register.js';
import type { PersistencePoint } from './timeline.js';
import type { Tree, TreeNode } from './tree.js';
import type { Violation } from './violation.js';

/** A register of the model, what the tree shows for it, and how far it was durable. */
export interface Observation {
  readonly path: string;
  readonly what: string;
  readonly register: Register<unknown>;
  readonly durable: Durable;
  /** True if a value of the register is what the tree shows. */
  readonly shows: (value: unknown) => boolean;
}

/** A recovered tree beside the model: which object each of its paths leads to, and what is wrong with it so far. */
export class Found {
  readonly promises: Promises;
  readonly tree: Tree;
  readonly violations: Violation[] = [];
  /** By object: the first path that leads to it. */
  readonly paths: Map<FileObject, string> = new Map();
  readonly objects: Map<TreeNode, FileObject> = new Map();
  /** Objects that a node could as well be, because nothing tells them apart. */
  readonly alternatives: Map<TreeNode, readonly FileObject[]> = new Map();
  /** Number of paths that lead to a node. */
  readonly links: Map<TreeNode, number> = new Map();
  /** Names in each directory of the tree. */
  readonly children: Map<string, string[]> = new Map();
  /** Names, attributes: whatever has to belong to one prefix of the operations. */
  readonly observations: Observation[] = [];
  /** Objects that something has been said about already. */
  readonly blamed: Set<FileObject> = new Set();

  constructor(promises: Promises, tree: Tree) {
    this.promises = promises;
    this.tree = tree;
    for (const [path, node] of tree) {
      this.links.set(node, (this.links.get(node) ?? 0) + 1);
      if (path === '') continue;
      const slash = path.lastIndexOf('/');
      const parent = slash < 0 ? '' : path.slice(0, slash);
      const siblings = this.children.get(parent);
      if (siblings === undefined) this.children.set(parent, [path.slice(slash + 1)]);
      else siblings.push(path.slice(slash + 1));
    }
  }

  violated(rule: string, path: string, text: string): void {
    this.violations.push({ rule, path, text });
  }

  /** True if a value of a register may be found after the cut. */
  allows<T>(register: Register<T>, durable: Durable, index: number): boolean {
    if (index < durable.index) return false;
    return index === durable.index || index === 0 || this.promises.mayShow(register.positions[index]);
  }

  /** What had to be there, for people. */
  expected<T>(register: Register<T>, durable: Durable, print: (value: T) => string): string {
    const texts = new Set<string>();
    for (let index = Math.max(0, durable.index); index < register.values.length; index++) {
      if (this.allows(register, durable, index)) texts.add(print(register.values[index]));
    }
    return [...texts].join(' or ');
  }

  /** What made something durable, for people. */
  because({ point }: Durable): string {
    if (point === null) return 'it was durable from the start';
    return `${this.promises.timeline.describe(point.position)} was acknowledged`;
  }
}

/** The rule that a point's promise for contents stands for. */
export function ruleOf(point: PersistencePoint | null): string {
  if (point === null) return 'R8';
  const rules = { all: 'R10', file: 'R2', data: 'R3', range: 'R11', 'range and attributes': 'R11' } as const;
  return rules[point.promised];
}

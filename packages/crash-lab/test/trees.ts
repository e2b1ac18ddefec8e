import type { DurabilityRules, History, Step, Tree, TreeNode, Violation } from '../src/index.js';
import { DURABILITY_RULES, Judge } from '../src/index.js';
import type { FileObject } from '../src/judge/file-object.js';
import { Timeline } from '../src/judge/timeline.js';

/** A history of one program whose operations have all succeeded, the last ones perhaps not acknowledged. */
export function historyOf(steps: readonly Step[], acknowledged: number = steps.length): History {
  const workload = { base: 'two files with attributes', processes: [steps], seed: 1 };
  const events = steps.map((step, at) => {
    const ended = at < acknowledged;
    const bytes = /^(write|append)/.test(step[0]) ? Number(step.at(-1)) : 0;
    const end = ended ? 2 * at + 2 : Number.POSITIVE_INFINITY;
    return { process: 0, step: at, begin: 2 * at + 1, end, code: ended ? 'none' : '', bytes };
  });
  return { workload, events };
}

/** The tree that the model has at a position. */
export function treeAt(history: History, position: number): Map<string, TreeNode> {
  const { root } = new Timeline(history, history.events).model;
  const nodes = new Map<FileObject, TreeNode>();
  const tree = new Map<string, TreeNode>();
  const add = (object: FileObject, path: string): void => {
    const node = nodes.get(object) ?? nodeAt(object, position);
    nodes.set(object, node);
    tree.set(path, node);
    for (const [name, entry] of object.entries) {
      const below = entry.at(position);
      if (below !== null && below.born <= position) add(below, path === '' ? name : `${path}/${name}`);
    }
  };
  add(root, '');
  return tree;
}

function nodeAt(object: FileObject, position: number): TreeNode {
  const size = object.size.at(position);
  const contents = new Uint8Array(object.kind === 'file' ? size : 0);
  for (const [block, register] of object.blocks.entries()) {
    const bytes = register.at(position);
    if (bytes === null || block * 4096 >= size) continue;
    contents.set(bytes.subarray(0, Math.min(4096, size - block * 4096)), block * 4096);
  }
  const directories = [...object.entries.values()].filter((entry) => entry.at(position)?.kind === 'directory').length;
  const [uid, gid] = object.owner.at(position).split(':').map(Number);
  return {
    kind: object.kind,
    mode: object.mode.at(position),
    uid,
    gid,
    links: object.kind === 'directory' ? 2 + directories : object.names.at(position).length,
    size,
    sectors: Math.ceil(size / 4096) * 8,
    target: object.target,
    attributes: object.attributes.at(position),
    contents,
  };
}

/** Names of the rules that a tree violates at the end of a history. */
export function rulesBroken(
  history: History,
  tree: Tree,
  rules: string | DurabilityRules,
  cut: number = Number.POSITIVE_INFINITY,
): string[] {
  return broken(history, tree, rules, cut).map(({ rule }) => rule);
}

/** What a tree violates at the end of a history. */
export function broken(
  history: History,
  tree: Tree,
  rules: string | DurabilityRules,
  cut: number = Number.POSITIVE_INFINITY,
): readonly Violation[] {
  return new Judge(history, typeof rules === 'string' ? DURABILITY_RULES[rules] : rules).judge(cut, tree);
}

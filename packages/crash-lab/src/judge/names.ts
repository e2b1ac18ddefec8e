import type { FileObject } from './file-object.js';
import type { Found } from './found.js';
import { fits } from './objects.js';
import type { Durable } from './promises.js';
import type { Register } from './register.js';
import type { TreeNode } from './tree.js';

/** A path that could lead to several objects, judged when the clear ones are known. */
interface Unclear {
  readonly path: string;
  readonly node: TreeNode;
  readonly candidates: readonly FileObject[];
}

const print = (object: FileObject | null): string => (object === null ? 'no such name' : `a ${object.kind}`);

/**
 * R4, R5, R9, R10, R13 for names: walks tree and model together from the root, says what each path leads to, and which
 * names are missing, have come back, or were never made.
 */
export function judgeNames(found: Found): void {
  const { tree, promises } = found;
  const root = promises.timeline.model.root;
  const unclear: Unclear[] = [];
  const rootNode = tree.get('');
  if (rootNode !== undefined) assign(found, root, rootNode, '');
  const directories: [FileObject, string][] = [[root, '']];
  for (let at = 0; at < directories.length; at++) {
    const [directory, path] = directories[at];
    for (const [name, register] of directory.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      const durable = promises.ofEntry(directory, name, register);
      const node = tree.get(below);
      if (node === undefined) judgeAbsent(found, below, directory, register, durable);
      else {
        const chosen = judgePresent(found, below, node, register, durable, unclear);
        if (chosen?.kind === 'directory') directories.push([chosen, below]);
      }
      observe(found, below, node, register, durable);
    }
    for (const name of found.children.get(path) ?? []) {
      if (directory.entries.has(name)) continue;
      const below = path === '' ? name : `${path}/${name}`;
      found.violated(
        'R13',
        below,
        `no operation has ever made this name: expected none, found ${tree.get(below)?.kind}`,
      );
    }
  }
  for (const { path, node, candidates } of unclear) assign(found, choose(found, node, candidates), node, path);
}

/** The name takes part in the search for one prefix of the operations that explains all. */
function observe(
  found: Found,
  path: string,
  node: TreeNode | undefined,
  register: Register<FileObject | null>,
  durable: Durable,
): void {
  const shows = (value: unknown): boolean =>
    node === undefined
      ? value === null
      : value !== null &&
        (found.objects.get(node) === value || found.alternatives.get(node)?.includes(value as FileObject) === true);
  found.observations.push({ path, what: 'name', register, durable, shows });
}

function judgeAbsent(
  found: Found,
  path: string,
  directory: FileObject,
  register: Register<FileObject | null>,
  durable: Durable,
): void {
  for (let index = Math.max(0, durable.index); index < register.values.length; index++) {
    if (register.values[index] === null && found.allows(register, durable, index)) return;
  }
  const { point } = durable;
  const renames = new Set(register.values.slice(Math.max(0, durable.index))).size > 1;
  let rule = renames ? 'R6' : 'R8';
  if (!renames && point !== null) rule = point.promised === 'all' ? 'R10' : point.object === directory ? 'R5' : 'R4';
  for (const value of register.values) if (value !== null) found.blamed.add(value);
  found.violated(
    rule,
    path,
    `the name is missing: expected ${found.expected(register, durable, print)}, ${found.because(durable)}`,
  );
}

function judgePresent(
  found: Found,
  path: string,
  node: TreeNode,
  register: Register<FileObject | null>,
  durable: Durable,
  unclear: Unclear[],
): FileObject | null {
  const candidates: FileObject[] = [];
  for (let index = Math.max(0, durable.index); index < register.values.length; index++) {
    const value = register.values[index];
    if (value !== null && found.allows(register, durable, index) && !candidates.includes(value)) candidates.push(value);
  }
  if (candidates.length === 0) {
    const { point } = durable;
    const came = register.values.slice(0, Math.max(0, durable.index)).some((value) => value !== null);
    let rule = 'R13';
    if (came && point !== null)
      rule = point.promised === 'all' ? 'R10' : point.object?.kind === 'directory' ? 'R9' : 'R4';
    found.violated(rule, path, `a ${node.kind} is there, expected no such name: ${found.because(durable)}`);
    return null;
  }
  const known = found.objects.get(node);
  if (known !== undefined && candidates.includes(known)) return known;
  if (candidates.length > 1 && node.kind !== 'directory') {
    unclear.push({ path, node, candidates });
    return null;
  }
  const chosen = candidates.length === 1 ? candidates[0] : choose(found, node, candidates, path);
  assign(found, chosen, node, path);
  return chosen;
}

function assign(found: Found, object: FileObject, node: TreeNode, path: string): void {
  const known = found.objects.get(node);
  const place = found.paths.get(object);
  if (known !== undefined && known !== object) {
    found.violated('R6', path, `the name leads to the same file as ${found.paths.get(known)}, expected another one`);
    return;
  }
  if (place !== undefined && known === undefined) {
    found.blamed.add(object);
    found.violated(
      'R6',
      path,
      `the ${object.kind} is there twice: also as ${place || 'the root'}, with a node of its own`,
    );
    return;
  }
  found.objects.set(node, object);
  if (place === undefined) found.paths.set(object, path);
}

/** The object that a node most probably is. */
function choose(found: Found, node: TreeNode, candidates: readonly FileObject[], path?: string): FileObject {
  const known = found.objects.get(node);
  if (known !== undefined && candidates.includes(known)) return known;
  let [best, least] = [candidates[0], Number.POSITIVE_INFINITY];
  const alike: FileObject[] = [];
  // The last one first: of files that look alike the newest is there most probably.
  for (const candidate of candidates.toReversed()) {
    const cost = unlikelihood(found, node, candidate, path);
    if (cost < 100) alike.push(candidate);
    if (cost < least) [best, least] = [candidate, cost];
  }
  if (alike.length > 1) found.alternatives.set(node, alike);
  return best;
}

function unlikelihood(found: Found, node: TreeNode, object: FileObject, path?: string): number {
  let cost = found.paths.has(object) ? 1000 : 0;
  if (!fits(found, object, node)) cost += 100;
  if (path !== undefined) cost += strangeness(found, object, path);
  // It stands under another of its names with another node.
  for (const names of object.names.values) {
    for (const { directory, name } of names) {
      const above = found.paths.get(directory);
      if (above === undefined) continue;
      const other = found.tree.get(above === '' ? name : `${above}/${name}`);
      if (other !== undefined && other !== node) cost += 1;
    }
  }
  return cost;
}

/** How badly the entries of a directory of the tree fit a directory of the model. */
function strangeness(found: Found, directory: FileObject, path: string): number {
  let cost = 0;
  const names = found.children.get(path) ?? [];
  for (const name of names) if (!directory.entries.has(name)) cost += 10;
  for (const [name, register] of directory.entries) {
    const node = found.tree.get(path === '' ? name : `${path}/${name}`);
    const durable = found.promises.ofEntry(directory, name, register);
    const fitting = register.values.some((value, index) => {
      if (!found.allows(register, durable, index)) return false;
      if (node === undefined || value === null) return node === undefined && value === null;
      return value.kind === 'directory' ? node.kind === 'directory' : fits(found, value, node);
    });
    if (!fitting) cost += 10;
  }
  return cost;
}

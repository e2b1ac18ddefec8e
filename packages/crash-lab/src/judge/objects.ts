import { fitsContents, judgeContents } from './contents.js';
import type { FileObject } from './file-object.js';
import { type Found, ruleOf } from './found.js';
import type { Register } from './register.js';
import type { TreeNode } from './tree.js';

/** R2, R3, R7, R10, R11 for everything that was found, and its link counts. */
export function judgeObjects(found: Found): void {
  for (const [node, object] of found.objects) {
    const path = found.paths.get(object) ?? '';
    if (node.kind !== object.kind) {
      found.violated('R13', path, `a ${node.kind} is there, expected a ${object.kind}`);
      continue;
    }
    if (node.target !== object.target) {
      found.violated('R5', path, `the link leads to "${node.target}", expected "${object.target}"`);
    }
    judgeAttribute(
      found,
      path,
      'mode',
      object,
      object.mode,
      (value) => value === node.mode,
      (value) => value.toString(8),
    );
    const owner = `${node.uid}:${node.gid}`;
    judgeAttribute(
      found,
      path,
      'owner',
      object,
      object.owner,
      (value) => value === owner,
      (value) => value,
    );
    const same = (value: ReadonlyMap<string, string>): boolean => equalMaps(value, node.attributes);
    judgeAttribute(found, path, 'attributes', object, object.attributes, same, printMap);
    if (object.kind === 'file') judgeContents(found, object, node, path);
    judgeLinks(found, object, node, path);
  }
}

/** True if a node may be this object. */
export function fits(found: Found, object: FileObject, node: TreeNode): boolean {
  if (node.kind !== object.kind || node.target !== object.target) return false;
  const { promises } = found;
  const some = <T>(register: Register<T>, shows: (value: T) => boolean): boolean => {
    const durable = promises.ofAttributes(object, register);
    return register.values.some((value, index) => shows(value) && found.allows(register, durable, index));
  };
  if (!some(object.mode, (value) => value === node.mode)) return false;
  if (!some(object.owner, (value) => value === `${node.uid}:${node.gid}`)) return false;
  if (!some(object.attributes, (value) => equalMaps(value, node.attributes))) return false;
  return object.kind !== 'file' || fitsContents(found, object, node);
}

function judgeAttribute<T>(
  found: Found,
  path: string,
  what: string,
  object: FileObject,
  register: Register<T>,
  shows: (value: T) => boolean,
  print: (value: T) => string,
): void {
  const durable = found.promises.ofAttributes(object, register);
  found.observations.push({ path, what, register, durable, shows: shows as (value: unknown) => boolean });
  let known = false;
  for (let index = 0; index < register.values.length; index++) {
    if (!shows(register.values[index])) continue;
    if (found.allows(register, durable, index)) return;
    known = true;
  }
  const rule = known ? ruleOf(durable.point) : 'R13';
  const expected = found.expected(register, durable, print);
  const state = known ? 'is an older one' : 'was never set';
  found.violated(rule, path, `the ${what} ${state}: expected ${expected}, ${found.because(durable)}`);
}

function judgeLinks(found: Found, object: FileObject, node: TreeNode, path: string): void {
  if (path === '') return;
  if (object.kind !== 'directory') {
    const paths = found.links.get(node) ?? 0;
    if (node.links !== paths) found.violated('R2', path, `its link count is ${node.links}, expected ${paths} names`);
    return;
  }
  if (!found.promises.rules.directoryLinks) return;
  let below = 2;
  for (const name of found.children.get(path) ?? []) {
    if (found.tree.get(`${path}/${name}`)?.kind === 'directory') below++;
  }
  if (node.links !== below) found.violated('R2', path, `its link count is ${node.links}, expected ${below}`);
}

function equalMaps(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  if (one.size !== other.size) return false;
  for (const [name, value] of one) if (other.get(name) !== value) return false;
  return true;
}

const printMap = (values: ReadonlyMap<string, string>): string =>
  `{${[...values].map(([name, value]) => `${name}=${value}`).join(' ')}}`;

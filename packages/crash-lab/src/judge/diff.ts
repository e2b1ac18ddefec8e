import { labelAt } from '../workload/contents.js';
import type { Tree, TreeNode } from './tree.js';

/** Bytes that are compared at a time for people. */
const BLOCK = 4096;

/**
 * What differs between two trees, a line for each thing, for people: `- ` what only the first has, `+ ` only the second,
 * `! ` what differs in a file of both. Empty: nothing.
 */
export function diffOfTrees(expected: Tree, found: Tree): string[] {
  const lines: string[] = [];
  for (const path of [...new Set([...expected.keys(), ...found.keys()])].sort()) {
    const [one, other] = [expected.get(path), found.get(path)];
    const name = path === '' ? '/' : path;
    if (one === undefined) lines.push(`+ ${name}: ${describe(other as TreeNode)}`);
    else if (other === undefined) lines.push(`- ${name}: ${describe(one)}`);
    else for (const text of differences(one, other)) lines.push(`! ${name}: ${text}`);
  }
  return [...lines, ...sharing(expected, found)];
}

function describe({ kind, size, mode, target }: TreeNode): string {
  if (kind === 'symlink') return `symlink to ${target}`;
  return kind === 'file' ? `file of ${size} bytes, mode ${mode.toString(8)}` : `${kind}, mode ${mode.toString(8)}`;
}

function differences(one: TreeNode, other: TreeNode): string[] {
  const texts: string[] = [];
  const say = (what: string, before: string | number, after: string | number): void => {
    if (before !== after) texts.push(`${what} ${before} became ${after}`);
  };
  say('kind', one.kind, other.kind);
  say('mode', one.mode.toString(8), other.mode.toString(8));
  say('owner', `${one.uid}:${one.gid}`, `${other.uid}:${other.gid}`);
  say('links', one.links, other.links);
  say('target', one.target, other.target);
  for (const name of new Set([...one.attributes.keys(), ...other.attributes.keys()])) {
    say(`attribute ${name}`, one.attributes.get(name) ?? '(none)', other.attributes.get(name) ?? '(none)');
  }
  if (one.kind !== 'file' || other.kind !== 'file') return texts;
  say('size', one.size, other.size);
  const common = Math.min(one.contents.length, other.contents.length);
  for (let from = 0; from < common; from += BLOCK) {
    const to = Math.min(from + BLOCK, common);
    const at = firstDifference(one.contents, other.contents, from, to);
    if (at < 0) continue;
    const sector = Math.floor(at / 512) * 512;
    say(`bytes from ${at} on`, contentsAt(one.contents, sector), contentsAt(other.contents, sector));
  }
  return texts;
}

function firstDifference(one: Uint8Array, other: Uint8Array, from: number, to: number): number {
  for (let at = from; at < to; at++) if (one[at] !== other[at]) return at;
  return -1;
}

function contentsAt(contents: Uint8Array, at: number): string {
  const label = labelAt(contents, at);
  if (label !== null) return `version ${label.version} of sector ${label.sector}`;
  return contents.subarray(at, at + 512).every((byte) => byte === 0) ? 'zeroes' : 'something else';
}

/** Files that are one file under several names in only one of the trees. */
function sharing(expected: Tree, found: Tree): string[] {
  const lines: string[] = [];
  const [before, after] = [namesOf(expected), namesOf(found)];
  for (const names of before) {
    if (names.includes('\n') && !after.has(names))
      lines.push(`! ${names.replaceAll('\n', ', ')}: one file became several`);
  }
  for (const names of after) {
    if (names.includes('\n') && !before.has(names))
      lines.push(`! ${names.replaceAll('\n', ', ')}: several files became one`);
  }
  return lines;
}

function namesOf(tree: Tree): Set<string> {
  const names = new Map<TreeNode, string[]>();
  for (const [path, node] of tree) {
    if (node.kind !== 'directory') names.set(node, [...(names.get(node) ?? []), path]);
  }
  return new Set([...names.values()].map((paths) => paths.sort().join('\n')));
}

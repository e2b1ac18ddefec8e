import { labelAt, writerOf } from '../workload/contents.js';
import { BLOCK_BYTES, type FileObject } from './file-object.js';
import { type Found, ruleOf } from './found.js';
import type { Durable } from './promises.js';
import type { Register } from './register.js';
import type { TreeNode } from './tree.js';

type Block = Register<Uint8Array | null>;

/** R2, R3, R7, R8, R10, R11, R13 for size and contents, and how far the size may run ahead of the bytes (E2, E3, F3). */
export function judgeContents(found: Found, object: FileObject, node: TreeNode, path: string): void {
  judgeSize(found, object, node.size, path);
  for (let block = 0; block * BLOCK_BYTES < node.contents.length; block++) {
    const problem = problemOf(found, object, node, block);
    if (problem === null) continue;
    found.violated(problem.rule, path, `bytes ${block * BLOCK_BYTES} and on: ${problem.text}`);
    // One wrong block says it all: the others are mostly wrong for the same reason.
    return;
  }
}

/** True if size and contents of a node may be those of this file. */
export function fitsContents(found: Found, object: FileObject, node: TreeNode): boolean {
  if (sizeProblem(found, object, node.size) !== null) return false;
  for (let block = 0; block * BLOCK_BYTES < node.contents.length; block++) {
    if (problemOf(found, object, node, block) !== null) return false;
  }
  return true;
}

interface Problem {
  readonly rule: string;
  readonly text: string;
}

function judgeSize(found: Found, object: FileObject, size: number, path: string): void {
  const problem = sizeProblem(found, object, size);
  if (problem !== null) found.violated(problem.rule, path, problem.text);
}

function sizeProblem(found: Found, object: FileObject, size: number): Problem | null {
  const { promises } = found;
  const register = object.size;
  const durable = promises.ofSize(object);
  let [least, most, known] = [Number.POSITIVE_INFINITY, 0, false];
  for (let index = 0; index < register.values.length; index++) {
    const value = register.values[index];
    if (!found.allows(register, durable, index)) {
      known ||= value === size;
      continue;
    }
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  let doubtful = false;
  for (const { position, value } of register.doubtful) {
    if (!promises.mayShow(position)) continue;
    most = Math.max(most, value);
    doubtful ||= value === size && size > least;
  }
  const allowed = register.values.some((value, index) => value === size && found.allows(register, durable, index));
  // A part of what a write has added may have reached the drive: whole blocks of it.
  const between = size % BLOCK_BYTES === 0 && size > least && size < most;
  if (!allowed && !between && !doubtful) {
    const rule = known || size < least ? ruleOf(durable.point) : 'R13';
    const expected = found.expected(register, durable, String);
    return { rule, text: `its size is ${size}, expected ${expected}: ${found.because(durable)}` };
  }
  for (const point of promises.points) {
    if (point.object !== object || !point.promised.startsWith('range') || size >= point.end) continue;
    // There may be nothing that it had to write.
    if (promises.timeline.stepAt(point.position)[0] === 'msync') continue;
    const cut = register.values.some(
      (value, index) =>
        value < point.end && register.positions[index] > point.position && promises.mayShow(register.positions[index]),
    );
    if (!cut && register.at(point.position) >= point.end) {
      const text = `its size is ${size}, expected at least ${point.end}: ${promises.timeline.describe(point.position)} was acknowledged`;
      return { rule: 'R11', text };
    }
  }
  return null;
}

/** What is wrong with a block; null: nothing. */
function problemOf(found: Found, object: FileObject, node: TreeNode, block: number): Problem | null {
  const { rules } = found.promises;
  const start = block * BLOCK_BYTES;
  const end = Math.min(start + BLOCK_BYTES, node.contents.length);
  const register: Block | undefined = object.blocks[block];
  if (register === undefined) {
    return isZero(node.contents, start, end) ? null : foreign(found, node.contents, start, end, 'zeroes');
  }
  const durable = found.promises.ofBlock(object, register, start, BLOCK_BYTES);
  for (let from = start; from < end; from += rules.atomicBytes) {
    const to = Math.min(from + rules.atomicBytes, end);
    const problem = judgeUnit(found, object, node, register, durable, from, to);
    if (problem !== null) return problem;
  }
  return null;
}

function judgeUnit(
  found: Found,
  object: FileObject,
  node: TreeNode,
  register: Block,
  durable: Durable,
  from: number,
  to: number,
): Problem | null {
  const { contents } = node;
  const { promises } = found;
  let [ahead, stale] = [-1, -1];
  for (let index = register.values.length - 1; index >= 0; index--) {
    if (!sameBytes(contents, from, to, register.values[index])) continue;
    if (!found.allows(register, durable, index)) stale = index;
    else if (wasLongEnough(found, object, register, index, from, to)) return null;
    else ahead = index;
  }
  for (const { position, value } of register.doubtful) {
    if (promises.mayShow(position) && sameBytes(contents, from, to, value)) return null;
  }
  if (ahead >= 0) {
    const rule = promises.rules.sizeAhead === 'block' ? 'E3' : 'E2';
    return { rule, text: `the size ${node.size} is there without the bytes that it came with` };
  }
  if (!promises.rules.foreignFree && !isDurable(found, register, durable)) return null;
  const expected = `what ${versions(found, register, durable)} left`;
  if (stale >= 0) {
    const text = `what ${promises.timeline.describe(register.positions[stale])} left is there, expected ${expected}: ${found.because(durable)}`;
    return { rule: ruleOf(durable.point), text };
  }
  if (isZero(contents, from, to)) {
    return { rule: ruleOf(durable.point), text: `zeroes, expected ${expected}: ${found.because(durable)}` };
  }
  return foreign(found, contents, from, to, expected);
}

/** True if the value of a block is durable and nothing has changed it since. */
function isDurable(found: Found, register: Block, durable: Durable): boolean {
  if (durable.index < 0 || (durable.index === 0 && register.values[0] === null)) return false;
  const next = durable.index + 1;
  return next >= register.values.length || !found.allows(register, durable, next);
}

/** Whether the file has ever been as long as it is found while the block had this value, as far as the rules ask. */
function wasLongEnough(
  found: Found,
  object: FileObject,
  register: Block,
  index: number,
  from: number,
  to: number,
): boolean {
  const { sizeAhead } = found.promises.rules;
  if (sizeAhead === 'any' || (sizeAhead === 'block' && isSkipped(found, object, to))) return true;
  const next = register.positions[index + 1] ?? Number.POSITIVE_INFINITY;
  const needed = sizeAhead === 'none' ? to : Math.floor(from / BLOCK_BYTES) * BLOCK_BYTES + 1;
  const { size } = object;
  for (let at = size.values.length - 1; at >= 0; at--) {
    const until = size.positions[at + 1] ?? Number.POSITIVE_INFINITY;
    if (size.values[at] >= needed && size.positions[at] < next && until > register.positions[index]) return true;
  }
  return false;
}

/** A range behind these bytes was written back alone, or the size was set: it is there, what lies before is a hole until then. */
function isSkipped({ promises }: Found, object: FileObject, to: number): boolean {
  return promises.timeline.ranges.some(
    ({ position, effect }) => effect.object === object && effect.end > to && promises.mayShow(position),
  );
}

function foreign(found: Found, contents: Uint8Array, from: number, to: number, expected: string): Problem {
  for (let at = Math.ceil(from / 16) * 16; at + 16 <= to; at += 16) {
    const label = labelAt(contents, at);
    if (label === null) continue;
    const { process, step } = writerOf(label.version);
    const { workload } = found.promises.timeline.history;
    const writer =
      process < 0 ? 'the base state' : (workload.processes[process]?.[step]?.join(' ') ?? 'something else');
    const text = `sector ${label.sector} of version ${label.version} (${writer}) is there, expected ${expected}`;
    return { rule: 'R7', text };
  }
  return { rule: 'R7', text: `bytes that no operation has written, expected ${expected}` };
}

function versions(found: Found, register: Block, durable: Durable): string {
  const texts: string[] = [];
  for (let index = Math.max(0, durable.index); index < register.values.length; index++) {
    if (!found.allows(register, durable, index)) continue;
    texts.push(found.promises.timeline.describe(register.positions[index]));
  }
  return texts.join(' or ');
}

/** Compares a range of a file with the same range of one of its blocks. */
export function sameBytes(contents: Uint8Array, from: number, to: number, block: Uint8Array | null): boolean {
  if (block === null) return isZero(contents, from, to);
  const start = Math.floor(from / BLOCK_BYTES) * BLOCK_BYTES;
  for (let at = from; at < to; at++) if (contents[at] !== block[at - start]) return false;
  return true;
}

function isZero(contents: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (contents[at] !== 0) return false;
  return true;
}

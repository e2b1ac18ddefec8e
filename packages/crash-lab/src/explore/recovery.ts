import type { CrashDevice, CrashModel } from '@flashstack/block-device/crash';
import { type MaybeTask, runTask, Simulator, type Task } from '@flashstack/sim';
import { OpenFlag, type Thread } from '@flashstack/vfs';
import { readTree } from '../judge/read-tree.js';
import type { DurabilityRules } from '../judge/rules.js';
import type { Tree } from '../judge/tree.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { Machine } from './machine.js';
import { TreeIdentity } from './tree-identity.js';

const { create, directory, exclusive, readOnly, writeOnly } = OpenFlag;
/** A name that no workload uses. */
const PROBE = '.probe';

/** A violation of R1: something does not work after a power cut. */
export function unusable(path: string, text: string): Violation {
  return { rule: 'R1', path, text };
}

/** What a file system promises on a drive of a model: where blocks may be torn, each sector is old or new by itself. */
export function rulesOn(subject: CrashSubject, model: CrashModel): DurabilityRules {
  return model === 'torn' || model === 'shorn' ? { ...subject.rules, atomicBytes: 512 } : subject.rules;
}

/** What recovery of an image ends with: a mounted file system, or why there is none. */
export function recover(subject: CrashSubject, device: CrashDevice): Machine | Violation {
  const machine = new Machine(subject, device);
  const failed = attempt(() => machine.mount());
  return failed === null ? machine : unusable('', `recovery ends with ${failed}`);
}

/** The tree of a mounted file system, or why it cannot be read. */
export function treeOf(machine: Machine): Tree | Violation {
  let tree: Tree | null = null;
  const attributes = machine.host.fileSystem.capabilities.attributeBytes > 0;
  const failed = attempt(() => {
    tree = machine.host.run(readTree(machine.thread(), attributes));
  });
  return tree ?? unusable('', `reading all files ends with ${failed}`);
}

/**
 * R1 of a recovered file system, whose tree is known: it can be unmounted, its checker is silent, another mount changes
 * nothing, in every directory files can be made, synced, renamed and removed, and all can be emptied and removed.
 */
export function findUnusable(subject: CrashSubject, device: CrashDevice, first: Machine, tree: Tree): Violation[] {
  const stopped = attempt(() => first.unmount());
  if (stopped !== null) return [unusable('', `unmount after recovery ends with ${stopped}`)];
  const complaints = check(subject, device);
  if (complaints.length > 0) return complaints;
  const second = recover(subject, device);
  if (!(second instanceof Machine)) return [{ ...second, text: `a second time, ${second.text}` }];
  const again = treeOf(second);
  if (!isTree(again)) return [again];
  const different = isSame(tree, again) ? null : differenceOf(tree, again);
  if (different !== null) return [unusable(different, 'a second recovery changes it')];
  const thread = second.thread();
  for (const [path, node] of tree) {
    if (node.kind !== 'directory') continue;
    const failed = attempt(() => second.host.run(probe(thread, path === '' ? PROBE : `${path}/${PROBE}`)));
    if (failed !== null) return [unusable(path, `a probe of the directory ends with ${failed}`)];
  }
  const paths = [...tree.keys()].filter((path) => path !== '').sort((a, b) => (a < b ? 1 : -1));
  for (const path of paths) {
    const isDirectory = tree.get(path)?.kind === 'directory';
    const failed = attempt(() => second.host.run(wait(isDirectory ? thread.rmdir(path) : thread.unlink(path))));
    if (failed !== null) return [unusable(path, `its removal ends with ${failed}`)];
  }
  const left = treeOf(second);
  if (!isTree(left)) return [left];
  if (left.size > 1) return [unusable([...left.keys()][1], 'it is there after everything was removed')];
  const ended = attempt(() => second.unmount());
  if (ended !== null) return [unusable('', `unmount after everything was removed ends with ${ended}`)];
  return check(subject, device);
}

export function isTree(found: Tree | Violation): found is Tree {
  return found instanceof Map;
}

function check(subject: CrashSubject, device: CrashDevice): Violation[] {
  if (subject.check === undefined) return [];
  const task = subject.check(device);
  let complaints: string[] = [];
  const failed = attempt(() => {
    complaints = runTask(new Simulator(), task, 'checker');
  });
  if (failed !== null) return [unusable('', `the checker ends with ${failed}`)];
  return complaints.length === 0 ? [] : [unusable('', `the checker says: ${complaints.slice(0, 3).join('; ')}`)];
}

function isSame(a: Tree, b: Tree): boolean {
  const [one, two] = [a, b].map((tree) => new TreeIdentity().of(sorted(tree)));
  return one.low === two.low && one.high === two.high;
}

/** Paths in order: in which one a directory lists its entries nobody promises. */
function sorted(tree: Tree): Tree {
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Path of something that differs between two trees. */
function differenceOf(a: Tree, b: Tree): string {
  for (const path of b.keys()) if (!a.has(path)) return path;
  for (const [path, node] of a) {
    const other = b.get(path);
    if (other === undefined || !isSame(new Map([['', node]]), new Map([['', other]]))) return path;
  }
  return '';
}

function* probe(thread: Thread, path: string): Task<void> {
  const fd = yield* wait(thread.open(path, create | exclusive | writeOnly, 0o600));
  const bytes = new Uint8Array(100).fill(0x70);
  yield* wait(thread.write(fd, bytes, bytes.length));
  yield* wait(thread.fsync(fd));
  yield* wait(thread.close(fd));
  yield* wait(thread.rename(path, `${path}d`));
  const parent = path.slice(0, Math.max(0, path.length - PROBE.length - 1));
  const opened = yield* wait(thread.open(parent === '' ? '.' : parent, readOnly | directory));
  yield* wait(thread.fsync(opened));
  yield* wait(thread.close(opened));
  yield* wait(thread.unlink(`${path}d`));
}

function* wait(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/** What a call throws, in words; null: nothing. Whatever a file system throws after a power cut is what is looked for. */
function attempt(call: () => void): string | null {
  try {
    call();
    return null;
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string };
    return code !== undefined && message.includes(code) ? message : `${code ?? name}: ${message}`;
  }
}

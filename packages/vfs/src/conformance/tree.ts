import { mix32, type Task } from '@flashstack/sim';
import { FileKind, FileStatus, FsError, OpenFlag, type Thread } from '../index.js';
import { go, type Tester } from './harness.js';

/** What a snapshot of a tree holds besides names, kinds, contents and link structure. */
export interface TreeOptions {
  /** Modification times, rounded down to the resolution that the file system keeps. */
  readonly times?: boolean;
  /** Extended attributes. */
  readonly attributes?: boolean;
}

/** Every file below `path` as one line each, sorted by path; the same lines mean the same tree. */
export function* treeOf(t: Tester, options: TreeOptions = {}, path: string = '/'): Task<string[]> {
  const lines: string[] = [];
  const numbers = new Map<number, number>();
  yield* walk(t, path, options, numbers, lines);
  return lines;
}

function* walk(
  t: Tester,
  path: string,
  options: TreeOptions,
  numbers: Map<number, number>,
  lines: string[],
): Task<void> {
  const status = new FileStatus();
  yield* go(t.root.lstat(path, status));
  const kind = status.mode >> 12;
  // Numbers are the file system's own; which names share one is not.
  const number = numbers.get(status.ino) ?? numbers.size;
  numbers.set(status.ino, number);
  let line = `${path} #${number} ${status.mode.toString(8)} ${status.uid}:${status.gid} links ${status.links}`;
  if (kind === FileKind.regular) line += ` size ${status.size} ${yield* sumOf(t.root, path, status.size)}`;
  if (kind === FileKind.symlink) line += ` -> ${yield* go(t.root.readlink(path))}`;
  if (kind === FileKind.characterDevice || kind === FileKind.blockDevice) line += ` device ${status.device}`;
  if (options.times === true) {
    const { timeNs } = t.capabilities;
    line += ` modified ${status.modifiedSec}.${status.modifiedNsec - (status.modifiedNsec % Math.min(timeNs, 1e9))}`;
  }
  if (options.attributes === true && kind !== FileKind.symlink) line += yield* attributesOf(t.root, path);
  lines.push(line);
  if (kind !== FileKind.directory) return;
  for (const name of yield* t.names(path)) {
    yield* walk(t, path === '/' ? `/${name}` : `${path}/${name}`, options, numbers, lines);
  }
}

function* attributesOf(thread: Thread, path: string): Task<string> {
  let text = '';
  for (const name of (yield* go(thread.listAttributes(path))).sort()) {
    text += ` ${name}=${sum(yield* go(thread.getAttribute(path, name)))}`;
  }
  return text;
}

function* sumOf(thread: Thread, path: string, size: number): Task<string> {
  const fd = yield* go(thread.open(path, OpenFlag.readOnly));
  const bytes = new Uint8Array(Math.min(size, 1 << 20));
  let hash = 0;
  for (let offset = 0; offset < size; ) {
    const read = yield* go(thread.pread(fd, bytes, bytes.length, offset));
    if (read === 0) throw new FsError('EIO', `${path} ends at ${offset}, its size is ${size}`);
    hash = mix32(hash ^ Number.parseInt(sum(bytes.subarray(0, read)), 16));
    offset += read;
  }
  yield* go(thread.close(fd));
  return hash.toString(16);
}

function sum(bytes: Uint8Array): string {
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at], 0x0100_0193);
  return mix32(hash).toString(16);
}

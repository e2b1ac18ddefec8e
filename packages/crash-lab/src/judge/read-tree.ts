import type { MaybeTask, Task } from '@flashstack/sim';
import { type DirectoryEntry, FileKind, FileStatus, FsError, OpenFlag, type Thread } from '@flashstack/vfs';
import type { Tree, TreeNode } from './tree.js';

const KINDS: Readonly<Record<number, TreeNode['kind']>> = {
  [FileKind.regular]: 'file',
  [FileKind.directory]: 'directory',
  [FileKind.symlink]: 'symlink',
};
const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();
const NO_CONTENTS: Uint8Array = new Uint8Array(0);

/** All files below the working directory of a thread. `attributes`: whether extended attributes are kept. @throws FsError */
export function* readTree(thread: Thread, attributes: boolean): Task<Tree> {
  const tree = new Map<string, TreeNode>();
  const nodes = new Map<number, TreeNode>();
  const status = new FileStatus();
  const directories = [''];
  yield* wait(thread.lstat('.', status));
  tree.set('', yield* readNode(thread, '.', status, attributes));
  for (let at = 0; at < directories.length; at++) {
    const directory = directories[at];
    for (const name of yield* namesOf(thread, directory === '' ? '.' : directory)) {
      const path = directory === '' ? name : `${directory}/${name}`;
      yield* wait(thread.lstat(path, status));
      let node = nodes.get(status.ino);
      if (node === undefined) {
        node = yield* readNode(thread, path, status, attributes);
        nodes.set(status.ino, node);
      }
      tree.set(path, node);
      if (node.kind === 'directory') directories.push(path);
    }
  }
  return tree;
}

function* namesOf(thread: Thread, path: string): Task<string[]> {
  const entries: DirectoryEntry[] = [];
  const fd = yield* wait(thread.open(path, OpenFlag.readOnly | OpenFlag.directory));
  while ((yield* wait(thread.readdir(fd, entries))) > 0);
  yield* wait(thread.close(fd));
  const names: string[] = [];
  for (const { name } of entries) if (name !== '.' && name !== '..') names.push(name);
  return names;
}

function* readNode(thread: Thread, path: string, status: FileStatus, attributes: boolean): Task<TreeNode> {
  const { uid, gid, links, size, sectors } = status;
  const kind = KINDS[status.mode >> 12] ?? 'other';
  return {
    kind,
    mode: status.mode & 0o7777,
    uid,
    gid,
    links,
    size,
    sectors,
    target: kind === 'symlink' ? yield* thread.readlink(path) : '',
    attributes: attributes && kind !== 'symlink' ? yield* attributesOf(thread, path) : NO_ATTRIBUTES,
    contents: kind === 'file' && size > 0 ? yield* contentsOf(thread, path, size) : NO_CONTENTS,
  };
}

function* contentsOf(thread: Thread, path: string, size: number): Task<Uint8Array> {
  const bytes = new Uint8Array(size);
  const fd = yield* wait(thread.open(path, OpenFlag.readOnly));
  for (let at = 0; at < size; ) {
    const done = yield* wait(thread.pread(fd, bytes.subarray(at), size - at, at));
    if (done === 0) throw new FsError('EIO', `${path} ends at ${at}, its size is ${size}`);
    at += done;
  }
  yield* wait(thread.close(fd));
  return bytes;
}

function* attributesOf(thread: Thread, path: string): Task<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const name of yield* thread.listAttributes(path)) {
    let value = '';
    for (const byte of yield* thread.getAttribute(path, name)) value += String.fromCharCode(byte);
    values.set(name, value);
  }
  return values;
}

function* wait(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

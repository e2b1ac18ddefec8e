import type { Task } from '@flashstack/sim';
import { FileKind, type Inode, Stamp } from '@flashstack/vfs';
import { I_BLOCK_BYTES, InodeFlag } from '../format/inode-record.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { nodeOf } from './node.js';

/** Times that a change of contents or entries sets. */
export const CHANGED: number = Stamp.modified | Stamp.changed;

/** Sets times; the inode's record is part of the transaction. `data`: see `Core.touch`. */
export function stamp(core: Core, transaction: Transaction, inode: Inode, times: number, data: boolean = true): void {
  inode.stamp(times, core.environment.clock);
  core.touch(inode, transaction, data);
}

/** A new entry. */
export function* enter(core: Core, transaction: Transaction, directory: Inode, name: string, inode: Inode): Task<void> {
  yield* core.directories.add(transaction, directory, name, inode.ino, inode.kind);
  stamp(core, transaction, directory, CHANGED);
}

/** An entry goes. */
export function* leave(core: Core, transaction: Transaction, directory: Inode, name: string): Task<void> {
  yield* core.directories.remove(transaction, directory, name);
  stamp(core, transaction, directory, CHANGED);
}

/** A file has lost a name. */
export function lose(core: Core, transaction: Transaction, inode: Inode): void {
  inode.links--;
  if (inode.links === 0) core.orphans.add(transaction, inode);
  stamp(core, transaction, inode, Stamp.changed);
}

/** A directory has lost its name. */
export function loseDirectory(core: Core, transaction: Transaction, inode: Inode): void {
  inode.links = 0;
  core.orphans.add(transaction, inode);
  stamp(core, transaction, inode, CHANGED);
}

/** A directory has another parent. */
export function* adopt(core: Core, transaction: Transaction, inode: Inode, from: Inode, to: Inode): Task<void> {
  if (inode.kind !== FileKind.directory || from === to) return;
  yield* core.directories.replace(transaction, inode, '..', to.ino, FileKind.directory);
  from.links--;
  to.links++;
  core.touch(from, transaction);
  core.touch(to, transaction);
}

/** Short targets lie in the inode, longer ones in a block. */
export function* writeTarget(core: Core, transaction: Transaction, inode: Inode, target: string): Task<void> {
  if (target.length < I_BLOCK_BYTES) return core.inodes.setFastLink(inode, target);
  nodeOf(inode).flags |= InodeFlag.extents;
  yield* core.makeSymlinkBlock(transaction, inode, target);
}

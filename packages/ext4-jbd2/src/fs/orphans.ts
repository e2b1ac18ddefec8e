import type { Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode } from '@flashstack/vfs';
import { readInode } from '../format/inode-record.js';
import { SB } from '../format/superblock.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { nodeOf } from './node.js';

/** Files that have to be freed or shortened if power is lost before that is done: a list through their inodes. */
export class Orphans {
  private readonly core: Core;
  /** As the list on the device has them, the newest first. */
  private readonly list: Inode[] = [];

  constructor(core: Core) {
    this.core = core;
  }

  /** Puts an inode in front of the list; one that is in it stays where it is. */
  add(transaction: Transaction, inode: Inode): void {
    const node = nodeOf(inode);
    if (node.nextOrphan >= 0) return;
    const { superblock, journal } = this.core;
    node.nextOrphan = superblock.get(SB.s_last_orphan);
    this.list.unshift(inode);
    journal.change(superblock.buffer, transaction);
    superblock.set(SB.s_last_orphan, inode.ino);
    this.core.touch(inode, transaction);
  }

  /** Takes an inode out of the list. */
  remove(transaction: Transaction, inode: Inode): void {
    const node = nodeOf(inode);
    if (node.nextOrphan < 0) return;
    const { superblock, journal } = this.core;
    const at = this.list.indexOf(inode);
    if (at === 0) {
      journal.change(superblock.buffer, transaction);
      superblock.set(SB.s_last_orphan, node.nextOrphan);
    } else {
      const before = this.list[at - 1];
      nodeOf(before).nextOrphan = node.nextOrphan;
      this.core.touch(before, transaction);
    }
    this.list.splice(at, 1);
    node.nextOrphan = -1;
    this.core.touch(inode, transaction);
  }

  /** Reads the list at mount. @throws FsError EUCLEAN for a list that leads in a circle or nowhere */
  *load(): Task<readonly Inode[]> {
    const { geometry, superblock, inodes } = this.core;
    const seen = new Set<number>();
    for (let ino = superblock.get(SB.s_last_orphan); ino !== 0; ) {
      const where = `orphan list, inode ${ino}`;
      if (ino < geometry.firstInode || ino > geometry.inodes) throw new FsError('EUCLEAN', `${where}: no such file`);
      if (seen.has(ino)) throw new FsError('EUCLEAN', `${where}: occurs twice`);
      seen.add(ino);
      const inode = yield* inodes.get(ino);
      const node = nodeOf(inode);
      const next = readInode(geometry, node.bytes, 0).dtime;
      node.nextOrphan = next;
      this.list.push(inode);
      ino = next;
    }
    return [...this.list];
  }

  /** Frees what has no names, and cuts off what lies behind the end of a file. */
  *process(orphans: readonly Inode[]): Task<void> {
    for (const inode of orphans) {
      if (inode.links === 0) yield* this.core.free(inode);
      else {
        if (inode.kind === FileKind.regular) {
          yield* this.core.files.release(inode, Math.ceil(inode.size / this.core.geometry.blockBytes));
        }
        const transaction = yield* this.core.journal.open(4);
        this.remove(transaction, inode);
        this.core.journal.close(transaction, 4);
      }
    }
  }
}

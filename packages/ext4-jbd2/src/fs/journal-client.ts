import type { Task } from '@flashstack/sim';
import { type FsEnvironment, PAGE_BYTES, WritebackReason } from '@flashstack/vfs';
import { put32 } from '../format/bytes.js';
import { entryInode, sealLeaf } from '../format/dir-block.js';
import { sealNode } from '../format/extents.js';
import { NODE_INDEX, ROOT_INDEX, sealIndex } from '../format/htree.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { JournalClient } from '../journal/journal.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';

/** What the journal asks of a mounted file system: checksums, data that must be in place, what to do after a commit. */
export class CoreJournalClient implements JournalClient {
  /** Set once the journal, which a core needs, has been opened. */
  core: Core | null = null;
  private readonly environment: FsEnvironment;

  constructor(environment: FsEnvironment) {
    this.environment = environment;
  }

  seal(transaction: Transaction): void {
    const core = this.demand();
    for (const inode of transaction.inodes) core.inodes.store(inode, transaction);
    transaction.inodes.clear();
    core.groups.sealDescriptors();
    for (const buffer of transaction.buffers) this.sealBlock(buffer);
  }

  sealBlock(buffer: MetadataBuffer): void {
    const { sums, superblock } = this.demand();
    if (buffer.kind === BlockKind.superblock) superblock.seal();
    if (!sums.on) return;
    const { bytes, owner, kind } = buffer;
    if (kind === BlockKind.extentNode) sealNode(owner, bytes);
    else if (kind === BlockKind.directoryLeaf) sealLeaf(owner, bytes);
    else if (kind === BlockKind.directoryIndex)
      sealIndex(owner, bytes, entryInode(bytes, 0) === 0 ? NODE_INDEX : ROOT_INDEX);
    else if (kind === BlockKind.attributes) put32(bytes, 0x10, sums.attributeBlock(buffer.block, bytes));
  }

  *writeOrdered({ ordered, zeroed }: Transaction): Task<void> {
    const { cache } = this.environment;
    for (const [inode, page] of zeroed) {
      yield* cache.writeBack(inode, WritebackReason.sync, page * PAGE_BYTES, PAGE_BYTES);
    }
    for (const [inode, [first, last]] of ordered) {
      const settled = cache.settle(inode, first, last - first + 1);
      if (typeof settled !== 'number') yield* settled;
    }
  }

  committed({ freed }: Transaction): Task<void> | null {
    for (const run of freed) this.demand().blocks.released(run);
    return null;
  }

  clock(): { readonly sec: number; readonly nsec: number } {
    return this.environment.clock.read();
  }

  private demand(): Core {
    if (this.core === null) throw new Error('the journal is used before its file system is there');
    return this.core;
  }
}

import { BlockFlag, IoBatch, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { be32, putBe32 } from '../format/bytes.js';
import type { MetadataBuffer } from './buffer.js';
import type { Journal } from './journal.js';
import {
  BlockType,
  COMMIT_CHECKSUM,
  commitChecksum,
  HEADER_BYTES,
  JOURNAL_MAGIC,
  JournalIncompat,
  JSB,
  putHeader,
  putTag,
  sealJournalSuperblock,
  TagFlag,
  tagChecksum,
  tailChecksum,
} from './records.js';
import { type Transaction, TransactionState } from './transaction.js';

/** Bytes of the uuid that follows the first tag of a descriptor. */
const UUID_BYTES = 16;

/** Makes transactions durable, one at a time. */
export class Committer {
  /** A block that is changed now has to be copied for the committing transaction first. */
  needsCopy = false;
  private readonly journal: Journal;

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** Commits the running transaction. @throws FsError EIO */
  *commit(transaction: Transaction): Task<void> {
    const { journal } = this;
    transaction.state = TransactionState.locked;
    while (transaction.handles > 0) yield transaction.idle;
    journal.client.seal(transaction);
    journal.running = null;
    journal.committing = transaction;
    transaction.state = TransactionState.flush;
    for (const buffer of transaction.buffers) {
      buffer.running = null;
      buffer.committing = transaction;
    }
    this.needsCopy = true;
    try {
      if (transaction.buffers.size > 0 || transaction.revoked.size > 0) yield* this.writeLog(transaction);
      else yield* journal.client.writeOrdered(transaction);
    } finally {
      this.needsCopy = false;
      journal.committing = null;
    }
    yield* this.finish(transaction);
  }

  private *writeLog(transaction: Transaction): Task<void> {
    const { journal } = this;
    if (be32(journal.superblock, JSB.s_start) === 0) yield* this.startLog(transaction);
    yield* journal.client.writeOrdered(transaction);
    transaction.state = TransactionState.commit;
    transaction.logStart = journal.space.head;
    const batch = new IoBatch(journal.io.device);
    this.addRevokes(transaction, batch);
    this.addBlocks(transaction, batch);
    this.needsCopy = false;
    for (const buffer of transaction.buffers) buffer.frozen = null;
    if (batch.size > 0) yield batch;
    if (batch.size > 0 && batch.status !== 0) throw new FsError('EIO', `log of transaction ${transaction.tid}`);
    // What has reached its home by now is durable with the flush before the commit block.
    const tail = journal.checkpointer.tailToMove();
    yield* this.writeCommitBlock(transaction);
    transaction.logEnd = journal.space.head;
    if (tail !== null) yield* journal.checkpointer.moveTail(tail);
  }

  /** The log was empty: its superblock says where it begins now. */
  private *startLog(transaction: Transaction): Task<void> {
    const { journal } = this;
    const { superblock, space } = journal;
    space.moveTail(space.head, transaction.tid);
    putBe32(superblock, JSB.s_sequence, transaction.tid);
    putBe32(superblock, JSB.s_start, space.head);
    yield* writeJournalSuperblock(journal, 0);
  }

  private addRevokes(transaction: Transaction, batch: IoBatch): void {
    const { format } = this.journal;
    if (transaction.revoked.size === 0) return;
    const record = format.bit64 ? 8 : 4;
    const end = format.blockBytes - format.tailBytes;
    let block: Uint8Array | null = null;
    let at = 0;
    for (const revoked of transaction.revoked) {
      if (block === null) {
        block = new Uint8Array(format.blockBytes);
        putHeader(block, BlockType.revoke, transaction.tid);
        at = HEADER_BYTES + 4;
      }
      if (format.bit64) putBe32(block, at, Math.floor(revoked / 2 ** 32));
      putBe32(block, at + (format.bit64 ? 4 : 0), revoked >>> 0);
      at += record;
      if (at + record <= end) continue;
      this.addRevokeBlock(transaction, block, at, batch);
      block = null;
    }
    if (block !== null) this.addRevokeBlock(transaction, block, at, batch);
  }

  private addRevokeBlock(transaction: Transaction, block: Uint8Array, used: number, batch: IoBatch): void {
    putBe32(block, HEADER_BYTES, used);
    this.sealTail(block);
    this.add(transaction, block, batch);
  }

  private sealTail(block: Uint8Array): void {
    const { format } = this.journal;
    if (format.checksums) putBe32(block, block.length - 4, tailChecksum(format, block));
  }

  /** Descriptor blocks, each followed by the blocks that it names. */
  private addBlocks(transaction: Transaction, batch: IoBatch): void {
    const { format } = this.journal;
    const room = format.blockBytes - format.tailBytes - format.tagBytes - UUID_BYTES;
    const buffers = [...transaction.buffers];
    for (let first = 0; first < buffers.length; ) {
      const descriptor = new Uint8Array(format.blockBytes);
      putHeader(descriptor, BlockType.descriptor, transaction.tid);
      const bodies: Uint8Array[] = [];
      let at = HEADER_BYTES;
      let next = first;
      while (next < buffers.length && at <= room) {
        const buffer = buffers[next++];
        const [body, escaped] = logged(buffer);
        const last = next === buffers.length || at + format.tagBytes + (next - 1 === first ? UUID_BYTES : 0) > room;
        const flags =
          (escaped ? TagFlag.escaped : 0) | (next - 1 === first ? 0 : TagFlag.sameUuid) | (last ? TagFlag.last : 0);
        const checksum = format.checksums ? tagChecksum(format, transaction.tid, body) : 0;
        at = putTag(format, descriptor, at, { block: buffer.block, flags, checksum });
        bodies.push(body);
      }
      this.sealTail(descriptor);
      this.add(transaction, descriptor, batch);
      for (const body of bodies) this.add(transaction, body, batch);
      first = next;
    }
  }

  private add(transaction: Transaction, bytes: Uint8Array, batch: IoBatch): void {
    const { journal } = this;
    const block = journal.space.take();
    transaction.logBlocks++;
    journal.stats.logBlocks++;
    journal.io.add(batch, journal.file.place(block), bytes, Origin.journal, BlockFlag.sync);
  }

  private *writeCommitBlock(transaction: Transaction): Task<void> {
    const { journal } = this;
    const { format, simulator } = journal;
    const block = new Uint8Array(format.blockBytes);
    putHeader(block, BlockType.commit, transaction.tid);
    const { sec, nsec } = journal.client.clock();
    putBe32(block, 0x30, Math.floor(sec / 2 ** 32));
    putBe32(block, 0x34, sec >>> 0);
    putBe32(block, 0x38, nsec);
    if (format.checksums) putBe32(block, COMMIT_CHECKSUM, commitChecksum(format, block));
    const at = journal.space.take();
    transaction.logBlocks++;
    journal.stats.logBlocks++;
    yield* writeDurably(journal, journal.file.place(at), block, true, `commit of transaction ${transaction.tid}`);
    simulator.noteProgress();
  }

  /** Logged blocks wait to be written home; what was freed can be used again. */
  private *finish(transaction: Transaction): Task<void> {
    const { journal } = this;
    for (const buffer of transaction.buffers) {
      buffer.committing = null;
      buffer.version++;
      if (!buffer.dirty) buffer.dirtySinceNs = journal.simulator.now;
      buffer.dirty = true;
    }
    for (const buffer of transaction.forgotten) {
      journal.checkpointer.drop(buffer);
      buffer.dirty = false;
    }
    journal.checkpointer.add(transaction);
    transaction.state = TransactionState.finished;
    journal.committedTid = transaction.tid;
    journal.stats.commits++;
    const callback = journal.client.committed(transaction);
    if (callback !== null) yield* callback;
  }
}

/** What goes into the log of a block; one that begins like a control block is escaped. */
function logged(buffer: MetadataBuffer): [body: Uint8Array, escaped: boolean] {
  const bytes = buffer.frozen ?? buffer.bytes;
  if (be32(bytes, 0) !== JOURNAL_MAGIC) return [bytes, false];
  const copy = bytes.slice();
  putBe32(copy, 0, 0);
  return [copy, true];
}

/** Writes a block so that it is durable afterwards, and with `preflush` all that has completed before. */
function* writeDurably(
  journal: Journal,
  block: number,
  bytes: Uint8Array,
  preflush: boolean,
  where: string,
): Task<void> {
  const { io, options } = journal;
  const { fua, volatileCache } = io.device.features;
  if (!options.barrier || !volatileCache) return yield* io.write(block, bytes, Origin.journal, where, BlockFlag.sync);
  if (fua) {
    const flags = BlockFlag.sync | BlockFlag.fua | (preflush ? BlockFlag.preflush : 0);
    return yield* io.write(block, bytes, Origin.journal, where, flags);
  }
  if (preflush) yield* io.flush();
  yield* io.write(block, bytes, Origin.journal, where, BlockFlag.sync);
  yield* io.flush();
}

/** Writes the journal's superblock; `flags` as `BlockFlag`. */
export function* writeJournalSuperblock(journal: Journal, flags: number): Task<void> {
  const { superblock, file, io } = journal;
  sealJournalSuperblock(superblock);
  journal.stats.superblockWrites++;
  if ((flags & BlockFlag.fua) !== 0) {
    return yield* writeDurably(
      journal,
      file.place(0),
      superblock,
      (flags & BlockFlag.preflush) !== 0,
      'journal superblock',
    );
  }
  yield* io.write(file.place(0), superblock, Origin.journal, 'journal superblock', BlockFlag.sync);
}

/** Sets the journal features that a first mount sets: checksums and 64-bit block numbers. */
export function upgradeFeatures(superblock: Uint8Array, checksums: boolean, bit64: boolean): void {
  let incompat = be32(superblock, JSB.s_feature_incompat) | JournalIncompat.revoke;
  if (bit64) incompat |= JournalIncompat.bit64;
  if (checksums) {
    incompat |= JournalIncompat.csumV3;
    superblock[JSB.s_checksum_type] = 4;
  }
  putBe32(superblock, JSB.s_feature_incompat, incompat);
}

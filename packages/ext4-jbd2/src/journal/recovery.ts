import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { be32, put32, putBe32, u32 } from '../format/bytes.js';
import { superblockChecksum } from '../format/checksums.js';
import { Compat, Incompat } from '../format/features.js';
import { SB, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET } from '../format/superblock.js';
import type { Volume } from '../volume/volume.js';
import { LogFile } from './log-file.js';
import {
  JOURNAL_MAGIC,
  JSB,
  readJournalFormat,
  readRevoked,
  sealJournalSuperblock,
  TagFlag,
  tagChecksum,
  tidBefore,
} from './records.js';
import { type Log, scanLog } from './scan.js';

/** What a recovery has done. */
export interface Recovery {
  /** Complete transactions that were found. */
  readonly transactions: number;
  /** Blocks written to their homes. */
  readonly blocks: number;
  /** Logged blocks that a later transaction revoked. */
  readonly revoked: number;
  /** Logged blocks that failed their checksum and were left out. */
  readonly damaged: number;
  /** The next transaction's number. */
  readonly nextTid: number;
}

/** True if a file system's journal has to be replayed before it is used. */
export function needsRecovery(volume: Volume): boolean {
  return (volume.geometry.incompat & Incompat.needsRecovery) !== 0;
}

/**
 * Replays the journal in three passes (scan, revoke, replay), empties it and clears `needs_recovery`. Doing it again after
 * a power cut within it has the same result.
 * @throws FsError EUCLEAN for a damaged journal, EIO
 */
export function* recover(volume: Volume): Task<Recovery> {
  const { geometry, io } = volume;
  if ((geometry.compat & Compat.hasJournal) === 0)
    throw new FsError('EUCLEAN', 'superblock: recovery without a journal');
  const file = yield* LogFile.of(volume);
  const jsb = (yield* file.read(0)).slice();
  const format = readJournalFormat(jsb, geometry.blockBytes, file.blocks);
  const log = yield* scanLog(file, format, jsb);
  const revoked = yield* readRevocations(file, log, (block) => readRevoked(format, block));
  const done = { transactions: log.transactions.length, blocks: 0, revoked: 0, damaged: 0 };
  for (const { tid, blocks } of log.transactions) {
    for (const { at, home, flags, checksum } of blocks) {
      const until = revoked.get(home);
      if (until !== undefined && !tidBefore(until, tid)) {
        done.revoked++;
        continue;
      }
      const bytes = (yield* file.read(at)).slice();
      if (format.checksums && tagChecksum(format, tid, bytes) !== checksum) {
        done.damaged++;
        continue;
      }
      if ((flags & TagFlag.escaped) !== 0) putBe32(bytes, 0, JOURNAL_MAGIC);
      if (home >= geometry.blocks) throw new FsError('EUCLEAN', `journal, transaction ${tid}: home block ${home}`);
      yield* io.write(home, bytes, Origin.journal, `replay of transaction ${tid}`);
      done.blocks++;
    }
  }
  yield* io.flush();
  const started = be32(jsb, JSB.s_start) !== 0;
  const nextTid = started ? (log.endTid + 1) >>> 0 : (be32(jsb, JSB.s_sequence) + 1) >>> 0;
  putBe32(jsb, JSB.s_start, 0);
  putBe32(jsb, JSB.s_sequence, nextTid);
  sealJournalSuperblock(jsb);
  yield* io.write(file.place(0), jsb, Origin.journal, 'journal superblock');
  yield* io.flush();
  yield* clearNeedsRecovery(volume);
  if (log.failure !== '') throw new FsError('EUCLEAN', `journal: ${log.failure}`);
  return { ...done, nextTid };
}

/** The latest transaction that revokes each block. */
function* readRevocations(
  file: LogFile,
  log: Log,
  blocksOf: (block: Uint8Array) => number[],
): Task<Map<number, number>> {
  const revoked = new Map<number, number>();
  for (const { tid, revokeBlocks } of log.transactions) {
    for (const at of revokeBlocks) for (const block of blocksOf(yield* file.read(at))) revoked.set(block, tid);
  }
  return revoked;
}

/** The superblock as it is on the device now (the replay may have brought another one), without the flag. */
function* clearNeedsRecovery({ geometry, io, sums }: Volume): Task<void> {
  const block = geometry.blockBytes === 1024 ? 1 : 0;
  const bytes = yield* io.read(block, 1, Origin.superblock, 'superblock');
  const at = SUPERBLOCK_OFFSET - block * geometry.blockBytes;
  const sb = bytes.subarray(at, at + SUPERBLOCK_BYTES);
  put32(sb, SB.s_feature_incompat, u32(sb, SB.s_feature_incompat) & ~Incompat.needsRecovery);
  if (sums.on) put32(sb, SB.s_checksum, superblockChecksum(sb));
  yield* io.write(block, bytes, Origin.superblock, 'superblock');
  yield* io.flush();
}

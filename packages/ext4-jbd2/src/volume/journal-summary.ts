import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { be32 } from '../format/bytes.js';
import { Compat } from '../format/features.js';
import { LogFile } from '../journal/log-file.js';
import { JournalCompat, JournalIncompat, JSB, readJournalFormat, readRevoked } from '../journal/records.js';
import { scanLog } from '../journal/scan.js';
import type { Volume } from './volume.js';

/** A transaction that the log holds. */
export interface TransactionSummary {
  readonly tid: number;
  /** First block in the journal, and the one behind the commit block. */
  readonly start: number;
  readonly end: number;
  /** Seconds since 1970. */
  readonly commitSec: number;
  /** Homes of the blocks that it logs, in order. */
  readonly homes: readonly number[];
  /** Blocks that it revokes. */
  readonly revoked: readonly number[];
}

/** What a journal says of itself, and what is to be replayed. */
export interface JournalSummary {
  readonly blockBytes: number;
  readonly blocks: number;
  /** Block and transaction at which replay begins; block 0: there is nothing to replay. */
  readonly start: number;
  readonly sequence: number;
  /** By the names of dumpe2fs. */
  readonly features: readonly string[];
  readonly transactions: readonly TransactionSummary[];
  /** What is wrong with the first transaction that cannot be replayed although it was complete once; otherwise empty. */
  readonly failure: string;
}

const INCOMPAT: readonly (readonly [bit: number, name: string])[] = [
  [JournalIncompat.revoke, 'journal_incompat_revoke'],
  [JournalIncompat.bit64, 'journal_64bit'],
  [JournalIncompat.asyncCommit, 'journal_async_commit'],
  [JournalIncompat.csumV2, 'journal_checksum_v2'],
  [JournalIncompat.csumV3, 'journal_checksum_v3'],
  [JournalIncompat.fastCommit, 'fast_commit'],
];

/** Reads the log without replaying it. @throws FsError EINVAL without a journal, EUCLEAN, EIO */
export function* readJournal(volume: Volume): Task<JournalSummary> {
  const { geometry } = volume;
  if ((geometry.compat & Compat.hasJournal) === 0) throw new FsError('EINVAL', 'superblock: there is no journal');
  const file = yield* LogFile.of(volume);
  const jsb = (yield* file.read(0)).slice();
  const format = readJournalFormat(jsb, geometry.blockBytes, file.blocks);
  const log = yield* scanLog(file, format, jsb);
  const transactions: TransactionSummary[] = [];
  for (const { tid, start, end, commitSec, blocks, revokeBlocks } of log.transactions) {
    const revoked: number[] = [];
    for (const at of revokeBlocks) revoked.push(...readRevoked(format, yield* file.read(at)));
    transactions.push({ tid, start, end, commitSec, homes: blocks.map(({ home }) => home), revoked });
  }
  const features = INCOMPAT.filter(([bit]) => (format.incompat & bit) !== 0).map(([, name]) => name);
  if ((format.compat & JournalCompat.checksum) !== 0) features.unshift('journal_checksum');
  return {
    blockBytes: geometry.blockBytes,
    blocks: file.blocks,
    start: be32(jsb, JSB.s_start),
    sequence: be32(jsb, JSB.s_sequence),
    features,
    transactions,
    failure: log.failure,
  };
}

import type { Task } from '@flashstack/sim';
import { be32 } from '../format/bytes.js';
import { crc32be } from './crc32be.js';
import type { LogFile } from './log-file.js';
import {
  BlockType,
  COMMIT_CHECKSUM,
  commitChecksum,
  JOURNAL_MAGIC,
  JournalCompat,
  type JournalFormat,
  JSB,
  nextBlock,
  readTags,
  tailChecksum,
} from './records.js';

/** A block of a transaction that the log holds. */
interface LoggedBlock {
  /** Block of the journal. */
  readonly at: number;
  /** Where it belongs. */
  readonly home: number;
  readonly flags: number;
  readonly checksum: number;
}

/** A complete transaction in the log. */
interface LoggedTransaction {
  readonly tid: number;
  /** Its first block in the journal, and that behind its commit block. */
  readonly start: number;
  readonly end: number;
  readonly blocks: readonly LoggedBlock[];
  /** Journal blocks that hold revoke records. */
  readonly revokeBlocks: readonly number[];
  readonly commitSec: number;
  /** A descriptor or revoke block fails its checksum although the commit block is right. */
  readonly damaged: boolean;
}

/** What a log holds, from its tail to the first transaction without a valid commit block. */
export interface Log {
  readonly transactions: readonly LoggedTransaction[];
  /** First transaction that is not in it. */
  readonly endTid: number;
  /** A transaction that was complete once is damaged: what is wrong, or an empty text. */
  readonly failure: string;
}

/** Goes through a log as recovery does (first pass). @throws FsError EIO, EUCLEAN */
export function* scanLog(file: LogFile, format: JournalFormat, jsb: Uint8Array): Task<Log> {
  const transactions: LoggedTransaction[] = [];
  let tid = be32(jsb, JSB.s_sequence);
  let at = be32(jsb, JSB.s_start);
  if (at === 0) return { transactions, endTid: tid, failure: '' };
  let lastCommitSec = 0;
  for (let passed = 0; passed < format.last - format.first; ) {
    const found = yield* scanTransaction(file, format, at, tid);
    if (found === null) break;
    if (found.damaged) {
      // Left over from an earlier round if it was committed before what precedes it.
      if (found.commitSec < lastCommitSec) break;
      return { transactions, endTid: tid, failure: `transaction ${tid} at block ${at} fails its checksum` };
    }
    transactions.push(found);
    passed += (found.end - at + format.last - format.first) % (format.last - format.first);
    lastCommitSec = found.commitSec;
    tid = (tid + 1) >>> 0;
    at = found.end;
  }
  return { transactions, endTid: tid, failure: '' };
}

/** One transaction, or null if the log has no complete one there. */
function* scanTransaction(
  file: LogFile,
  format: JournalFormat,
  start: number,
  tid: number,
): Task<LoggedTransaction | null> {
  const blocks: LoggedBlock[] = [];
  const revokeBlocks: number[] = [];
  const summed = (format.compat & JournalCompat.checksum) !== 0;
  let sum = 0xffff_ffff;
  let damaged = false;
  let at = start;
  for (let left = format.last - format.first; left > 0; left--) {
    const block = yield* file.read(at);
    if (be32(block, 0) !== JOURNAL_MAGIC || be32(block, 8) !== tid) return null;
    const type = be32(block, 4);
    const next = nextBlock(format, at);
    if (type === BlockType.descriptor) {
      damaged ||= format.checksums && be32(block, block.length - 4) !== tailChecksum(format, block);
      if (summed) sum = crc32be(sum, block);
      at = next;
      for (const tag of readTags(format, block)) {
        blocks.push({ at, home: tag.block, flags: tag.flags, checksum: tag.checksum });
        if (summed) sum = crc32be(sum, yield* file.read(at));
        at = nextBlock(format, at);
        left--;
      }
    } else if (type === BlockType.revoke) {
      damaged ||= format.checksums && be32(block, block.length - 4) !== tailChecksum(format, block);
      revokeBlocks.push(at);
      at = next;
    } else if (type === BlockType.commit) {
      if (format.checksums && be32(block, COMMIT_CHECKSUM) !== commitChecksum(format, block)) return null;
      if (summed && block[0xc] === 1 && be32(block, COMMIT_CHECKSUM) !== sum) return null;
      const commitSec = be32(block, 0x30) * 2 ** 32 + be32(block, 0x34);
      return { tid, start, end: next, blocks, revokeBlocks, commitSec, damaged };
    } else return null;
  }
  return null;
}

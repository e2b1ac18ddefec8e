import { FsError } from '@flashstack/vfs';
import { be32, join32, putBe32 } from '../format/bytes.js';
import { crc } from '../format/checksums.js';

/** Starts every control block of a journal, and superblocks. */
export const JOURNAL_MAGIC = 0xc03b_3998;
export const BlockType = { descriptor: 1, commit: 2, superblockV1: 3, superblockV2: 4, revoke: 5 } as const;
export const JournalCompat = { checksum: 1 } as const;
export const JournalIncompat = {
  revoke: 1,
  bit64: 2,
  asyncCommit: 4,
  csumV2: 8,
  csumV3: 0x10,
  fastCommit: 0x20,
} as const;
/** Flags of a tag. */
export const TagFlag = { escaped: 1, sameUuid: 2, deleted: 4, last: 8 } as const;

/** Bytes of the header of a control block: magic, type, transaction. */
export const HEADER_BYTES = 12;
/** Where a commit block keeps its checksum. */
export const COMMIT_CHECKSUM = 0x10;
const SUPERBLOCK_BYTES = 1024;
/** Fewest blocks of a journal. */
const LEAST_BLOCKS = 1024;

/** Offsets in the journal's superblock, under the names of the format documentation. */
export const JSB = {
  s_blocksize: 0xc,
  s_maxlen: 0x10,
  s_first: 0x14,
  s_sequence: 0x18,
  s_start: 0x1c,
  s_errno: 0x20,
  s_feature_compat: 0x24,
  s_feature_incompat: 0x28,
  s_feature_ro_compat: 0x2c,
  s_uuid: 0x30,
  s_nr_users: 0x40,
  s_checksum_type: 0x50,
  s_num_fc_blks: 0x54,
  s_head: 0x58,
  s_checksum: 0xfc,
} as const;

/** What a journal's superblock says, and what follows from it. */
export interface JournalFormat {
  readonly blockBytes: number;
  /** First block of the log. */
  readonly first: number;
  /** First block behind the log; the fast-commit area is not part of it. */
  readonly last: number;
  readonly compat: number;
  readonly incompat: number;
  /** Blocks carry CRC-32C: version 2 or 3. */
  readonly checksums: boolean;
  readonly bit64: boolean;
  /** Start of all checksums of blocks. */
  readonly seed: number;
  /** Bytes of a tag without a uuid. */
  readonly tagBytes: number;
  /** Bytes at the end of descriptor and revoke blocks that hold their checksum. */
  readonly tailBytes: number;
}

/** What a journal's own checksum must be. */
function journalSuperblockChecksum(jsb: Uint8Array): number {
  let register = crc(0xffff_ffff, jsb, 0, JSB.s_checksum);
  register = crc(register, new Uint8Array(4));
  return crc(register, jsb, JSB.s_checksum + 4, SUPERBLOCK_BYTES);
}

/** Writes the checksum if the journal has checksums. */
export function sealJournalSuperblock(jsb: Uint8Array): void {
  if ((be32(jsb, JSB.s_feature_incompat) & (JournalIncompat.csumV2 | JournalIncompat.csumV3)) === 0) return;
  putBe32(jsb, JSB.s_checksum, journalSuperblockChecksum(jsb));
}

/**
 * Reads a journal's superblock.
 * @param blocks of the journal's file.
 * @throws FsError EUCLEAN for what makes no sense, EINVAL for features that are not supported.
 */
export function readJournalFormat(jsb: Uint8Array, blockBytes: number, blocks: number): JournalFormat {
  const wrong = (what: string): never => {
    throw new FsError('EUCLEAN', `journal superblock: ${what}`);
  };
  if (be32(jsb, 0) !== JOURNAL_MAGIC) wrong(`magic is 0x${be32(jsb, 0).toString(16)}, expected 0xc03b3998`);
  const version = be32(jsb, 4);
  if (version !== BlockType.superblockV2 && version !== BlockType.superblockV1) wrong(`type is ${version}`);
  const featured = version === BlockType.superblockV2;
  const compat = featured ? be32(jsb, JSB.s_feature_compat) : 0;
  const incompat = featured ? be32(jsb, JSB.s_feature_incompat) : 0;
  const known = Object.values(JournalIncompat).reduce((sum, bit) => sum | bit, 0);
  const unknown = incompat & ~known;
  if (unknown !== 0) throw new FsError('EINVAL', `journal superblock: unknown feature 0x${unknown.toString(16)}`);
  const v2 = (incompat & JournalIncompat.csumV2) !== 0;
  const v3 = (incompat & JournalIncompat.csumV3) !== 0;
  if ((v2 ? 1 : 0) + (v3 ? 1 : 0) + ((compat & JournalCompat.checksum) !== 0 ? 1 : 0) > 1)
    wrong('several versions of checksums');
  if (v2 || v3) {
    if (jsb[JSB.s_checksum_type] !== 4) wrong(`s_checksum_type is ${jsb[JSB.s_checksum_type]}, expected 4 (crc32c)`);
    if (be32(jsb, JSB.s_checksum) !== journalSuperblockChecksum(jsb)) wrong('s_checksum is wrong');
  }
  if (be32(jsb, JSB.s_blocksize) !== blockBytes) wrong(`s_blocksize is ${be32(jsb, JSB.s_blocksize)}`);
  const maxlen = be32(jsb, JSB.s_maxlen);
  if (maxlen > blocks || maxlen < LEAST_BLOCKS) {
    wrong(`s_maxlen is ${maxlen}, expected ${LEAST_BLOCKS} to ${blocks}, the size of its file`);
  }
  const fast = (incompat & JournalIncompat.fastCommit) !== 0 ? be32(jsb, JSB.s_num_fc_blks) || 256 : 0;
  const first = be32(jsb, JSB.s_first);
  const last = maxlen - fast;
  if (first < 1 || first + 2 > last) wrong(`s_first is ${first}, the log ends at ${last}`);
  const start = be32(jsb, JSB.s_start);
  if (start !== 0 && (start < first || start >= last)) wrong(`s_start is ${start}, expected ${first} to ${last - 1}`);
  const bit64 = (incompat & JournalIncompat.bit64) !== 0;
  const checksums = v2 || v3;
  const tagBytes = v3 ? 16 : 8 + (v2 ? 2 : 0) + (bit64 ? 4 : 0);
  const seed = crc(0xffff_ffff, jsb, JSB.s_uuid, JSB.s_uuid + 16);
  return { blockBytes, first, last, compat, incompat, checksums, bit64, seed, tagBytes, tailBytes: checksums ? 4 : 0 };
}

/** The block that follows one in the ring. */
export function nextBlock(format: JournalFormat, block: number): number {
  return block + 1 === format.last ? format.first : block + 1;
}

/** Writes the header of a control block. */
export function putHeader(block: Uint8Array, type: number, tid: number): void {
  putBe32(block, 0, JOURNAL_MAGIC);
  putBe32(block, 4, type);
  putBe32(block, 8, tid);
}

/** True if `a` is an earlier transaction than `b`: numbers wrap. */
export function tidBefore(a: number, b: number): boolean {
  return ((a - b) | 0) < 0;
}

/** Where one block of a transaction belongs. */
export interface Tag {
  /** Block of the file system. */
  readonly block: number;
  /** `TagFlag` bits. */
  readonly flags: number;
  readonly checksum: number;
}

/** The tags of a descriptor block, up to the last or to the end of the block. */
export function readTags(format: JournalFormat, block: Uint8Array): Tag[] {
  const tags: Tag[] = [];
  const v3 = (format.incompat & JournalIncompat.csumV3) !== 0;
  const end = format.blockBytes - format.tailBytes;
  for (let at = HEADER_BYTES; at + format.tagBytes <= end; ) {
    const low = be32(block, at);
    const flags = (block[at + 6] << 8) | block[at + 7];
    const high = format.bit64 ? be32(block, at + 8) : 0;
    const checksum = v3 ? be32(block, at + 12) : (block[at + 4] << 8) | block[at + 5];
    tags.push({ block: join32(low, high), flags, checksum });
    at += format.tagBytes + ((flags & TagFlag.sameUuid) !== 0 ? 0 : 16);
    if ((flags & TagFlag.last) !== 0) break;
  }
  return tags;
}

/** Writes a tag; returns the offset behind it. The first of a descriptor is followed by a uuid of zeroes. */
export function putTag(format: JournalFormat, block: Uint8Array, at: number, tag: Tag): number {
  const v3 = (format.incompat & JournalIncompat.csumV3) !== 0;
  putBe32(block, at, tag.block >>> 0);
  if (v3) putBe32(block, at + 4, tag.flags);
  else {
    block[at + 4] = format.checksums ? tag.checksum >>> 8 : 0;
    block[at + 5] = format.checksums ? tag.checksum : 0;
    block[at + 6] = tag.flags >>> 8;
    block[at + 7] = tag.flags;
  }
  if (format.bit64) putBe32(block, at + 8, Math.floor(tag.block / 2 ** 32));
  if (v3) putBe32(block, at + 12, tag.checksum);
  return at + format.tagBytes + ((tag.flags & TagFlag.sameUuid) !== 0 ? 0 : 16);
}

/** Checksum of a logged block as it lies in the journal; version 2 keeps its lower half. */
export function tagChecksum(format: JournalFormat, tid: number, block: Uint8Array): number {
  putBe32(word, 0, tid);
  const value = crc(crc(format.seed, word), block);
  return (format.incompat & JournalIncompat.csumV3) !== 0 ? value : value & 0xffff;
}

const word: Uint8Array = new Uint8Array(4);
const zero: Uint8Array = new Uint8Array(4);

/** Checksum at the end of descriptor and revoke blocks. */
export function tailChecksum(format: JournalFormat, block: Uint8Array): number {
  return crc(crc(format.seed, block, 0, block.length - 4), zero);
}

/** Checksum in a commit block. */
export function commitChecksum(format: JournalFormat, block: Uint8Array): number {
  let register = crc(format.seed, block, 0, COMMIT_CHECKSUM);
  register = crc(register, zero);
  return crc(register, block, COMMIT_CHECKSUM + 4);
}

/** Blocks that a revoke block names. @throws FsError EUCLEAN */
export function readRevoked(format: JournalFormat, block: Uint8Array): number[] {
  const used = be32(block, HEADER_BYTES);
  const record = format.bit64 ? 8 : 4;
  const end = format.blockBytes - format.tailBytes;
  if (used > end) throw new FsError('EUCLEAN', `revoke block: r_count is ${used}, at most ${end} fit`);
  const blocks: number[] = [];
  for (let at = HEADER_BYTES + 4; at + record <= used; at += record) {
    blocks.push(format.bit64 ? join32(be32(block, at + 4), be32(block, at)) : be32(block, at));
  }
  return blocks;
}

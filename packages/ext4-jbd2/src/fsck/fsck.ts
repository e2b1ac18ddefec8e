import type { BlockDevice } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import { be32, isZero, u16, u32 } from '../format/bytes.js';
import { Compat } from '../format/features.js';
import { I_BLOCK, I_BLOCK_BYTES } from '../format/inode-record.js';
import { Ino, SB, State } from '../format/superblock.js';
import { LogFile } from '../journal/log-file.js';
import { JSB, readJournalFormat } from '../journal/records.js';
import { needsRecovery } from '../journal/recovery.js';
import { readMap } from '../volume/file-map.js';
import { Volume } from '../volume/volume.js';
import { checkDirectories, checkOrphanFile } from './check-directories.js';
import { checkGroups } from './check-groups.js';
import { checkInodes, claimMetadata } from './check-inodes.js';
import { Findings, type Problem } from './findings.js';

/** What a check compares with. */
export interface FsckOptions {
  /** Seconds since 1970: times in the superblock after it are a problem. Default: none is. */
  readonly nowSec?: number;
}

/** Either variant of the directory hash. */
const HASH_FLAGS = 3;

/**
 * Checks a file system that is not mounted, without changing it: what e2fsck -fn complains about. A journal that waits is not
 * replayed; recover first. Damage to superblock or descriptors ends the check.
 * @returns all problems in the order in which they were found; none: the file system is clean.
 * @throws FsError EIO
 */
export function* fsck(device: BlockDevice, options: FsckOptions = {}): Task<Problem[]> {
  let volume: Volume;
  try {
    volume = yield* Volume.open(device);
    for (let group = 0; group < volume.geometry.groups; group++) volume.descriptor(group);
  } catch (error) {
    if (!(error instanceof FsError) || error.code === 'EIO') throw error;
    const group = /group (\d+)/.exec(error.message);
    const structure = group === null ? 'superblock' : 'group';
    return [{ structure, place: Number(group?.[1] ?? 0), reason: error.message }];
  }
  const findings = new Findings(volume);
  checkSuperblock(findings, options);
  claimMetadata(findings);
  yield* checkInodes(findings);
  const { compat, journalInode } = volume.geometry;
  if ((compat & Compat.hasJournal) !== 0) yield* findings.part('journal', 0, checkJournal(findings));
  else if (journalInode !== 0)
    findings.add('superblock', 0, `s_journal_inum is ${journalInode}, but has_journal is not set`);
  if ((compat & Compat.orphanFile) !== 0) {
    const ino = u32(volume.superblock, SB.s_orphan_file_inum);
    yield* findings.part('inode', ino, checkOrphans(findings, ino));
  }
  yield* checkDirectories(findings);
  yield* checkGroups(findings);
  return findings.problems;
}

function checkSuperblock(findings: Findings, { nowSec }: FsckOptions): void {
  const { geometry, volume } = findings;
  const sb = volume.superblock;
  const wrong = (reason: string): void => findings.add('superblock', 0, reason);
  if ((u16(sb, SB.s_state) & State.errors) !== 0) wrong('s_state says that errors were found');
  if (isZero(geometry.uuid)) wrong('s_uuid is zero');
  if (geometry.reservedGdtBlocks !== 0 && (geometry.compat & Compat.resizeInode) === 0) {
    wrong(`s_reserved_gdt_blocks is ${geometry.reservedGdtBlocks}, without resize_inode expected 0`);
  }
  if ((geometry.compat & Compat.dirIndex) !== 0 && (u32(sb, SB.s_flags) & HASH_FLAGS) === 0) {
    wrong('s_flags does not say whether names are signed for the directory hash');
  }
  if (nowSec === undefined) return;
  for (const name of ['s_mtime', 's_wtime'] as const) {
    if (u32(sb, SB[name]) > nowSec) wrong(`${name} is ${u32(sb, SB[name])}, later than now`);
  }
}

/** The journal's file, its superblock, and the copy of where it lies. */
function* checkJournal(findings: Findings): Task<void> {
  const { geometry, volume } = findings;
  const file = yield* LogFile.of(volume);
  const jsb = yield* file.read(0);
  readJournalFormat(jsb, geometry.blockBytes, file.blocks);
  const start = be32(jsb, JSB.s_start);
  if (start !== 0 && !needsRecovery(volume)) {
    findings.add('journal', 0, `s_start is ${start}, but the superblock lacks needs_recovery`);
  }
  const sb = volume.superblock;
  const { bytes } = yield* volume.inode(Ino.journal);
  const copied =
    sb[SB.s_jnl_backup_type] === 1 &&
    sameBytes(sb, SB.s_jnl_blocks, bytes, I_BLOCK, I_BLOCK_BYTES) &&
    u32(sb, SB.s_jnl_blocks + I_BLOCK_BYTES) === u32(bytes, 0x6c) &&
    u32(sb, SB.s_jnl_blocks + I_BLOCK_BYTES + 4) === u32(bytes, 0x4);
  if (!copied) findings.add('superblock', 0, 's_jnl_blocks is not a copy of the inode of the journal');
}

function sameBytes(a: Uint8Array, at: number, b: Uint8Array, from: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a[at + i] !== b[from + i]) return false;
  return true;
}

function* checkOrphans(findings: Findings, ino: number): Task<void> {
  const inode = yield* findings.volume.inode(ino);
  if (findings.kinds[ino] !== FileKind.regular) throw new FsError('EUCLEAN', 'the orphan file is no file');
  const { extents } = yield* readMap(findings.volume, inode);
  const blocks = extents.flatMap(({ physical, length }) => Array.from({ length }, (_, at) => physical + at));
  yield* checkOrphanFile(findings, inode, blocks);
}

import { type BlockDevice, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { type FsEnvironment, FsError } from '@flashstack/vfs';
import { be32 } from '../format/bytes.js';
import { Compat, Incompat, RoCompat, unwritable } from '../format/features.js';
import { SB, State } from '../format/superblock.js';
import { upgradeFeatures, writeJournalSuperblock } from '../journal/commit.js';
import { Journal, type JournalClient, type JournalOptions } from '../journal/journal.js';
import { LogFile } from '../journal/log-file.js';
import { LogSpace } from '../journal/log-space.js';
import { JSB, readJournalFormat, sealJournalSuperblock } from '../journal/records.js';
import { needsRecovery, recover } from '../journal/recovery.js';
import { Volume } from '../volume/volume.js';
import { BufferCache } from './buffer-cache.js';
import { Core } from './core.js';
import { Groups } from './groups.js';
import { SuperblockState } from './superblock-state.js';

/** What a mount does with a device: replays the journal, reads descriptors, says that it is in use. */
export function* mountVolume(
  device: BlockDevice,
  environment: FsEnvironment,
  client: JournalClient,
  options: JournalOptions,
): Task<Core> {
  let volume = yield* Volume.open(device);
  const { compat, incompat, roCompat } = volume.geometry;
  const missing = unwritable(compat, incompat, roCompat);
  if (missing.length > 0) throw new FsError('EROFS', `superblock: cannot be written with ${missing.join(', ')}`);
  if ((compat & Compat.hasJournal) === 0) throw new FsError('EROFS', 'superblock: there is no journal');
  if (volume.geometry.blockBytes !== 4096) {
    throw new FsError('EROFS', `superblock: blocks of ${volume.geometry.blockBytes} bytes can be read only`);
  }
  if (needsRecovery(volume) || (yield* logInUse(volume))) {
    const done = yield* recover(volume);
    environment.log(`recovered ${done.transactions} transactions, ${done.blocks} blocks`);
    volume = yield* Volume.open(device);
  }
  const { geometry, io, sums } = volume;
  const block = yield* io.read(0, 1, Origin.superblock, 'superblock');
  const superblock = new SuperblockState(block, geometry.blockBytes, sums.on);
  const cache = new BufferCache(io, geometry.blocks);
  cache.add(superblock.buffer);
  const groups = new Groups(geometry, sums, cache, volume.descriptors);
  const journal = yield* openJournal(volume, environment, client, options);
  const core = new Core(environment, io, geometry, sums, cache, groups, journal, superblock);
  yield* markInUse(core);
  return core;
}

/** A log that is not empty is replayed even if the superblock does not say so. */
function* logInUse(volume: Volume): Task<boolean> {
  const file = yield* LogFile.of(volume);
  return be32(yield* file.read(0), JSB.s_start) !== 0;
}

function* openJournal(
  volume: Volume,
  environment: FsEnvironment,
  client: JournalClient,
  options: JournalOptions,
): Task<Journal> {
  const file = yield* LogFile.of(volume);
  const superblock = (yield* file.read(0)).slice();
  const { blockBytes, roCompat, incompat } = volume.geometry;
  readJournalFormat(superblock, blockBytes, file.blocks);
  const before = be32(superblock, JSB.s_feature_incompat);
  const checksums = (roCompat & RoCompat.metadataCsum) !== 0;
  upgradeFeatures(superblock, checksums, (incompat & Incompat.bit64) !== 0);
  const { io } = volume;
  const upgraded = be32(superblock, JSB.s_feature_incompat) !== before;
  const sequence = (be32(superblock, JSB.s_sequence) + 1) >>> 0;
  const head = be32(superblock, JSB.s_head);
  // Read again: the features have changed the form of tags. Its checksum is made when it is written.
  const format = formatOf(superblock, blockBytes, file.blocks);
  const space = new LogSpace(format, head >= format.first && head < format.last ? head : format.first, sequence);
  const journal = new Journal(environment.simulator, io, file, format, superblock, space, client, options);
  if (upgraded) yield* writeJournalSuperblock(journal, 0);
  return journal;
}

function formatOf(superblock: Uint8Array, blockBytes: number, blocks: number): ReturnType<typeof readJournalFormat> {
  const sealed = superblock.slice();
  sealJournalSuperblock(sealed);
  return readJournalFormat(sealed, blockBytes, blocks);
}

/** From the first mount to a clean unmount, a power cut leaves a journal that has to be looked at. */
function* markInUse({ superblock, io, environment }: Core): Task<void> {
  const { sec } = environment.clock.read();
  superblock.set(SB.s_feature_incompat, superblock.get(SB.s_feature_incompat) | Incompat.needsRecovery);
  superblock.set(SB.s_mtime, sec);
  superblock.set(SB.s_wtime, sec);
  superblock.set16(SB.s_mnt_count, superblock.get16(SB.s_mnt_count) + 1);
  superblock.seal();
  yield* io.write(superblock.buffer.block, superblock.buffer.bytes, Origin.superblock, 'superblock');
  yield* io.flush();
}

/** Everything is home: the superblock gets its counters and says that the journal is not needed. */
export function* markClean({ superblock, io, groups, environment }: Core): Task<void> {
  superblock.set(SB.s_free_blocks_count_lo, groups.totalFreeBlocks);
  superblock.set(SB.s_free_blocks_count_hi, Math.floor(groups.totalFreeBlocks / 2 ** 32));
  superblock.set(SB.s_free_inodes_count, groups.totalFreeInodes);
  superblock.set(SB.s_feature_incompat, superblock.get(SB.s_feature_incompat) & ~Incompat.needsRecovery);
  superblock.set(SB.s_wtime, environment.clock.read().sec);
  superblock.set16(SB.s_state, superblock.get16(SB.s_state) | State.clean);
  superblock.seal();
  yield* io.write(superblock.buffer.block, superblock.buffer.bytes, Origin.superblock, 'superblock');
  yield* io.flush();
}

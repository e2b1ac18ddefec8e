export { featureNames } from './format/features.js';
export type { InodeRecord } from './format/inode-record.js';
export { type Geometry, Ino } from './format/superblock.js';
export { Ext4 } from './fs/ext4.js';
export type { Ext4Options } from './fs/options.js';
export type { Problem } from './fsck/findings.js';
export { type FsckOptions, fsck } from './fsck/fsck.js';
export type { JournalStats } from './journal/journal.js';
export { needsRecovery, type Recovery, recover } from './journal/recovery.js';
export { ext4Kind } from './kind.js';
export { mkfs } from './mkfs/mkfs.js';
export type { MkfsOptions } from './mkfs/options.js';
export {
  type FilePiece,
  FilePieces,
  readAttributes,
  readContents,
  readDevice,
  readEntries,
  readTarget,
  type StoredEntry,
  visibleAttributes,
} from './volume/contents.js';
export { type FileMap, readMap } from './volume/file-map.js';
export { type JournalSummary, readJournal, type TransactionSummary } from './volume/journal-summary.js';
export { type GroupSummary, summaryOf, type VolumeSummary } from './volume/summary.js';
export { type StoredInode, Volume } from './volume/volume.js';

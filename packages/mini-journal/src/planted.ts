/** One defect that can be planted, to see whether a test finds it. */
export interface PlantedBug {
  readonly name: PlantedName;
  /** What is wrong then. */
  readonly text: string;
}

const texts = {
  'commit-without-preflush': 'the commit block is durable before the blocks that it commits',
  'commit-without-fua': 'the commit block is acknowledged from the write cache',
  'commit-first': 'the commit block is written before the blocks that it commits, and nothing is flushed after them',
  'checksum-ignored': 'as commit-without-preflush, and recovery takes a transaction whose checksum is wrong',
  'data-not-settled': 'a commit does not wait for the data that it leads to',
  'tail-first': 'recovery begins behind blocks that are not durable in their places yet',
  'replay-oldest': 'recovery keeps the oldest copy of a block',
  'replay-one': 'recovery replays the first transaction only',
  'replay-unflushed': 'recovery empties the journal before what it has replayed is durable',
  'orphans-kept': 'recovery does not free what has lost its last name',
  'name-not-logged': 'a new entry of a directory is no part of the transaction',
  'removal-not-logged': 'the end of an entry of a directory is no part of the transaction',
  'links-not-logged': 'a new link does not change the link count of the inode on the device',
  'bitmap-not-logged': 'taken blocks are not marked in the bitmap on the device',
  'attributes-not-logged': 'a change of mode or owner is no part of the transaction',
  'reused-at-once': 'a freed block is taken again before the transaction that frees it is committed',
  'reused-before-checkpoint': 'a freed block is taken again while the journal holds an older copy of it',
  'tail-not-zeroed': 'a file that becomes longer shows what its last block held behind the end',
  'rename-in-two': 'a rename removes the old name in one transaction and enters the new one in the next',
  'replaced-not-dropped': 'an inode that a rename replaces keeps its link count',
  'parent-not-changed': 'a directory that is moved keeps its old parent, and both parents their link counts',
  'size-not-data': 'fdatasync does not see that a file has become longer',
  'overwrite-not-flushed': 'a sync of a file without changed metadata does not flush the device',
  'sync-without-commit': 'sync does not commit what is running',
} as const;

/** Names of the defects. */
export type PlantedName = keyof typeof texts;

/** All defects that the file system can be given. */
export const plantedBugs: readonly PlantedBug[] = Object.entries(texts).map(([name, text]) => ({
  name: name as PlantedName,
  text,
}));

/** Which defects a volume has. */
export type Planted = ReadonlySet<PlantedName>;

/** A sound file system. */
export const SOUND: Planted = new Set();

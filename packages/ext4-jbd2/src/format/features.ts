/** Features that a file system may have and a driver may ignore (`s_feature_compat`). */
export const Compat = {
  dirPrealloc: 0x1,
  hasJournal: 0x4,
  extAttr: 0x8,
  resizeInode: 0x10,
  dirIndex: 0x20,
  sparseSuper2: 0x200,
  fastCommit: 0x400,
  orphanFile: 0x1000,
} as const;

/** Features without which a file system cannot even be read (`s_feature_incompat`). */
export const Incompat = {
  compression: 0x1,
  filetype: 0x2,
  needsRecovery: 0x4,
  journalDevice: 0x8,
  metaBg: 0x10,
  extents: 0x40,
  bit64: 0x80,
  mmp: 0x100,
  flexBg: 0x200,
  eaInode: 0x400,
  dirData: 0x1000,
  csumSeed: 0x2000,
  largeDir: 0x4000,
  inlineData: 0x8000,
  encrypt: 0x1_0000,
  casefold: 0x2_0000,
} as const;

/** Features without which it may be read but not written (`s_feature_ro_compat`). */
export const RoCompat = {
  sparseSuper: 0x1,
  largeFile: 0x2,
  btreeDir: 0x4,
  hugeFile: 0x8,
  gdtCsum: 0x10,
  dirNlink: 0x20,
  extraIsize: 0x40,
  quota: 0x100,
  bigalloc: 0x200,
  metadataCsum: 0x400,
  readOnly: 0x1000,
  project: 0x2000,
  sharedBlocks: 0x4000,
  verity: 0x8000,
  orphanPresent: 0x1_0000,
} as const;

/** Names as mke2fs and dumpe2fs print them. */
const NAMES: readonly [Readonly<Record<string, number>>, Readonly<Record<string, string>>][] = [
  [
    Compat,
    {
      dirPrealloc: 'dir_prealloc',
      hasJournal: 'has_journal',
      extAttr: 'ext_attr',
      resizeInode: 'resize_inode',
      dirIndex: 'dir_index',
      sparseSuper2: 'sparse_super2',
      fastCommit: 'fast_commit',
      orphanFile: 'orphan_file',
    },
  ],
  [
    Incompat,
    {
      compression: 'compression',
      filetype: 'filetype',
      needsRecovery: 'needs_recovery',
      journalDevice: 'journal_dev',
      metaBg: 'meta_bg',
      extents: 'extent',
      bit64: '64bit',
      mmp: 'mmp',
      flexBg: 'flex_bg',
      eaInode: 'ea_inode',
      dirData: 'dirdata',
      csumSeed: 'metadata_csum_seed',
      largeDir: 'large_dir',
      inlineData: 'inline_data',
      encrypt: 'encrypt',
      casefold: 'casefold',
    },
  ],
  [
    RoCompat,
    {
      sparseSuper: 'sparse_super',
      largeFile: 'large_file',
      btreeDir: 'btree_dir',
      hugeFile: 'huge_file',
      gdtCsum: 'uninit_bg',
      dirNlink: 'dir_nlink',
      extraIsize: 'extra_isize',
      quota: 'quota',
      bigalloc: 'bigalloc',
      metadataCsum: 'metadata_csum',
      readOnly: 'read-only',
      project: 'project',
      sharedBlocks: 'shared_blocks',
      verity: 'verity',
      orphanPresent: 'orphan_present',
    },
  ],
];

function namesOf(set: 0 | 1 | 2, bits: number): string[] {
  const [values, texts] = NAMES[set];
  const names: string[] = [];
  let left = bits;
  for (const [key, bit] of Object.entries(values)) {
    if ((bits & bit) === 0) continue;
    names.push(texts[key]);
    left &= ~bit;
  }
  for (let bit = 0; bit < 32; bit++) if ((left & (1 << bit)) !== 0) names.push(`FEATURE_${'CIR'[set]}${bit}`);
  return names;
}

/** All features by the names of mke2fs: compatible, incompatible, then read-only compatible ones. */
export function featureNames(compat: number, incompat: number, roCompat: number): string[] {
  return [...namesOf(0, compat), ...namesOf(1, incompat), ...namesOf(2, roCompat)];
}

/** What can be read. */
const READABLE =
  Incompat.filetype |
  Incompat.needsRecovery |
  Incompat.extents |
  Incompat.bit64 |
  Incompat.flexBg |
  Incompat.csumSeed |
  Incompat.inlineData;
/** What can be written as well. */
const WRITABLE =
  Incompat.filetype | Incompat.needsRecovery | Incompat.extents | Incompat.bit64 | Incompat.flexBg | Incompat.csumSeed;
const WRITABLE_RO =
  RoCompat.sparseSuper |
  RoCompat.largeFile |
  RoCompat.hugeFile |
  RoCompat.dirNlink |
  RoCompat.extraIsize |
  RoCompat.metadataCsum;
/** The file of orphans stays empty: unlinked files that are open go into the list in the superblock, as where that file is full. */
const WRITABLE_COMPAT =
  Compat.dirPrealloc | Compat.hasJournal | Compat.extAttr | Compat.resizeInode | Compat.dirIndex | Compat.orphanFile;

/** Incompatible features for which there is no code: an image with one is refused. */
export function unreadable(incompat: number): string[] {
  return namesOf(1, incompat & ~READABLE);
}

/** Features with which an image can be read, but is not written. */
export function unwritable(compat: number, incompat: number, roCompat: number): string[] {
  return [
    ...namesOf(0, compat & ~WRITABLE_COMPAT),
    ...namesOf(1, incompat & ~WRITABLE),
    ...namesOf(2, roCompat & ~WRITABLE_RO),
  ];
}

/** What a file system promises about power cuts, as far as it differs from others. */
export interface DurabilityRules {
  readonly name: string;
  /**
   * E1: names, attributes and links are those after some prefix of the operations. Absent or `none`: each by itself, as far as
   * R1 to R13 allow.
   */
  readonly prefix: 'none' | 'names' | 'names and contents';
  /**
   * How far the size of a file may run ahead of its bytes, which read as zeroes there: `none`, not at all (E2); `block`, to the
   * end of a block that held its end before, of a range that was written back alone, or to a size that was set (E3); `any`,
   * to any size that it ever had (F3).
   */
  readonly sizeAhead: 'none' | 'block' | 'any';
  /** R7 for ranges that nothing has made durable: false, old contents of reused blocks may show there. */
  readonly foreignFree: boolean;
  /** E4: a file that was renamed over another has its bytes wherever the name leads to it. */
  readonly replacesWithData: boolean;
  /** F-P1: a file that was renamed may be lost when a new one of its old name is made durable. True: that is a violation. */
  readonly keepsRenamed: boolean;
  /** F-P2: after the rename of a directory, a file made durable in it may be found under the old name. True: a violation. */
  readonly keepsParents: boolean;
  /** False: nothing is made durable by fsync and its kind, as where flushes are not sent to a drive that needs them. */
  readonly flushes: boolean;
  /** Unit of contents that is old or new by itself, bytes: 4096, or 512 on a drive that may tear blocks. */
  readonly atomicBytes: number;
  /** Links of a directory count its subdirectories. */
  readonly directoryLinks: boolean;
}

/** R1 to R13 and nothing beyond them: what every file system must keep that is used on Linux. */
export const POSIX_RULES: DurabilityRules = {
  name: 'posix',
  prefix: 'none',
  sizeAhead: 'any',
  foreignFree: true,
  replacesWithData: false,
  keepsRenamed: true,
  keepsParents: true,
  flushes: true,
  atomicBytes: 4096,
  directoryLinks: true,
};

const ordered: DurabilityRules = {
  ...POSIX_RULES,
  name: 'ext4 data=ordered',
  prefix: 'names',
  sizeAhead: 'block',
  replacesWithData: true,
};

/** What file systems promise, by name. */
export const DURABILITY_RULES: Readonly<Record<string, DurabilityRules>> = {
  posix: POSIX_RULES,
  'mini-journal': { ...POSIX_RULES, name: 'mini-journal', prefix: 'names' },
  'ext4-ordered': ordered,
  'ext4-journal': { ...ordered, name: 'ext4 data=journal', prefix: 'names and contents' },
  'ext4-writeback': {
    ...ordered,
    name: 'ext4 data=writeback',
    sizeAhead: 'any',
    foreignFree: false,
    replacesWithData: false,
  },
  'ext4-nobarrier': { ...ordered, name: 'ext4 nobarrier', prefix: 'none', flushes: false, replacesWithData: false },
  'f2fs-posix': { ...POSIX_RULES, name: 'f2fs fsync_mode=posix', keepsRenamed: false, keepsParents: false },
  'f2fs-strict': { ...POSIX_RULES, name: 'f2fs fsync_mode=strict' },
};

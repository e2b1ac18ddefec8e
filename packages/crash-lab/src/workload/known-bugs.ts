import type { Step, Workload } from './workload.js';

/** A bug that a file system once had, as a workload that showed it. */
export interface KnownBug {
  /** Such as `A03`. */
  readonly id: string;
  /** Where it was found or is tested for. */
  readonly source: string;
  readonly workload: Workload;
  /** What must hold after a power cut at any time. */
  readonly holds: string;
  /** Rule that the bug broke. */
  readonly rule: string;
}

const base = 'two files with attributes';
const bug = (
  id: string,
  source: string,
  rule: string,
  holds: string,
  steps: readonly Step[],
  from = base,
): KnownBug => ({
  id,
  source,
  rule,
  holds,
  workload: { base: from, processes: [steps], seed: 1 },
});

/** Crash bugs that need no particular format: what the judge demands of a file system rules each of them out. */
export const KNOWN_BUGS: readonly KnownBug[] = [
  bug('A01', 'f2fs, CrashMonkey: zero range with KEEP_SIZE', 'R3', 'The size stays 16 KiB.', [
    ['write', 'foo', 0, 16_384],
    ['fsync', 'foo'],
    ['fallocate', 'foo', 'zero-keep-size', 16_384, 4096],
    ['fdatasync', 'foo'],
  ]),
  bug('A02', 'f2fs, CrashMonkey: fsync in a renamed directory', 'R4', 'The file is there under the new directory.', [
    ['rename', 'A', 'C'],
    ['create', 'C/bar'],
    ['fsync', 'C/bar'],
  ]),
  bug('A03', 'xfstests generic/342', 'R6', 'Both files are there with their own contents.', [
    ['rename', 'foo', 'bar'],
    ['create', 'foo'],
    ['append', 'foo', 5000],
    ['fsync', 'foo'],
  ]),
  bug('A04', 'xfstests generic/468', 'R3', 'The size stays 8 KiB, with the blocks behind it.', [
    ['fallocate', 'foo', 'keep-size', 8192, 65_536],
    ['fdatasync', 'foo'],
  ]),
  bug('A05', 'ext4, CrashMonkey: direct write below the size in memory', 'R11', 'The size covers the direct write.', [
    ['create', 'bar'],
    ['write', 'bar', 0, 16_384],
    ['write-direct', 'bar', 4096, 4096],
    ['fsync', 'bar'],
  ]),
  bug('A06', 'xfstests generic/737', 'R11', 'What was written synchronously is there, with the size.', [
    ['create', 'bar'],
    ['append-sync', 'bar', 40_960],
    ['append-dsync', 'bar', 5000],
  ]),
  bug('A12', 'f2fs: parent recorded at fsync after link', 'R4', 'The file is under its new name with one link.', [
    ['link', 'A/foo', 'B/foo'],
    ['unlink', 'A/foo'],
    ['append', 'B/foo', 5000],
    ['fsync', 'B/foo'],
  ]),
  bug(
    'A13',
    'f2fs in Linux 6.12: a second crash during recovery',
    'R2',
    'All that was synced is there after any number of cuts.',
    [
      ['append', 'foo', 5000],
      ['fsync', 'foo'],
      ['append', 'A/foo', 5000],
      ['fsync', 'A/foo'],
      ['create', 'bar'],
      ['fsync', 'bar'],
    ],
  ),
  bug('A14', 'xfstests generic/042', 'R7', 'No bytes of removed files show.', [
    ['create', 'bar'],
    ['append', 'bar', 32_768],
    ['sync'],
    ['unlink', 'bar'],
    ['sync'],
    ['create', 'B/bar'],
    ['write', 'B/bar', 0, 32_768],
    ['fallocate', 'B/bar', 'punch', 28_672, 4096],
    ['sync'],
  ]),
  bug('A15', 'xfstests generic/536', 'R7', 'Parts that were not written back read as zeroes, or are absent.', [
    ['unlink', 'A/foo'],
    ['sync'],
    ['create', 'bar'],
    ['write', 'bar', 0, 32_768],
    ['sync-range', 'bar', 28_672, 4096],
  ]),
  bug('A16', 'xfstests generic/101', 'R2', 'What was cut off reads as zeroes.', [
    ['truncate', 'foo', 4096],
    ['truncate', 'foo', 7000],
    ['fsync', 'foo'],
  ]),
  bug('A17', 'xfstests generic/059 and 177', 'R2', 'Holes read as zeroes, the rest is kept.', [
    ['write', 'foo', 0, 16_384],
    ['fallocate', 'foo', 'punch', 4096, 4096],
    ['fsync', 'foo'],
    ['fallocate', 'foo', 'punch', 4096, 8192],
    ['fallocate', 'foo', 'punch', 1000, 2000],
    ['fsync', 'foo'],
  ]),
  bug('A18', 'xfstests generic/066', 'R2', 'The removed attribute is absent, the others are there.', [
    ['setxattr', 'foo', 'user.two', 'second'],
    ['setxattr', 'foo', 'user.three', 'third'],
    ['sync'],
    ['removexattr', 'foo', 'user.two'],
    ['fsync', 'foo'],
  ]),
  bug('A19', 'xfstests generic/073 and 336', 'R8', 'The moved file exists exactly once.', [
    ['create', 'A/bar'],
    ['sync'],
    ['rename', 'A/bar', 'B/bar'],
    ['fsync', 'A'],
    ['append', 'A/foo', 5000],
    ['fsync', 'A/foo'],
  ]),
  bug('A20', 'xfstests generic/341 and 510', 'R8', 'All files of the old directory are under its new name.', [
    ['rename', 'A', 'C'],
    ['mkdir', 'A'],
    ['fsync', 'A'],
  ]),
  bug('A21', 'xfstests generic/480 and 526', 'R4', 'Each name leads to a file of its own.', [
    ['link', 'foo', 'bar'],
    ['sync'],
    ['unlink', 'bar'],
    ['create', 'bar'],
    ['fsync', 'bar'],
  ]),
  bug('A22', 'xfstests generic/104, 106, 107, 034 and 039', 'R1', 'Its directory can be emptied and removed.', [
    ['link', 'A/foo', 'A/bar'],
    ['sync'],
    ['unlink', 'A/bar'],
    ['fsync', 'A/foo'],
  ]),
  bug('A23', 'xfstests generic/325', 'R2', 'All blocks are there.', [
    ['store', 'foo', 0, 8192],
    ['msync', 'foo', 0, 4096],
    ['fsync', 'foo'],
  ]),
  bug('A24', 'xfstests generic/348, 690 and 779', 'R5', 'Only the new name is there, with its target.', [
    ['symlink', '../foo', 'A/bar'],
    ['fsync', 'A'],
    ['rename', 'A/bar', 'A/link'],
    ['fsync', 'A'],
  ]),
  bug('A25', 'xfstests generic/417', 'R9', 'Files without names are gone, and nothing is damaged.', [
    ['open', '#1', 'foo'],
    ['unlink', 'foo'],
    ['append', '#1', 20_000],
    ['fsync', '#1'],
    ['fsync', ''],
  ]),
];

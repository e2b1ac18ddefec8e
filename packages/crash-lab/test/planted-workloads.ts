import type { Step, Workload } from '../src/index.js';

const programs: readonly (readonly Step[])[] = [
  [['create', 'bar'], ['fsync', 'bar'], ['mkdir', 'C'], ['sync']],
  [
    ['append', 'foo', 5000],
    ['fdatasync', 'foo'],
    ['append', 'foo', 500],
    ['fdatasync', 'foo'],
  ],
  [
    ['write', 'foo', 4096, 4096],
    ['fdatasync', 'foo'],
    ['write', 'A/foo', 0, 3000],
    ['fsync', 'A/foo'],
  ],
  [
    ['unlink', 'A/foo'],
    ['fsync', 'A'],
    ['create', 'A/foo'],
    ['fsync', 'A/foo'],
  ],
  [['link', 'foo', 'bar'], ['fsync', 'foo'], ['unlink', 'foo'], ['sync']],
  [['rename', 'foo', 'bar'], ['fsync', 'bar'], ['rename', 'bar', 'A/foo'], ['sync']],
  [['rename', 'A', 'B/A'], ['sync'], ['create', 'B/A/bar'], ['fsync', 'B/A/bar']],
  [
    ['chmod', 'foo', 0o600],
    ['fsync', 'foo'],
    ['chown', 'A/foo', 5, 6],
    ['fsync', 'A/foo'],
  ],
  [
    ['truncate', 'foo', 5000],
    ['fsync', 'foo'],
    ['truncate', 'foo', 8192],
    ['fsync', 'foo'],
  ],
  [
    ['truncate', 'foo', 5000],
    ['fsync', 'foo'],
    ['truncate', 'foo', 8192],
    ['create', 'bar'],
    ['fsync', 'bar'],
  ],
  [['truncate', 'foo', 3000], ['append', 'A/foo', 5000], ['fsync', 'A/foo'], ['sync']],
  [
    ['symlink', 'foo', 'bar'],
    ['sync'],
    ['unlink', 'bar'],
    ['sync'],
    ['chmod', 'foo', 0o600],
    ['append', 'foo', 9000],
    ['fsync', 'foo'],
  ],
  [['open', '#1', 'foo'], ['unlink', 'foo'], ['write', '#1', 0, 100], ['sync'], ['create', 'bar'], ['fsync', 'bar']],
  [
    ['create', 'bar'],
    ['append', 'bar', 300],
    ['fsync', 'bar'],
    ['append', 'bar', 300],
    ['fsync', 'bar'],
    ['chmod', 'bar', 0o600],
    ['fsync', 'bar'],
  ],
  [['symlink', 'foo', 'bar'], ['sync'], ['exchange', 'bar', 'A/foo'], ['sync']],
];

/** Workloads that meet every planted defect of the miniature journal, and have more operations than any of them needs. */
export const plantedWorkloads: readonly Workload[] = programs.map((program) => ({
  base: 'two files',
  processes: [program],
  seed: 1,
}));

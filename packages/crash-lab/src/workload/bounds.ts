import { parentOf } from './names.js';
import type { Step } from './workload.js';

/** Names of files in the bounded workloads. The last two are alike: whatever is done to one could be done to the other. */
const FILES: readonly string[] = ['foo', 'bar', 'A/foo', 'A/bar', 'B/foo', 'B/bar'];

/** What the bounded workloads do to a file. */
const ON_FILE: readonly ((path: string) => Step)[] = [
  (path) => ['append', path, 5000],
  (path) => ['write', path, 1000, 3000],
  (path) => ['write', path, 6000, 5000],
  (path) => ['write-direct', path, 4096, 4096],
  (path) => ['store', path, 2000, 5000],
  (path) => ['truncate', path, 3000],
  (path) => ['truncate', path, 20_000],
  (path) => ['fallocate', path, 'allocate', 4096, 12_288],
  (path) => ['fallocate', path, 'keep-size', 8192, 16_384],
  (path) => ['fallocate', path, 'zero-keep-size', 4096, 12_288],
  (path) => ['fallocate', path, 'punch', 1000, 6000],
  (path) => ['setxattr', path, 'user.one', 'second'],
  (path) => ['removexattr', path, 'user.one'],
  (path) => ['chmod', path, 0o600],
];

/** A target that is there in the base state. */
const targetFor = (path: string): string => (parentOf(path) === '' ? 'A/foo' : '../foo');

const pairs = FILES.flatMap((from) => FILES.filter((to) => to !== from).map((to) => [from, to] as const));

/** The core operations of the bounded workloads: 172, of which 56 are legal in the base state. */
export const CORE_STEPS: readonly Step[] = [
  ...FILES.map((path): Step => ['create', path]),
  ...FILES.map((path): Step => ['symlink', targetFor(path), path]),
  ...FILES.map((path): Step => ['unlink', path]),
  ...pairs.map(([from, to]): Step => ['link', from, to]),
  ...pairs.map(([from, to]): Step => ['rename', from, to]),
  ...['C', 'A/C'].map((path): Step => ['mkdir', path]),
  ...['A', 'B', 'C', 'A/C'].map((path): Step => ['rmdir', path]),
  ['rename', 'A', 'B'],
  ['rename', 'B', 'A'],
  ['rename', 'A', 'C'],
  ['rename', 'A', 'B/C'],
  ...FILES.flatMap((path) => ON_FILE.map((step) => step(path))),
];

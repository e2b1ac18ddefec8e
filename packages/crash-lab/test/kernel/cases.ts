import { expect } from 'vitest';
import type { Step, Tree, Workload } from '../../src/index.js';
import type { KernelOutcome } from '../../src/node/index.js';

/** Where a case has been run: ext4, F2FS with `fsync_mode=posix` and `strict`. */
export type KernelColumn = 'ext4' | 'posix' | 'strict';

/** Operations, and what a power cut behind the last of them leaves. */
export interface KernelCase {
  readonly steps: readonly Step[];
  /** What is found of the names that the case is about. One text: wherever. */
  readonly left: string | Readonly<Record<KernelColumn, string>>;
}

const append: Step = ['append', 'foo', 5000];
const bothFiles = 'A/foo=8192 foo=8192';
const replaced: readonly Step[] = [
  ['rename', 'foo', 'bar'],
  ['create', 'foo'],
];
const moved: readonly Step[] = [
  ['rename', 'A', 'C'],
  ['create', 'C/bar'],
  ['fsync', 'C/bar'],
];

/** Cases of which it is known what real kernels leave. */
export const kernelCases: readonly KernelCase[] = [
  { steps: [append, ['fsync', 'foo']], left: 'A/foo=8192 foo=13192' },
  { steps: [append, ['fdatasync', 'foo']], left: 'A/foo=8192 foo=13192' },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000],
      ['fsync', 'bar'],
    ],
    left: `A/foo=8192 bar=5000 foo=8192`,
  },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000],
      ['fdatasync', 'bar'],
    ],
    left: `A/foo=8192 bar=5000 foo=8192`,
  },
  {
    steps: [
      ['create', 'A/bar'],
      ['fsync', 'A'],
    ],
    left: 'A/bar=0 A/foo=8192 foo=8192',
  },
  { steps: [['append-sync', 'foo', 5000]], left: 'A/foo=8192 foo=13192' },
  { steps: [['append-dsync', 'foo', 5000]], left: 'A/foo=8192 foo=13192' },
  {
    steps: [
      ['write-direct', 'foo', 0, 4096],
      ['fdatasync', 'foo'],
    ],
    left: 'A/foo=8192 foo=8192',
  },
  {
    steps: [
      ['store', 'foo', 2000, 5000],
      ['msync', 'foo', 2000, 5000],
    ],
    left: 'A/foo=8192 foo=8192',
  },
  {
    steps: [
      ['fallocate', 'foo', 'keep-size', 8192, 16_384],
      ['fdatasync', 'foo'],
    ],
    left: 'A/foo=8192 foo=8192+16384',
  },
  {
    steps: [
      ['fallocate', 'foo', 'zero-keep-size', 8192, 16_384],
      ['fsync', 'foo'],
    ],
    left: 'A/foo=8192 foo=8192+16384',
  },
  {
    steps: [
      ['fallocate', 'foo', 'punch', 1008, 5984],
      ['fsync', 'foo'],
    ],
    left: 'A/foo=8192 foo=8192.5984',
  },
  {
    steps: [
      ['chmod', 'foo', 0o600],
      ['fdatasync', 'foo'],
    ],
    left: { ext4: bothFiles, posix: 'A/foo=8192 foo=8192/600', strict: 'A/foo=8192 foo=8192/600' },
  },
  // F-P1: the file that was renamed is lost.
  {
    steps: [...replaced, ['fsync', 'foo']],
    left: { ext4: 'A/foo=8192 bar=8192 foo=0', posix: 'A/foo=8192 foo=0', strict: 'A/foo=8192 bar=8192 foo=0' },
  },
  {
    steps: [['fsync', 'foo'], ...replaced, ['fdatasync', 'foo']],
    left: { ext4: 'A/foo=8192 bar=8192 foo=0', posix: 'A/foo=8192 foo=0', strict: 'A/foo=8192 bar=8192 foo=0' },
  },
  // F-P2: the new file is where its directory was.
  {
    steps: moved,
    left: {
      ext4: 'C/bar=0 C/foo=8192 foo=8192',
      posix: 'A/bar=0 A/foo=8192 foo=8192',
      strict: 'C/bar=0 C/foo=8192 foo=8192',
    },
  },
  {
    steps: [
      ['link', 'foo', 'bar'],
      ['fdatasync', 'foo'],
    ],
    left: { ext4: bothFiles, posix: 'A/foo=8192 bar=8192 foo=8192', strict: 'A/foo=8192 bar=8192 foo=8192' },
  },
  {
    steps: [
      ['rename', 'A/foo', 'bar'],
      ['fsync', 'A'],
    ],
    left: 'bar=8192 foo=8192',
  },
  {
    steps: [
      ['unlink', 'foo'],
      ['fsync', 'A/foo'],
    ],
    left: { ext4: 'A/foo=8192', posix: bothFiles, strict: bothFiles },
  },
  // E4, F3: ext4 writes what is renamed over another file, F2FS saves its size alone.
  {
    steps: [append, ['rename', 'foo', 'A/foo'], ['fsync', 'A']],
    left: { ext4: 'A/foo=13192', posix: 'A/foo=13192.5000', strict: 'A/foo=13192.5000' },
  },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000],
      ['rename', 'bar', 'foo'],
    ],
    left: bothFiles,
  },
];

/** The cases as workloads. */
export const caseWorkloads: readonly Workload[] = kernelCases.map(({ steps }) => {
  return { base: 'two files with attributes', processes: [steps], seed: 1 };
});

/** Sizes of the files, of zeroes in them behind a dot, modes that are not usual and what is allocated behind the end. */
function summary(tree: Tree): string {
  const files = [...tree].filter(([, { kind }]) => kind === 'file').sort(([a], [b]) => (a < b ? -1 : 1));
  return files
    .map(([path, { contents, mode, sectors, size }]) => {
      const [hole] = /\0{4096,}/.exec(Buffer.from(contents).toString('latin1')) ?? [''];
      const behind = sectors * 512 - Math.ceil(size / 4096) * 4096;
      const zeroes = hole === '' ? '' : `.${hole.length}`;
      return `${path}=${size}${zeroes}${mode === 0o644 ? '' : `/${mode.toString(8)}`}${behind < 16_384 ? '' : '+16384'}`;
    })
    .join(' ');
}

/** Compares what is left of the cases with what is known. */
export function expectCases(outcomes: readonly KernelOutcome[], column: KernelColumn): void {
  const names = kernelCases.map(({ steps }) => steps.map((step) => step.join(' ')).join('; '));
  const found = outcomes.map(({ history, tree, error }, at) => {
    const codes = history.events.map(({ code }) => code).filter((code) => code !== 'none');
    return `${names[at]}: ${[...codes, tree === null ? error : summary(tree)].join(' ')}`;
  });
  expect(found).toEqual(
    kernelCases.map(({ left }, at) => `${names[at]}: ${typeof left === 'string' ? left : left[column]}`),
  );
}

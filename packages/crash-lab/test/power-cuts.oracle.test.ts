import { guestMissing } from '@flashstack/linux-guest';
import { expect, test } from 'vitest';
import type { Step, Tree } from '../src/index.js';
import { hostKernelLacks, type KernelAnswer, KernelJobs, type RealFileSystem, type RealStep } from './kernel/kernel.js';

// What real kernels leave of the same few operations after a power cut.

/** Directories A and B; `foo` is 8 KiB of f, `A/foo` 8 KiB of g. What a step writes is full of the letter that is its last argument. */
const BASE: readonly Step[] = [
  ['mkdir', 'A'],
  ['mkdir', 'B'],
  ['create', 'foo'],
  ['create', 'A/foo'],
  ['write', 'foo', 0, 8192, 'f'],
  ['write', 'A/foo', 0, 8192, 'g'],
  ['sync'],
];

interface Case {
  readonly steps: readonly Step[];
  /** What is found of the names that the case is about. One text: wherever. */
  readonly left: string | Readonly<Record<Column, string>>;
}

const columns = {
  ext4: { type: 'ext4', options: '' },
  posix: { type: 'f2fs', options: 'fsync_mode=posix' },
  strict: { type: 'f2fs', options: 'fsync_mode=strict' },
} as const satisfies Record<string, RealFileSystem>;
type Column = keyof typeof columns;

const append: Step = ['append', 'foo', 5000, 'x'];
const bothFiles = 'A/foo=g8192 foo=f8192';
const replaced: readonly Step[] = [
  ['rename', 'foo', 'bar'],
  ['create', 'foo'],
];
const moved: readonly Step[] = [
  ['rename', 'A', 'C'],
  ['create', 'C/bar'],
  ['fsync', 'C/bar'],
];

const cases: readonly Case[] = [
  { steps: [append, ['fsync', 'foo']], left: 'A/foo=g8192 foo=f8192x5000' },
  { steps: [append, ['fdatasync', 'foo']], left: 'A/foo=g8192 foo=f8192x5000' },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000, 'x'],
      ['fsync', 'bar'],
    ],
    left: `A/foo=g8192 bar=x5000 foo=f8192`,
  },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000, 'x'],
      ['fdatasync', 'bar'],
    ],
    left: `A/foo=g8192 bar=x5000 foo=f8192`,
  },
  {
    steps: [
      ['create', 'A/bar'],
      ['fsync', 'A'],
    ],
    left: 'A/bar= A/foo=g8192 foo=f8192',
  },
  { steps: [['append-sync', 'foo', 5000, 'x']], left: 'A/foo=g8192 foo=f8192x5000' },
  { steps: [['append-dsync', 'foo', 5000, 'x']], left: 'A/foo=g8192 foo=f8192x5000' },
  {
    steps: [
      ['write-direct', 'foo', 0, 4096, 'x'],
      ['fdatasync', 'foo'],
    ],
    left: 'A/foo=g8192 foo=x4096f4096',
  },
  {
    steps: [
      ['store', 'foo', 2000, 5000, 'x'],
      ['msync', 'foo', 2000, 5000],
    ],
    left: 'A/foo=g8192 foo=f2000x5000f1192',
  },
  {
    steps: [
      ['fallocate', 'foo', 'keep-size', 8192, 16_384],
      ['fdatasync', 'foo'],
    ],
    left: 'A/foo=g8192 foo=f8192+16384',
  },
  {
    steps: [
      ['fallocate', 'foo', 'zero-keep-size', 8192, 16_384],
      ['fsync', 'foo'],
    ],
    left: 'A/foo=g8192 foo=f8192+16384',
  },
  {
    steps: [
      ['fallocate', 'foo', 'punch', 1000, 6000],
      ['fsync', 'foo'],
    ],
    left: 'A/foo=g8192 foo=f1000.6000f1192',
  },
  {
    steps: [
      ['chmod', 'foo', 0o600],
      ['fdatasync', 'foo'],
    ],
    left: { ext4: bothFiles, posix: 'A/foo=g8192 foo=f8192/600', strict: 'A/foo=g8192 foo=f8192/600' },
  },
  // F-P1: the file that was renamed is lost.
  {
    steps: [...replaced, ['fsync', 'foo']],
    left: { ext4: 'A/foo=g8192 bar=f8192 foo=', posix: 'A/foo=g8192 foo=', strict: 'A/foo=g8192 bar=f8192 foo=' },
  },
  {
    steps: [['fsync', 'foo'], ...replaced, ['fdatasync', 'foo']],
    left: { ext4: 'A/foo=g8192 bar=f8192 foo=', posix: 'A/foo=g8192 foo=', strict: 'A/foo=g8192 bar=f8192 foo=' },
  },
  // F-P2: the new file is where its directory was.
  {
    steps: moved,
    left: {
      ext4: 'C/bar= C/foo=g8192 foo=f8192',
      posix: 'A/bar= A/foo=g8192 foo=f8192',
      strict: 'C/bar= C/foo=g8192 foo=f8192',
    },
  },
  {
    steps: [
      ['link', 'foo', 'bar'],
      ['fdatasync', 'foo'],
    ],
    left: { ext4: bothFiles, posix: 'A/foo=g8192 bar=f8192 foo=f8192', strict: 'A/foo=g8192 bar=f8192 foo=f8192' },
  },
  {
    steps: [
      ['rename', 'A/foo', 'bar'],
      ['fsync', 'A'],
    ],
    left: 'bar=g8192 foo=f8192',
  },
  {
    steps: [
      ['unlink', 'foo'],
      ['fsync', 'A/foo'],
    ],
    left: { ext4: 'A/foo=g8192', posix: bothFiles, strict: bothFiles },
  },
  // E4, F3: ext4 writes what is renamed over another file, F2FS saves its size alone.
  {
    steps: [append, ['rename', 'foo', 'A/foo'], ['fsync', 'A']],
    left: { ext4: 'A/foo=f8192x5000', posix: 'A/foo=f8192.5000', strict: 'A/foo=f8192.5000' },
  },
  {
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000, 'x'],
      ['rename', 'bar', 'foo'],
    ],
    left: bothFiles,
  },
];

function realStep(step: Step): RealStep {
  if (!/^(write|append|store)/.test(step[0])) return { step, bytes: null };
  const [letter, length] = [step[step.length - 1], step[step.length - 2]];
  return { step: step.slice(0, -1) as unknown as Step, bytes: new Uint8Array(Buffer.alloc(Number(length), letter)) };
}

/** Runs of equal bytes, zeroes as a dot, and how much is allocated behind the end. */
function summary(tree: Tree): string {
  const files = [...tree].filter(([, { kind }]) => kind === 'file').sort(([a], [b]) => (a < b ? -1 : 1));
  return files
    .map(([path, { contents, mode, sectors }]) => {
      const runs = Buffer.from(contents)
        .toString('latin1')
        .replaceAll('\0', '.')
        .replace(/(.)\1*/g, (run, letter) => `${letter}${run.length}`);
      const behind = sectors * 512 - Math.ceil(contents.length / 4096) * 4096;
      return `${path}=${runs}${mode === 0o644 ? '' : `/${mode.toString(8)}`}${contents.length > 0 && behind >= 16_384 ? `+16384` : ''}`;
    })
    .join(' ');
}

function jobsFor(list: readonly Column[]): KernelJobs {
  const jobs = new KernelJobs();
  for (const column of list) {
    const system = columns[column];
    const mkfs = system.type === 'ext4' ? ['mkfs.ext4', '-q', '-F', '-b', '4096'] : ['mkfs.f2fs', '-q'];
    jobs.make(column, 128 << 20, mkfs, system, BASE.map(realStep));
    for (const { steps } of cases) jobs.cut(column, system, steps.map(realStep), ['lost+found']);
  }
  return jobs;
}

function check(list: readonly Column[], answers: readonly KernelAnswer[]): void {
  const found: string[] = [];
  const expected: string[] = [];
  for (const [number, column] of list.entries()) {
    const [made, ...outcomes] = answers.slice(number * (cases.length + 1), (number + 1) * (cases.length + 1));
    expect(made.outcomes.map(([code]) => code)).toEqual(BASE.map(() => 'none'));
    for (const [at, { steps, left }] of cases.entries()) {
      const { outcomes: codes, tree, error } = outcomes[at];
      const name = `${column}: ${steps.map((step) => step.join(' ')).join('; ')}: `;
      expect(
        codes.map(([code]) => code),
        name,
      ).toEqual(steps.map(() => 'none'));
      found.push(name + (tree === null ? error : summary(tree)));
      expected.push(name + (typeof left === 'string' ? left : left[column]));
    }
  }
  expect(found).toEqual(expected);
}

const lacks = hostKernelLacks();
if (lacks !== '' && process.env.CI !== undefined) throw new Error(`asking ext4 needs ${lacks}`);

test.skipIf(lacks !== '')(`ext4 of this kernel${lacks && ` (needs ${lacks})`}`, () => {
  const jobs = jobsFor(['ext4']);
  try {
    check(['ext4'], jobs.runHere());
  } finally {
    jobs.dispose();
  }
});

test.skipIf(guestMissing('nothing shows what F2FS leaves after a power cut'))('F2FS in the guest', async () => {
  const jobs = jobsFor(['posix', 'strict']);
  try {
    check(['posix', 'strict'], await jobs.runInGuest());
  } finally {
    jobs.dispose();
  }
});

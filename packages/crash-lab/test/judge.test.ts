import { describe, expect, it } from 'vitest';
import { type DurabilityRules, POSIX_RULES, type Step, type TreeNode } from '../src/index.js';
import { historyOf, rulesBroken, treeAt } from './trees.js';

type Change = (tree: Map<string, TreeNode>) => void;

const edit =
  (path: string, change: Partial<TreeNode>): Change =>
  (tree) => {
    const node = tree.get(path) as TreeNode;
    const changed = { ...node, ...change };
    for (const [other, same] of tree) if (same === node) tree.set(other, changed);
  };
const drop =
  (...paths: string[]): Change =>
  (tree) => {
    for (const path of paths) expect(tree.delete(path), path).toBe(true);
  };
/** Puts a path as it was at an earlier position. */
const asAt =
  (steps: readonly Step[], position: number, ...paths: string[]): Change =>
  (tree) => {
    const before = treeAt(historyOf(steps), position);
    for (const path of paths) {
      const node = before.get(path);
      if (node === undefined) tree.delete(path);
      else tree.set(path, node);
    }
  };
const bytes =
  (path: string, change: (contents: Uint8Array) => void): Change =>
  (tree) => {
    const contents = (tree.get(path) as TreeNode).contents.slice();
    change(contents);
    edit(path, { contents })(tree);
  };

interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  /** A change of the final tree that is right, too. */
  readonly right?: Change;
  /** Changes of the final tree that break a rule. */
  readonly wrong?: Change;
  readonly rule?: string;
  /** Rules of the file system, default posix. */
  readonly rules?: string | DurabilityRules;
}

const replaced: Step[] = [
  ['create', 'bar'],
  ['append', 'bar', 5000],
  ['rename', 'bar', 'foo'],
];
const swapped: Step[] = [
  ['rename', 'foo', 'bar'],
  ['create', 'foo'],
  ['fsync', 'foo'],
];
const moved: Step[] = [
  ['rename', 'A', 'C'],
  ['create', 'C/bar'],
  ['fsync', 'C/bar'],
];
const over: Step[] = [
  ['append', 'foo', 5000],
  ['rename', 'foo', 'A/foo'],
  ['fsync', 'A'],
];

const cases: readonly Case[] = [
  {
    name: 'R2: contents at the fsync of a file',
    steps: [
      ['write', 'foo', 0, 8192],
      ['fsync', 'foo'],
    ],
    wrong: asAt([['write', 'foo', 0, 8192]], 0, 'foo'),
    rule: 'R2',
  },
  {
    name: 'R2: contents may be newer than at the fsync, block by block',
    steps: [
      ['fsync', 'foo'],
      ['write', 'foo', 0, 8192],
    ],
    right: bytes('foo', (contents) => {
      contents.set((treeAt(historyOf([]), 0).get('foo') as TreeNode).contents.subarray(4096), 4096);
    }),
    wrong: bytes('foo', (contents) => {
      contents.set((treeAt(historyOf([]), 0).get('foo') as TreeNode).contents.subarray(512, 1024), 512);
    }),
    rule: 'R7',
  },
  {
    name: 'R2: mode at the fsync of a file',
    steps: [
      ['chmod', 'foo', 0o600],
      ['fsync', 'foo'],
    ],
    wrong: edit('foo', { mode: 0o644 }),
    rule: 'R2',
  },
  {
    name: 'R2: attributes at the fsync of a file; a removed one stays away',
    steps: [
      ['removexattr', 'foo', 'user.one'],
      ['fsync', 'foo'],
    ],
    wrong: edit('foo', { attributes: new Map([['user.one', 'first']]) }),
    rule: 'R2',
  },
  {
    name: 'R2: the link count is that of its names',
    steps: [
      ['link', 'foo', 'bar'],
      ['fsync', 'foo'],
    ],
    wrong: edit('foo', { links: 1 }),
    rule: 'R2',
  },
  {
    name: 'R3: contents at the fdatasync of a file, but not its mode',
    steps: [
      ['chmod', 'foo', 0o600],
      ['append', 'foo', 5000],
      ['fdatasync', 'foo'],
    ],
    right: edit('foo', { mode: 0o644 }),
    wrong: edit('foo', { size: 8192, contents: new Uint8Array(8192) }),
    rule: 'R3',
  },
  {
    name: 'R3: links before fdatasync may be lost',
    steps: [
      ['link', 'foo', 'bar'],
      ['fdatasync', 'foo'],
    ],
    right: (tree) => {
      drop('bar')(tree);
      edit('foo', { links: 1 })(tree);
    },
  },
  ...(['fsync', 'fdatasync'] as const).map(
    (sync): Case => ({
      name: `R4: the name of a new file survives ${sync}`,
      steps: [
        ['create', 'bar'],
        ['append', 'bar', 100],
        [sync, 'bar'],
      ],
      wrong: drop('bar'),
      rule: 'R4',
    }),
  ),
  {
    name: 'R4: the new directories above a file survive its fsync',
    steps: [
      ['mkdir', 'C'],
      ['create', 'C/foo'],
      ['fsync', 'C/foo'],
    ],
    wrong: drop('C', 'C/foo'),
    rule: 'R4',
  },
  {
    name: 'R4: after rename and fsync the old name is gone',
    steps: [
      ['rename', 'foo', 'bar'],
      ['fsync', 'bar'],
    ],
    wrong: (tree) => {
      tree.set('foo', tree.get('bar') as TreeNode);
      edit('bar', { links: 2 })(tree);
    },
    rule: 'R4',
  },
  {
    name: 'R4: after link and fsync all names are there',
    steps: [
      ['link', 'foo', 'B/foo'],
      ['fsync', 'foo'],
    ],
    wrong: (tree) => {
      drop('B/foo')(tree);
      edit('foo', { links: 1 })(tree);
    },
    rule: 'R4',
  },
  {
    name: 'R5: entries at the fsync of a directory, but not the contents of its files',
    steps: [
      ['create', 'A/bar'],
      ['append', 'A/bar', 5000],
      ['fsync', 'A'],
    ],
    right: edit('A/bar', { size: 0, contents: new Uint8Array(0) }),
    wrong: drop('A/bar'),
    rule: 'R5',
  },
  {
    name: 'R5: a symbolic link leads where it led',
    steps: [
      ['symlink', '../foo', 'A/bar'],
      ['fsync', 'A'],
    ],
    wrong: edit('A/bar', { target: 'elsewhere' }),
    rule: 'R5',
  },
  {
    name: 'R6: the target of a rename is the old or the new file, never absent',
    steps: replaced,
    right: asAt(replaced, 0, 'foo'),
    wrong: drop('foo'),
    rule: 'R6',
  },
  {
    name: 'R6: what is renamed is somewhere',
    steps: [['rename', 'foo', 'bar']],
    right: asAt([['rename', 'foo', 'bar']], 0, 'foo', 'bar'),
    wrong: drop('bar'),
    rule: 'R6',
  },
  {
    name: 'R6: what is renamed is not under both names',
    steps: [['rename', 'foo', 'bar']],
    wrong: (tree) => {
      tree.set('foo', tree.get('bar') as TreeNode);
      edit('bar', { links: 2 })(tree);
    },
    rule: 'R6',
  },
  {
    name: 'R7: bytes of another file never show',
    steps: [['append', 'foo', 5000]],
    right: bytes('foo', (contents) => contents.fill(0, 8192)),
    wrong: bytes('foo', (contents) => {
      contents.set((treeAt(historyOf([]), 0).get('A/foo') as TreeNode).contents.subarray(0, 4096), 8192);
    }),
    rule: 'R7',
  },
  {
    name: 'R8: a durable file is not lost when another one is made under its old name',
    steps: swapped,
    wrong: drop('bar'),
    rule: 'R6',
  },
  { name: 'F-P1: with fsync_mode=posix it may be', steps: swapped, right: drop('bar'), rules: 'f2fs-posix' },
  {
    name: 'F-P1: with fsync_mode=strict it may not',
    steps: swapped,
    wrong: drop('bar'),
    rule: 'R6',
    rules: 'f2fs-strict',
  },
  {
    name: 'F-P2: with fsync_mode=posix a directory may keep its old name above a file made durable in it',
    steps: moved,
    right: (tree) => {
      for (const path of ['', '/foo', '/bar']) {
        tree.set(`A${path}`, tree.get(`C${path}`) as TreeNode);
        tree.delete(`C${path}`);
      }
    },
    rules: 'f2fs-posix',
  },
  {
    name: 'F-P2: elsewhere it may not',
    steps: moved,
    wrong: (tree) => {
      for (const path of ['', '/foo', '/bar']) {
        tree.set(`A${path}`, tree.get(`C${path}`) as TreeNode);
        tree.delete(`C${path}`);
      }
    },
    rule: 'R4',
    rules: 'f2fs-strict',
  },
  { name: 'R8: what nothing has touched is there', steps: [['create', 'bar']], wrong: drop('A/foo'), rule: 'R8' },
  {
    name: 'R9: what was removed before the fsync of its directory stays away',
    steps: [
      ['unlink', 'foo'],
      ['fsync', ''],
    ],
    wrong: asAt([['unlink', 'foo']], 0, 'foo'),
    rule: 'R9',
  },
  {
    name: 'R10: everything before a sync is there',
    steps: [['create', 'bar'], ['sync'], ['unlink', 'foo']],
    right: asAt([['unlink', 'foo']], 0, 'foo'),
    wrong: drop('bar'),
    rule: 'R10',
  },
  ...(['append-sync', 'append-dsync'] as const).map(
    (append): Case => ({
      name: `R11: what ${append} has written is there, with the size`,
      steps: [[append, 'foo', 5000]],
      wrong: edit('foo', { size: 8192, contents: new Uint8Array(8192) }),
      rule: 'R11',
    }),
  ),
  {
    name: 'R13: no name is there that was never made',
    steps: [['create', 'bar']],
    wrong: (tree) => tree.set('never', tree.get('bar') as TreeNode),
    rule: 'R13',
  },
  {
    name: 'E1: names belong to one prefix of the operations',
    steps: [
      ['create', 'bar'],
      ['create', 'B/bar'],
    ],
    right: drop('B/bar'),
    wrong: drop('bar'),
    rule: 'E1',
    rules: 'ext4-ordered',
  },
  {
    name: 'E1: so do modes and attributes',
    steps: [
      ['chmod', 'foo', 0o600],
      ['setxattr', 'A/foo', 'user.one', 'second'],
    ],
    right: edit('A/foo', { attributes: new Map([['user.one', 'first']]) }),
    wrong: edit('foo', { mode: 0o644 }),
    rule: 'E1',
    rules: 'ext4-ordered',
  },
  {
    name: 'E1: it does not hold without a journal of everything',
    steps: [
      ['create', 'bar'],
      ['create', 'B/bar'],
    ],
    right: drop('bar'),
    rules: 'f2fs-strict',
  },
  {
    name: 'E2: a file grows only with its bytes',
    steps: [
      ['create', 'bar'],
      ['append', 'bar', 5000],
    ],
    right: edit('bar', { size: 0, contents: new Uint8Array(0) }),
    wrong: edit('bar', { contents: new Uint8Array(5000) }),
    rule: 'E2',
    rules: { ...POSIX_RULES, sizeAhead: 'none' },
  },
  {
    name: 'E3: the size may run ahead to the end of a block that was there, with zeroes',
    steps: [['truncate', 'foo', 5000], ['sync'], ['append', 'foo', 5000]],
    right: (tree) => {
      const contents = (tree.get('foo') as TreeNode).contents.slice(0, 8192).fill(0, 5000);
      edit('foo', { size: 8192, contents })(tree);
    },
    wrong: bytes('foo', (contents) => contents.fill(0, 8192)),
    rule: 'E3',
    rules: 'ext4-ordered',
  },
  {
    name: 'F3: on f2fs it may run ahead to any size that was given',
    steps: over,
    right: bytes('A/foo', (contents) => contents.fill(0, 8192)),
    rules: 'f2fs-strict',
  },
  {
    name: 'E4: a file that was renamed over another has its bytes',
    steps: over,
    wrong: (tree) =>
      edit('A/foo', { size: 8192, contents: (tree.get('A/foo') as TreeNode).contents.slice(0, 8192) })(tree),
    rule: 'E4',
    rules: 'ext4-ordered',
  },
  {
    name: 'E6: with data=journal contents belong to the same prefix',
    steps: [
      ['write', 'foo', 0, 4096],
      ['chmod', 'A/foo', 0o600],
      ['chmod', 'A/foo', 0o640],
    ],
    right: edit('A/foo', { mode: 0o644 }),
    wrong: asAt([['write', 'foo', 0, 4096]], 0, 'foo'),
    rule: 'E1',
    rules: 'ext4-journal',
  },
  {
    name: 'data=writeback: foreign bytes may show in what nothing has made durable',
    steps: [['append', 'foo', 5000]],
    right: bytes('foo', (contents) => contents.fill(0xee, 8192)),
    rules: 'ext4-writeback',
  },
  {
    name: 'data=writeback: but not in what was made durable',
    steps: [
      ['append', 'foo', 5000],
      ['fsync', 'foo'],
    ],
    wrong: bytes('foo', (contents) => contents.fill(0xee, 8192)),
    rule: 'R7',
    rules: 'ext4-writeback',
  },
  {
    name: 'nobarrier: nothing is promised of what fsync says',
    steps: [
      ['append', 'foo', 5000],
      ['fsync', 'foo'],
    ],
    right: edit('foo', { size: 8192, contents: (treeAt(historyOf([]), 0).get('foo') as TreeNode).contents }),
    rules: 'ext4-nobarrier',
  },
];

describe('the judge', () => {
  it.each(cases)('$name', ({ steps, right, wrong, rule, rules = 'posix' }) => {
    const history = historyOf(steps);
    expect(rulesBroken(history, treeAt(history, steps.length), rules)).toEqual([]);
    if (right !== undefined) {
      const tree = treeAt(history, steps.length);
      right(tree);
      expect(rulesBroken(history, tree, rules), 'a tree that is right').toEqual([]);
    }
    if (wrong !== undefined) {
      const tree = treeAt(history, steps.length);
      wrong(tree);
      expect(rulesBroken(history, tree, rules), 'a tree that is wrong').toContain(rule);
    }
  });
});

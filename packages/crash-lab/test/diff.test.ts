import { describe, expect, it } from 'vitest';
import { diffOfTrees, type TreeNode } from '../src/index.js';
import { historyOf, treeAt } from './trees.js';

describe('differences of trees', () => {
  const before = treeAt(historyOf([]), 0);

  it('are none between equal trees', () => {
    expect(diffOfTrees(before, treeAt(historyOf([]), 0))).toEqual([]);
  });

  it('name what came, went and changed', () => {
    const steps = [
      ['unlink', 'A/foo'],
      ['create', 'bar'],
      ['chmod', 'foo', 0o600],
      ['setxattr', 'foo', 'user.one', 'second'],
      ['write', 'foo', 4096, 5000],
      ['link', 'foo', 'B/foo'],
    ] as const;
    expect(diffOfTrees(before, treeAt(historyOf(steps), steps.length))).toEqual([
      '- A/foo: file of 8192 bytes, mode 644',
      '+ B/foo: file of 9096 bytes, mode 600',
      '+ bar: file of 0 bytes, mode 644',
      '! foo: mode 644 became 600',
      '! foo: links 1 became 2',
      '! foo: attribute user.one first became second',
      '! foo: size 8192 became 9096',
      '! foo: bytes from 4104 on version 8 of sector 8 became version 65541 of sector 8',
      '! B/foo, foo: several files became one',
    ]);
  });

  it('tell one file under two names from two files', () => {
    const linked = treeAt(historyOf([['link', 'foo', 'bar']]), 1);
    const apart = new Map(linked);
    apart.set('bar', { ...(linked.get('bar') as TreeNode) });
    expect(diffOfTrees(linked, apart)).toEqual(['! bar, foo: one file became several']);
  });
});

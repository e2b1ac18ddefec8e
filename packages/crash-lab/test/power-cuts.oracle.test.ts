import { expect, it } from 'vitest';
import { DURABILITY_RULES, Judge } from '../src/index.js';
import { missingForKernel, runOnKernel } from '../src/node/index.js';
import { caseWorkloads, expectCases } from './kernel/cases.js';

const lacks = missingForKernel('ext4');
if (lacks !== '' && process.env.CI !== undefined) throw new Error(`asking ext4 needs ${lacks}`);

it.skipIf(lacks !== '')(`ext4 leaves of known cases what is known of it${lacks && ` (needs ${lacks})`}`, () => {
  const formatArguments = ['-b', '4096', '-J', 'size=4'];
  const volume = { fileSystem: 'ext4', mountOptions: '', formatArguments, bytes: 16 << 20 } as const;
  const outcomes = runOnKernel(caseWorkloads, volume);
  expectCases(outcomes, 'ext4');
  for (const { history, tree } of outcomes) {
    if (tree === null) throw new Error('expectCases has seen to that');
    expect(new Judge(history, DURABILITY_RULES['ext4-ordered']).judge(Number.POSITIVE_INFINITY, tree)).toEqual([]);
  }
});

import type { CrashModel } from '@flashstack/block-device/crash';
import { beforeAll, describe, expect, it } from 'vitest';
import { boundedWorkloads, CrashResult, Explorer, type ExplorerOptions, type Workload } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';
import { full } from './subjects.js';
import { onMiniJournal } from './support.js';

let workloads: Workload[] = [];
beforeAll(() => {
  const { capabilities } = onMiniJournal().fileSystem;
  const sample = { count: full ? 300 : 40, seed: 1 };
  workloads = [...boundedWorkloads({ length: 2, persistence: 'anywhere', capabilities }, { sample })];
});

function explored(subject = miniJournal(), options: ExplorerOptions = {}, of: Workload[] = workloads): CrashResult {
  const explorer = new Explorer(subject, { most: 16, ...options });
  for (const workload of of) explorer.explore(workload);
  return explorer.result;
}

/** Everything that must not depend on how the work is split; images of a set in one order. */
function verdicts(result: CrashResult): unknown {
  const { cases, ...rest } = result.toJSON() as { cases: unknown[] };
  return { ...rest, cases: cases.map((one) => JSON.stringify(one)).sort() };
}

describe('Explorer', () => {
  it('finds nothing wrong with a sound file system, whatever the drive does with what it has not promised', () => {
    for (const model of ['volatile', 'torn', 'ordered', 'protected'] as CrashModel[]) {
      const result = explored(
        miniJournal(),
        { model, again: 4, depth: model === 'volatile' ? 3 : 2 },
        workloads.slice(0, 20),
      );
      expect(result.cases, model).toEqual([]);
      expect(result.counts.recovered, model).toBeGreaterThan(100);
      if (model !== 'volatile') continue;
      expect(result.counts.second).toBeGreaterThan(20);
      expect(result.images.size).toBeLessThanOrEqual(result.counts.recovered);
      expect(result.states.size).toBeLessThan(result.images.size);
    }
  });

  it('nor when requests overlap and complete in any order', () => {
    const result = explored(miniJournal(), { overlap: true }, workloads.slice(0, 10));
    expect(result.cases).toEqual([]);
    expect(result.counts.recovered).toBeGreaterThan(100);
  });

  it('finds a drive that lies about its flushes, and defects of the file system, by name of a rule', () => {
    expect(explored(miniJournal(), { model: 'lying(2)' }, workloads.slice(0, 10)).byRule.size).toBeGreaterThan(0);
    const found = explored(miniJournal('rename-in-two'));
    expect([...found.byRule.keys()].some((rule) => rule === 'R6' || rule === 'E1')).toBe(true);
    expect(explored(miniJournal('bitmap-not-logged'), { uses: 1 }, workloads.slice(0, 10)).byRule.has('R1')).toBe(true);
  });

  it('finds the same in any number of shards', () => {
    const subject = miniJournal('commit-without-preflush');
    const some = workloads.slice(0, 24);
    const whole = explored(subject, {}, some);
    expect(whole.counts.lost).toBeGreaterThan(0);
    const shards = [0, 1, 2].map((shard) =>
      explored(
        subject,
        {},
        some.filter((_, at) => at % 3 === shard),
      ),
    );
    const merged = new CrashResult();
    for (const shard of shards) merged.merge(CrashResult.from(JSON.parse(JSON.stringify(shard))));
    expect(verdicts(merged)).toEqual(verdicts(whole));
    expect(merged.describe()).toBe(whole.describe());
  });

  it('refuses options that make no sense', () => {
    const fails = (options: ExplorerOptions, code: string): void => {
      expect(() => new Explorer(miniJournal(), options)).toThrow(expect.objectContaining({ code }));
    };
    fails({ depth: 4 }, 'ERR_EXPLORER');
    fails({ again: 0 }, 'ERR_EXPLORER');
    expect(() => new Explorer(miniJournal()).explore({ base: 'no such', processes: [], seed: 1 })).toThrow('base is');
    expect(() => CrashResult.from({ counts: {} })).toThrow('counts.workloads is missing');
  });
});

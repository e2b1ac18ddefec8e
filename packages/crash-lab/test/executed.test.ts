import { describe, expect, it } from 'vitest';
import { boundedWorkloads, DURABILITY_RULES, Judge, type Step } from '../src/index.js';
import { full, onMemFs, onMiniJournal, runWorkload } from './support.js';

const exact = { ...DURABILITY_RULES['ext4-journal'], sizeAhead: 'none' } as const;

describe.each([
  ['memfs', onMemFs],
  ['mini-journal', onMiniJournal],
] as const)('workloads on %s', (_name, host) => {
  const { capabilities } = host().fileSystem;
  const workloads = [
    ...boundedWorkloads({ length: 1, persistence: 'last', capabilities }),
    ...boundedWorkloads(
      { length: 2, persistence: 'anywhere', capabilities },
      { sample: { count: full ? 2000 : 50, seed: 1 } },
    ),
  ];

  it('all succeed, and leave behind a sync exactly what the model says', () => {
    for (const workload of workloads) {
      const steps: Step[] = [...workload.processes[0], ['sync']];
      const { history, tree, cut } = runWorkload(host(), { ...workload, processes: [steps] });
      const label = JSON.stringify(steps);
      expect(history.events.map(({ code }) => code).join(), label).toBe(steps.map(() => 'none').join());
      expect(new Judge(history, exact).judge(cut, tree), label).toEqual([]);
    }
  });
});

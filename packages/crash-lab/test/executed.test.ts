import { describe, expect, it } from 'vitest';
import { boundedWorkloads, DURABILITY_RULES, Judge, randomWorkload, type Step, type Workload } from '../src/index.js';
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

  it.each([1, 3])('random ones of %i programs leave behind a sync what the model says', (processes) => {
    for (let seed = 1; seed <= (full ? 200 : 15); seed++) {
      const drawn = randomWorkload({ steps: processes === 1 ? 20 : 6, processes, seed, capabilities });
      const [first, ...others] = drawn.processes;
      const workload: Workload = { ...drawn, processes: [[...first, ['sync']], ...others] };
      const { history, tree, cut } = runWorkload(host(), workload);
      // Of several programs some go on behind the sync.
      const violations = new Judge(history, processes === 1 ? exact : DURABILITY_RULES.posix).judge(cut, tree);
      expect(violations, `seed ${seed}: ${JSON.stringify(workload.processes)}`).toEqual([]);
    }
  });
});

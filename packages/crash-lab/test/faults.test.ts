import { expect, it } from 'vitest';
import { failRequests, type RequestFault } from '../src/index.js';
import { miniJournal } from './crash-subjects.js';
import { plantedWorkloads } from './planted-workloads.js';
import { full } from './subjects.js';

const faults: readonly RequestFault[] = (['read', 'write', 'flush'] as const).flatMap((op) =>
  [true, false].flatMap((carriedOut) => [true, false].map((once) => ({ op, carriedOut, once }))),
);
// A handle whose `open` has failed cannot be used.
const all = plantedWorkloads.filter(({ processes }) => !JSON.stringify(processes).includes('#'));
const workloads = full ? all : all.filter((_, at) => at % 5 === 0);

it.each(faults)(
  'a failing $op (carried out: $carriedOut, once: $once) loses nothing that was acknowledged',
  (fault) => {
    let runs = 0;
    for (const workload of workloads) {
      const report = failRequests(miniJournal(), workload, fault);
      expect(report.violations, JSON.stringify(workload.processes)).toEqual([]);
      runs += report.runs;
    }
    if (fault.op !== 'flush') expect(runs).toBeGreaterThan(workloads.length);
  },
);

import { type ExperimentSpec, runExperiment } from '@flashstack/experiment';

/** An experiment of a fraction of a second, used where results of two engines are compared to the byte. */
export interface SmallRun {
  readonly name: string;
  readonly spec: ExperimentSpec;
}

const MIB = 2 ** 20;

export const smallRuns: readonly SmallRun[] = [
  {
    name: 'timeline, random writes with garbage collection',
    spec: {
      device: { preset: 'mqsim-b8', capacityBytes: 512 * MIB },
      scheduler: 'timeline',
      precondition: 'steady',
      workload: { kind: 'random', parameters: { requests: 20_000, readShare: 0.3 } },
      seed: 5,
    },
  },
  {
    name: 'event, zipf over a buffered drive',
    spec: {
      device: { preset: 'generic-tlc-nvme', capacityBytes: 2048 * MIB },
      scheduler: 'event',
      precondition: 'fill',
      workload: { kind: 'zipf', parameters: { requests: 10_000, readShare: 0.5 } },
      seed: 6,
    },
  },
];

/** The whole result as text. */
export async function runInThisEngine(run: SmallRun): Promise<string> {
  return JSON.stringify(await runExperiment(run.spec));
}

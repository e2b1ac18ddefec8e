import { type ExperimentResult, type ExperimentSpec, runExperiment } from '@flashstack/experiment';

/** How the tests of this package may change a result: to what a test needs and no run gives. */
export type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

const small: ExperimentSpec = {
  device: { preset: 'mqsim-b8', capacityBytes: 128 * 2 ** 20, overProvisioning: 0.28 },
  workload: { kind: 'random', parameters: { requests: 12_000, readShare: 0.3 } },
  precondition: 'steady',
  loop: { kind: 'closed', depth: 16 },
};

/** A run of a few thousand requests, with what is not `small`'s. */
export function run(differences: Partial<ExperimentSpec> = {}, cancelAfter?: number): Promise<ExperimentResult> {
  let slices = 0;
  return runExperiment(
    { ...small, ...differences },
    cancelAfter === undefined ? {} : { sliceRequests: 500, cancelled: () => ++slices >= cancelAfter },
  );
}

/** The usual drive with another victim policy. */
export function withVictim(victim: string | object, seed = 1): Promise<ExperimentResult> {
  return run({ device: { ...(small.device as object), overrides: { 'ftl.victim': victim } }, seed });
}

/** A copy that may be changed. */
export function copyOf(result: ExperimentResult): Mutable<ExperimentResult> {
  return structuredClone(result) as Mutable<ExperimentResult>;
}

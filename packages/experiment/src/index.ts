export type { Analysis, BoundShare, GcSummary, ProgramShare } from './analysis.js';
export { canonicalJson } from './canonical-json.js';
export { resolveDevice, resolveSpec } from './resolve-spec.js';
export { type ExperimentResult, type Partial, RESULT_SCHEMA } from './result.js';
export {
  type ExperimentEnvironment,
  type ExperimentProgress,
  type HashedSpec,
  hashSpec,
  type RunClock,
  runExperiment,
} from './run.js';
export { sha256 } from './sha256.js';
export type { DeviceSpec, ExperimentSpec, ResolvedSpec, ResolvedWorkload, WorkloadSpec } from './spec.js';

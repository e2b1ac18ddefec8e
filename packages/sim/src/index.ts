export { Delay } from './delay.js';
export {
  exponential,
  HotColdRanks,
  normal,
  ParetoRanks,
  type RankDistribution,
  UniformRanks,
  ZipfRanks,
} from './distributions.js';
export { InputError, SimulationError } from './errors.js';
export type { EventTarget } from './event-queue.js';
export { exp, expm1, log, log1p } from './exact-math.js';
export { Histogram, type HistogramRecord } from './histogram.js';
export { Condition, Mutex, RwLock, Semaphore } from './locks.js';
export { PercentileSeries } from './percentile-series.js';
export { Permutation } from './permutation.js';
export { fanOut } from './probe.js';
export {
  type MaybeTask,
  Process,
  ProcessGroup,
  type ProcessHost,
  ProcessQueue,
  type ProcessState,
  type Task,
  type Wait,
} from './process.js';
export { mix32, RandomSource, type RandomState, RandomStream } from './random.js';
export { runTask } from './run-task.js';
export {
  PctScheduler,
  RandomScheduler,
  RecordingScheduler,
  ReplayScheduler,
  type Scheduler,
  ScheduleTree,
} from './scheduler.js';
export { type ProcessCounts, Simulator, type SimulatorOptions, type SpawnOptions } from './simulator.js';
export { captureState, restoreState } from './state-image.js';
export { type Gauge, LayerStats, StatsRegistry } from './stats-registry.js';
export {
  describeParameter,
  lookupStrategy,
  nearestName,
  type Parameter,
  type ParameterTable,
  type ParameterValue,
  type ParameterValues,
  resolveParameters,
  type StrategyKind,
  unknownName,
} from './strategy.js';
export { TimeSeries, type TimeSeriesRecord } from './time-series.js';
export { Utilisation } from './utilisation.js';

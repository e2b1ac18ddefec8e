export { Delay } from './delay.js';
export { InputError, SimulationError } from './errors.js';
export type { EventTarget } from './event-queue.js';
export {
  type MaybeTask,
  Process,
  ProcessGroup,
  ProcessQueue,
  type ProcessState,
  type Task,
  type Wait,
} from './process.js';
export { mix32, RandomSource, type RandomState, RandomStream } from './random.js';
export { type ProcessCounts, Simulator, type SimulatorOptions, type SpawnOptions } from './simulator.js';

import type { Task } from './process.js';
import type { Simulator } from './simulator.js';

/**
 * Runs a task to its end and returns its result: for image tools and tests, on devices that complete inside `submit`
 * as well as on simulated ones. Other processes of the simulator run meanwhile.
 * @throws whatever the task throws; SimulationError if it stalls.
 */
export function runTask<T>(simulator: Simulator, task: Task<T>, name = 'task'): T {
  const process = simulator.spawn(name, task, { observed: true });
  simulator.run(process);
  return process.value as T;
}

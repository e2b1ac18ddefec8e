import type { CrashDevice } from '@flashstack/block-device/crash';
import { Delay, RandomSource, Simulator } from '@flashstack/sim';
import type { History } from '../judge/history.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';
import { Machine } from './machine.js';

/** Times of requests that overlap, ns. */
const LEAST_NS = 5_000;
const MOST_NS = 400_000;

/** How a workload is run. */
export interface RunSettings {
  /** Requests take times drawn by the seed of the workload, so that they overlap and complete in any order. */
  readonly overlap: boolean;
  /** The file system is unmounted behind the workload. */
  readonly unmount: boolean;
}

/**
 * Runs a workload on a device, which begins anew, until its programs have ended, and cuts the power then; what has happened
 * to the files, in one order with the record of the device.
 * @throws what a file system must not throw
 */
export function runWorkload(
  subject: CrashSubject,
  device: CrashDevice,
  workload: Workload,
  settings: RunSettings,
): History {
  const simulator = new Simulator();
  const random = new RandomSource(workload.seed).stream('latency');
  device.latency = settings.overlap ? { simulator, random, leastNs: LEAST_NS, mostNs: MOST_NS } : null;
  device.reset();
  const machine = new Machine(subject, device, simulator);
  machine.mount();
  const { history, programs } = executeWorkload(workload, machine.host, device);
  machine.runAll(programs);
  if (settings.unmount) machine.unmount();
  else machine.host.cutPower();
  if (settings.overlap) settle(simulator);
  return history;
}

/** Lets what is in flight complete: the record is whole then. */
function settle(simulator: Simulator): void {
  const delay = new Delay(simulator);
  simulator.run(
    simulator.spawn(
      'settle',
      (function* () {
        yield delay.for(MOST_NS);
      })(),
    ),
  );
}

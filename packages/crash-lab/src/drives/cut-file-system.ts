import type { BlockDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { RandomSource, runTask, Simulator } from '@flashstack/sim';
import { SimplePageCache } from '@flashstack/vfs';
import { judge } from '../judge/judge.js';
import { readTree } from '../judge/read-tree.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload, makeBase } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';
import type { DriveSubject } from './drive.js';

/** A file system on a drive that loses power. */
export interface FileSystemCutOptions {
  readonly subject: CrashSubject;
  readonly drive: DriveSubject;
  readonly workload: Workload;
  /** The cut comes after so many things have happened in host and drive since the workload began. */
  readonly after: number;
  readonly seed?: number;
}

/** What became of it. */
export interface FileSystemCutReport {
  /** False: all programs had ended before the cut. */
  busy: boolean;
  readonly violations: readonly Violation[];
}

/**
 * Runs a workload on a file system on a drive, cuts the power of both in the middle of whatever the drive is doing, lets
 * drive and file system recover (the drive now and then twice), and judges the tree by what the file system promises.
 */
export function cutFileSystem(options: FileSystemCutOptions): FileSystemCutReport {
  const { subject, workload, after, seed = 1 } = options;
  const simulator = new Simulator();
  const drive = options.drive.make(simulator, seed);
  runTask(simulator, subject.scheme.format(drive.device), 'format');
  const host = hostOf(subject, simulator, drive.device);
  host.run(host.mount());
  host.run(makeBase(workload.base, host));
  let order = 0;
  const clock = { tick: (): number => ++order };
  const { history, programs } = executeWorkload(workload, host, clock);
  const running = programs.map((task, at) => simulator.spawn(`program ${at}`, task, { group: host.group }));
  const random = new RandomSource(seed).stream('moments');
  step(simulator, after);
  const due = simulator.pump();
  // Half of the cuts come between two events.
  if (due < Number.POSITIVE_INFINITY && random.below(2) === 0) {
    simulator.runUntil(simulator.now + Math.floor((due - simulator.now) * random.nextFloat()));
  }
  const busy = running.some((program) => !program.finished);
  const cut = clock.tick();
  host.cutPower();
  drive.powerCut();
  drive.powerOn();
  while (random.below(3) === 0) {
    step(simulator, random.below(8));
    drive.powerCut();
    drive.powerOn();
  }
  const restarted = hostOf(subject, simulator, drive.device);
  const violations: Violation[] = [];
  try {
    restarted.run(restarted.mount());
    const attributes = restarted.fileSystem.capabilities.attributeBytes > 0;
    const program = restarted.process();
    const tree = restarted.run(readTree(program.thread(), attributes));
    restarted.run(program.exit());
    violations.push(...judge(history, cut, tree, subject.rules));
    restarted.run(restarted.unmount());
  } catch (error) {
    violations.push({ rule: 'R1', path: '', text: error instanceof Error ? error.message : String(error) });
  }
  if (violations.length === 0 && subject.check !== undefined) {
    for (const text of runTask(simulator, subject.check(drive.device), 'check')) {
      violations.push({ rule: 'R1', path: '', text });
    }
  }
  return { busy, violations };
}

function hostOf(subject: CrashSubject, simulator: Simulator, device: BlockDevice): Host {
  const cache = new SimplePageCache(simulator, device);
  return new Host({ simulator, cache, fileSystem: (environment) => subject.scheme.open(device, environment) });
}

function step(simulator: Simulator, count: number): void {
  for (let at = 0; at < count; at++) {
    const due = simulator.pump();
    if (due === Number.POSITIVE_INFINITY) return;
    simulator.runUntil(due);
  }
}

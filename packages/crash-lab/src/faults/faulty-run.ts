import { type BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { SimplePageCache } from '@flashstack/vfs';
import type { History } from '../judge/history.js';
import { judge } from '../judge/judge.js';
import { readTree } from '../judge/read-tree.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { makeBase } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';

/** What became of the runs of a workload in each of which one request is done wrongly. */
export interface FaultReport {
  /** Runs in which a request has failed: one for each request of the workload. */
  runs: number;
  readonly violations: { readonly request: number; readonly violation: Violation }[];
}

/**
 * Runs a workload once for each of its requests.
 *
 * @param run a run in which the request of that number is done wrongly; null: the workload has fewer requests
 */
export function eachRequest(run: (request: number) => Violation[] | null): FaultReport {
  const report: FaultReport = { runs: 0, violations: [] };
  for (let request = 0; ; request++) {
    const violations = run(request);
    if (violations === null) return report;
    report.runs++;
    for (const violation of violations) report.violations.push({ request, violation });
  }
}

/** A device with the file system of a subject, on which the base of a workload is durable. */
export function preparedDevice(
  subject: CrashSubject,
  workload: Workload,
): { readonly simulator: Simulator; readonly memory: MemoryDevice } {
  const simulator = new Simulator();
  const memory = new MemoryDevice({ blockCount: subject.blocks, features: { volatileCache: true } });
  runTask(simulator, subject.scheme.format(memory), 'format');
  const prepared = hostOf(subject, simulator, memory);
  prepared.run(prepared.mount());
  prepared.run(makeBase(workload.base, prepared));
  prepared.run(prepared.unmount());
  return { simulator, memory };
}

/** What is wrong with what a mount of the sound device finds after a power cut. */
export function judgeAfter(
  subject: CrashSubject,
  simulator: Simulator,
  memory: BlockDevice,
  cut: () => number,
  history: History,
): Violation[] {
  const host = hostOf(subject, simulator, memory);
  try {
    host.run(host.mount());
    const program = host.process();
    const attributes = host.fileSystem.capabilities.attributeBytes > 0;
    const tree = host.run(readTree(program.thread(), attributes));
    host.run(program.exit());
    host.run(host.unmount());
    const faults = subject.check === undefined ? [] : runTask(simulator, subject.check(memory), 'check');
    const damage = faults.map((text) => ({ rule: 'R1', path: '', text }));
    const failed = unpromised(history);
    const lost = judge(history, cut(), tree, subject.rules).filter(
      ({ path, text }) => !(failed.has(path) && text.startsWith('bytes ')),
    );
    return [...lost, ...damage];
  } catch (error) {
    return [broken('R1', error)];
  }
}

/** R12: after a sync of a file that failed nothing is promised of its contents, not even by a later one that succeeds. */
function unpromised({ workload, events }: History): Set<string> {
  const paths = new Set<string>();
  for (const { process, step, code } of events) {
    const [name, path] = workload.processes[process][step];
    if (code === 'EIO' && /sync/.test(name)) paths.add(String(path ?? ''));
  }
  return paths;
}

/** Runs programs beside each other until all have ended. */
export function* all(host: Host, programs: readonly Task<void>[]): Task<void> {
  const running = programs.map((task, at) => host.simulator.spawn(`program ${at}`, task, { group: host.group }));
  for (const program of running) yield program;
}

/** A host with the file system of a subject. */
export function hostOf(subject: CrashSubject, simulator: Simulator, device: BlockDevice): Host {
  const cache = new SimplePageCache(simulator, device);
  return new Host({ simulator, cache, fileSystem: (environment) => subject.scheme.open(device, environment) });
}

/** The violation that an error is. */
export function broken(rule: string, error: unknown): Violation {
  return { rule, path: '', text: error instanceof Error ? error.message : String(error) };
}

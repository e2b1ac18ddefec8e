import { type BlockDevice, BlockOp, BlockStatus, FaultDevice, MemoryDevice } from '@flashstack/block-device';
import { Host } from '@flashstack/host';
import { runTask, Simulator, type Task } from '@flashstack/sim';
import { SimplePageCache } from '@flashstack/vfs';
import type { History } from '../judge/history.js';
import { judge } from '../judge/judge.js';
import { readTree } from '../judge/read-tree.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload, makeBase } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';

/** What fails. */
export interface RequestFault {
  /** Operations of the device that may fail. */
  readonly op: 'read' | 'write' | 'flush';
  /** The request fails and is not carried out, or it is carried out and called failed. */
  readonly carriedOut: boolean;
  /** Only one request, or that one and all after it. */
  readonly once: boolean;
}

/** What became of it. */
export interface FaultReport {
  /** Runs in which a request has failed: one for each request of the workload. */
  runs: number;
  readonly violations: { readonly request: number; readonly violation: Violation }[];
}

/** Codes that operations may end with on a device that fails. */
const ALLOWED = ['none', '', 'EIO', 'EROFS', 'EUCLEAN', 'ENOSPC'];

/**
 * Fails each request of a workload in turn, from the first to the last. No operation may hang or throw anything but an error
 * with a code of its kind; a recovery on the sound device afterwards must find what had been acknowledged as durable, and
 * nothing that was never executed; an operation that failed may have had its effect or not.
 */
export function failRequests(subject: CrashSubject, workload: Workload, fault: RequestFault): FaultReport {
  const report: FaultReport = { runs: 0, violations: [] };
  for (let request = 0; ; request++) {
    const violations = failOne(subject, workload, fault, request);
    if (violations === null) return report;
    report.runs++;
    for (const violation of violations) report.violations.push({ request, violation });
  }
}

/** Null: the workload has fewer requests. */
function failOne(subject: CrashSubject, workload: Workload, fault: RequestFault, request: number): Violation[] | null {
  const simulator = new Simulator();
  const memory = new MemoryDevice({ blockCount: subject.blocks, features: { volatileCache: true } });
  runTask(simulator, subject.scheme.format(memory), 'format');
  const prepared = hostOf(subject, simulator, memory);
  prepared.run(prepared.mount());
  prepared.run(makeBase(workload.base, prepared));
  prepared.run(prepared.unmount());
  const device = new FaultDevice(memory, {
    rules: [
      {
        ops: [BlockOp[fault.op]],
        skip: request,
        status: BlockStatus.ioError,
        carriedOut: fault.carriedOut,
        ...(fault.once ? { times: 1 } : {}),
      },
    ],
  });
  const host = hostOf(subject, simulator, device);
  try {
    host.run(host.mount());
  } catch (error) {
    return device.strikes[0] > 0 ? allowed(error) : [broken('R1', error)];
  }
  let order = 0;
  const clock = { tick: (): number => ++order };
  const { history, programs } = executeWorkload(workload, host, clock);
  const violations: Violation[] = [];
  try {
    host.run(all(host, programs));
  } catch (error) {
    violations.push(...allowed(error));
  }
  if (device.strikes[0] === 0) return null;
  for (const { code, process, step } of history.events) {
    if (ALLOWED.includes(code) || isOwn(code)) continue;
    violations.push({ rule: 'R12', path: '', text: `step ${step + 1} of program ${process + 1} ends with ${code}` });
  }
  silence(history);
  host.cutPower();
  return violations.length > 0 ? violations : judgeAfter(subject, simulator, memory, () => clock.tick(), history);
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

/** `sync` tells nobody of failures, so in a run with one it promises nothing. */
function silence({ workload, events }: History): void {
  for (const event of events) {
    if (workload.processes[event.process][event.step][0] === 'sync') event.code = 'EIO';
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

/** An operation of a workload that cannot succeed after one that has failed before it. */
function isOwn(code: string): boolean {
  return code === 'ENOENT' || code === 'EEXIST' || code === 'ENOTDIR' || code === 'ENOTEMPTY';
}

function allowed(error: unknown): Violation[] {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && ALLOWED.includes(code) ? [] : [broken('R12', error)];
}

function broken(rule: string, error: unknown): Violation {
  return { rule, path: '', text: error instanceof Error ? error.message : String(error) };
}

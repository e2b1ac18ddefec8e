import { BlockOp, BlockStatus, FaultDevice } from '@flashstack/block-device';
import type { History } from '../judge/history.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';
import { all, broken, eachRequest, type FaultReport, hostOf, judgeAfter, preparedDevice } from './faulty-run.js';

/** What fails. */
export interface RequestFault {
  /** Operations of the device that may fail. */
  readonly op: 'read' | 'write' | 'flush';
  /** The request fails and is not carried out, or it is carried out and called failed. */
  readonly carriedOut: boolean;
  /** Only one request, or that one and all after it. */
  readonly once: boolean;
}

/** Codes that operations may end with on a device that fails. */
const ALLOWED = ['none', '', 'EIO', 'EROFS', 'EUCLEAN', 'ENOSPC'];

/**
 * Fails each request of a workload in turn, from the first to the last. No operation may hang or throw anything but an error
 * with a code of its kind; a recovery on the sound device afterwards must find what had been acknowledged as durable, and
 * nothing that was never executed; an operation that failed may have had its effect or not.
 */
export function failRequests(subject: CrashSubject, workload: Workload, fault: RequestFault): FaultReport {
  return eachRequest((request) => failOne(subject, workload, fault, request));
}

/** Null: the workload has fewer requests. */
function failOne(subject: CrashSubject, workload: Workload, fault: RequestFault, request: number): Violation[] | null {
  const { simulator, memory } = preparedDevice(subject, workload);
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

/** `sync` tells nobody of failures, so in a run with one it promises nothing. */
function silence({ workload, events }: History): void {
  for (const event of events) {
    if (workload.processes[event.process][event.step][0] === 'sync') event.code = 'EIO';
  }
}

/** An operation of a workload that cannot succeed after one that has failed before it. */
function isOwn(code: string): boolean {
  return code === 'ENOENT' || code === 'EEXIST' || code === 'ENOTDIR' || code === 'ENOTEMPTY';
}

function allowed(error: unknown): Violation[] {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && ALLOWED.includes(code) ? [] : [broken('R12', error)];
}

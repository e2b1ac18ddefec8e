import { type BlockDevice, BlockOp, type BlockRequest, Origin, WrapperDevice } from '@flashstack/block-device';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import { executeWorkload } from '../workload/execute.js';
import type { Workload } from '../workload/workload.js';
import { all, eachRequest, type FaultReport, hostOf, judgeAfter, preparedDevice } from './faulty-run.js';

/** What the drive does to one write that it says is done: nothing, or it puts it somewhere else. */
export type WrongWrite = 'lost' | 'misdirected';

/** Does one write of file data wrongly, and says that all is well. */
class WrongWriteDevice extends WrapperDevice {
  /** Whether the write has come. */
  struck = false;
  private left: number;
  /** Distance of the place that the write goes to, blocks; 0: it goes nowhere. */
  private readonly shift: number;

  constructor(device: BlockDevice, which: number, shift: number) {
    super(device, device.blockCount);
    this.left = which;
    this.shift = shift;
  }

  protected accept(request: BlockRequest): void {
    const cookie = this.hold(request);
    const wrong = request.op === BlockOp.write && request.origin === Origin.fileData && this.left-- === 0;
    if (!wrong) {
      this.forward(request, cookie, 0);
      return;
    }
    this.struck = true;
    if (this.shift !== 0) {
      const beyond = request.block + request.count + this.shift > this.blockCount;
      this.forward(request, cookie, beyond ? -this.shift : this.shift);
      return;
    }
    request.status = 0;
    this.release(cookie);
    this.completed(request, cookie);
  }
}

/**
 * A control of the judge: a drive loses or misdirects each write of file data of a workload in turn, without a word. What
 * the tags of contents show of it after a power cut is what is reported: data that was made durable is older than it was
 * (`R2`, `R3`, `R10`), or a file shows what another one was given (`R7`). A run without violations is one in which nobody
 * had been promised the data.
 *
 * @param shift how far away a misdirected write goes, blocks (towards the beginning if the end is too near)
 */
export function misplaceWrites(
  subject: CrashSubject,
  workload: Workload,
  wrong: WrongWrite,
  shift: number = 1,
): FaultReport {
  return eachRequest((request) => misplaceOne(subject, workload, request, wrong === 'lost' ? 0 : shift));
}

/** Null: the workload writes less. */
function misplaceOne(subject: CrashSubject, workload: Workload, which: number, shift: number): Violation[] | null {
  const { simulator, memory } = preparedDevice(subject, workload);
  const device = new WrongWriteDevice(memory, which, shift);
  const host = hostOf(subject, simulator, device);
  host.run(host.mount());
  let order = 0;
  const clock = { tick: (): number => ++order };
  const { history, programs } = executeWorkload(workload, host, clock);
  host.run(all(host, programs));
  host.cutPower();
  return device.struck ? judgeAfter(subject, simulator, memory, () => clock.tick(), history) : null;
}

import { type Process, ProcessQueue, type Wait } from '@flashstack/sim';
import { type BlockDevice, BlockRequest, type IoOwner } from './contract.js';

/**
 * Requests that are sent together and waited for together: add them, then `yield batch`. Made once and reused: the
 * first `add` after all are done starts a new round. `yield` (or `start`) brackets the submission with the device's
 * `plug` and `unplug`.
 */
export class IoBatch implements Wait, IoOwner {
  /** Status of the first request of this round that failed, 0 if none has. */
  status = 0;
  private readonly device: BlockDevice;
  private readonly requests: BlockRequest[] = [];
  private added = 0;
  private started = 0;
  private done = 0;
  private readonly waiters: ProcessQueue = new ProcessQueue();

  constructor(device: BlockDevice) {
    this.device = device;
  }

  /** Requests of this round. */
  get size(): number {
    return this.added;
  }

  /** Requests that have been submitted and are not done. */
  get inFlight(): number {
    return this.started - this.done;
  }

  /** A request of this round in order of addition, for its own status. @throws RangeError beyond `size`. */
  at(index: number): BlockRequest {
    if (!(index >= 0 && index < this.added)) throw new RangeError(`batch has ${this.added} requests, found ${index}`);
    return this.requests[index];
  }

  /** Adds a request and returns it, for payload, flags, origin and so on. It is sent by `start` or `yield`. */
  add(op: number, block: number, count: number): BlockRequest {
    if (this.added > 0 && this.done === this.added) this.reset();
    if (this.added === this.requests.length) this.requests.push(new BlockRequest(this));
    const request = this.requests[this.added++];
    request.clear();
    request.op = op;
    request.block = block;
    request.count = count;
    return request;
  }

  /** Submits what was added since the last start. @throws RangeError or TypeError for a malformed request. */
  start(): void {
    if (this.started === this.added) return;
    const device = this.device;
    device.plug?.();
    try {
      while (this.started < this.added) {
        const request = this.requests[this.started++];
        device.submit(request);
      }
    } catch (error) {
      // The malformed request and those behind it are out of the round, so that the batch can be used again.
      this.added = --this.started;
      throw error;
    } finally {
      device.unplug?.();
    }
  }

  ioDone(request: BlockRequest): void {
    if (request.status !== 0 && this.status === 0) this.status = request.status;
    this.done++;
    if (this.done < this.added) return;
    for (let process = this.waiters.shift(); process !== null; process = this.waiters.shift()) process.wake();
  }

  arm(process: Process): boolean {
    this.start();
    if (this.done === this.added) {
      process.noteProgress();
      return true;
    }
    this.waiters.push(process);
    return false;
  }

  describe(): string {
    const waiting = this.requests
      .slice(0, this.added)
      .map((request) => `${request.op}:${request.block}+${request.count}`);
    const shown = waiting.slice(0, 4).join(', ') + (waiting.length > 4 ? ', …' : '');
    return `I/O, ${this.inFlight} of ${this.added} requests in flight (op:block+count ${shown})`;
  }

  private reset(): void {
    this.added = 0;
    this.started = 0;
    this.done = 0;
    this.status = 0;
  }
}

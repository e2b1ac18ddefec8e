import { runTask, type Simulator, type Task } from '@flashstack/sim';
import { type BlockDevice, type BlockRequest, IoBatch } from '../index.js';

/** A device under test and what drives it. */
export interface ConformanceFixture {
  readonly device: BlockDevice;
  /** The simulator of the device; a fresh one if the device takes no time. */
  readonly simulator: Simulator;
  /** Called after each test. */
  close?(): void;
}

/** Throws with a message that names what was expected. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Throws unless `action` throws one of these classes. */
export function checkThrows(action: () => void, message: string): void {
  try {
    action();
  } catch (error) {
    check(error instanceof RangeError || error instanceof TypeError, `${message}: threw ${String(error)}`);
    return;
  }
  throw new Error(`${message}: nothing was thrown`);
}

/** Sends and checks requests in the words of the tests. */
export class Driver {
  readonly device: BlockDevice;
  readonly simulator: Simulator;
  readonly bytes: number;

  constructor(fixture: ConformanceFixture) {
    this.device = fixture.device;
    this.simulator = fixture.simulator;
    this.bytes = fixture.device.blockBytes;
  }

  /** Runs a batch that `fill` filled; returns it, done. */
  batch(fill: (batch: IoBatch) => void): IoBatch {
    const batch = new IoBatch(this.device);
    fill(batch);
    function* send(): Task<void> {
      yield batch;
    }
    runTask(this.simulator, send(), 'conformance');
    check(batch.inFlight === 0, 'a batch that was waited for has no request in flight');
    return batch;
  }

  /** Runs one request and returns its status. */
  run(op: number, block: number, count: number, set: (request: BlockRequest) => void = () => {}): number {
    return this.batch((batch) => set(batch.add(op, block, count))).status;
  }

  /** Reads blocks into a buffer that held something else; the read must succeed. */
  read(block: number, count: number): Uint8Array {
    const data = new Uint8Array(count * this.bytes).fill(0xa5);
    const status = this.run(0, block, count, (request) => {
      request.data = data;
    });
    check(status === 0, `read of blocks ${block}+${count} succeeds, status ${status}`);
    return data;
  }

  /** Writes bytes; the write must succeed. */
  write(block: number, data: Uint8Array, flags = 0): void {
    const status = this.run(1, block, data.length / this.bytes, (request) => {
      request.data = data;
      request.flags = flags;
    });
    check(status === 0, `write of block ${block} succeeds, status ${status}`);
  }

  /** Checks the contents of blocks. */
  expect(block: number, expected: Uint8Array, what: string): void {
    const found = this.read(block, expected.length / this.bytes);
    const at = firstDifference(found, expected);
    if (at < 0) return;
    const where = `block ${block + Math.floor(at / this.bytes)}, byte ${at % this.bytes}`;
    throw new Error(`${what}: ${where} is ${found[at]}, expected ${expected[at]}`);
  }
}

/** Index of the first byte that differs, or −1. */
export function firstDifference(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return Math.min(a.length, b.length);
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return at;
  return -1;
}

/** Bytes that no tag stands for and that differ for every seed. */
export function pattern(bytes: number, seed: number): Uint8Array {
  const data = new Uint8Array(bytes);
  let state = Math.imul(seed + 1, 0x9e37_79b9) | 1;
  for (let at = 0; at < bytes; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    data[at] = state >>> 8;
  }
  return data;
}

/** The block that a tag stands for, spelt out naively. */
export function tagBlock(bytes: number, tag: number): Uint8Array {
  const data = new Uint8Array(bytes);
  const view = new DataView(data.buffer);
  for (let at = 0; at < bytes; at += 4) view.setUint32(at, tag, true);
  return data;
}

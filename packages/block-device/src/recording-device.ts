import type { Simulator } from '@flashstack/sim';
import { type BlockDevice, BlockOp, type BlockRequest, BlockStatus } from './contract.js';
import { WrapperDevice } from './wrapper-device.js';
import { ZoneOp } from './zones.js';

/** One recorded request. */
export interface RecordedRequest {
  readonly op: number;
  readonly block: number;
  readonly count: number;
  readonly flags: number;
  readonly origin: number;
  readonly stream: number;
  readonly flow: number;
  /** Position of its submission among all submissions and completions, from 1. */
  readonly issueOrder: number;
  /** Position of its completion among all submissions and completions, 0 while in flight. */
  readonly doneOrder: number;
  /** Simulated time of submission, ns. */
  readonly issuedNs: number;
  /** Simulated time of completion, ns, −1 while in flight. */
  readonly doneNs: number;
  readonly status: number;
  /** First block of an append that succeeded, 0 for everything else. */
  readonly placed: number;
  /** A copy of the bytes of a write or append, if contents are recorded. */
  readonly data: Uint8Array | null;
  /** A copy of the tags of a write or append, if contents are recorded. */
  readonly tags: Uint32Array | null;
}

/** Integer columns of the log, in the order of one row. */
const INTS = 7;
/** Number columns of the log, in the order of one row. */
const NUMBERS = 6;

/** How to record. */
export interface RecordingOptions {
  /** The clock for times; without one they are 0. */
  readonly simulator?: Simulator;
  /** Also copy the contents of writes and appends. Default false. */
  readonly contents?: boolean;
}

/** Passes everything on and writes down in which order what was submitted and completed. */
export class RecordingDevice extends WrapperDevice {
  private readonly simulator: Simulator | null;
  private readonly contents: boolean;
  private ints: Int32Array = new Int32Array(INTS * 256);
  private numbers: Float64Array = new Float64Array(NUMBERS * 256);
  private readonly payloads: (Uint8Array | Uint32Array | null)[] = [];
  private rowOfCookie: Int32Array = new Int32Array(64);
  private rows = 0;
  private order = 0;

  constructor(device: BlockDevice, options: RecordingOptions = {}) {
    super(device, device.blockCount);
    this.simulator = options.simulator ?? null;
    this.contents = options.contents ?? false;
  }

  /** Number of recorded requests. */
  get length(): number {
    return this.rows;
  }

  /** A recorded request, in order of submission. @throws RangeError beyond `length`. */
  at(index: number): RecordedRequest {
    if (!(index >= 0 && index < this.rows)) throw new RangeError(`${this.rows} requests are recorded, found ${index}`);
    const i = index * INTS;
    const n = index * NUMBERS;
    const { ints, numbers } = this;
    const payload = this.contents ? this.payloads[index] : null;
    return {
      op: ints[i],
      count: ints[i + 1],
      flags: ints[i + 2],
      origin: ints[i + 3],
      stream: ints[i + 4],
      flow: ints[i + 5],
      status: ints[i + 6],
      block: numbers[n],
      issueOrder: numbers[n + 1],
      doneOrder: numbers[n + 2],
      issuedNs: numbers[n + 3],
      doneNs: numbers[n + 4],
      placed: numbers[n + 5],
      data: payload instanceof Uint8Array ? payload : null,
      tags: payload instanceof Uint32Array ? payload : null,
    };
  }

  /** Forgets the record; requests in flight are not recorded when they complete. */
  clear(): void {
    this.rows = 0;
    this.order = 0;
    this.payloads.length = 0;
    this.rowOfCookie.fill(-1);
  }

  protected accept(request: BlockRequest): void {
    const cookie = this.hold(request);
    const row = this.addRow(request);
    if (cookie >= this.rowOfCookie.length) {
      const larger = new Int32Array(cookie * 2);
      larger.set(this.rowOfCookie);
      this.rowOfCookie = larger;
    }
    this.rowOfCookie[cookie] = row;
    this.forward(request, cookie, 0);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const row = this.rowOfCookie[cookie];
    if (row >= 0) {
      this.ints[row * INTS + 6] = request.status;
      this.numbers[row * NUMBERS + 2] = ++this.order;
      this.numbers[row * NUMBERS + 4] = this.simulator?.now ?? 0;
      if (request.op === ZoneOp.append && request.status === BlockStatus.ok) {
        this.numbers[row * NUMBERS + 5] = request.placed;
      }
    }
    request.owner.ioDone(request);
  }

  private addRow(request: BlockRequest): number {
    const row = this.rows++;
    if (row * INTS >= this.ints.length) this.grow();
    const { ints, numbers } = this;
    const i = row * INTS;
    ints[i] = request.op;
    ints[i + 1] = request.count;
    ints[i + 2] = request.flags;
    ints[i + 3] = request.origin;
    ints[i + 4] = request.stream;
    ints[i + 5] = request.flow;
    ints[i + 6] = 0;
    const n = row * NUMBERS;
    numbers[n] = request.block;
    numbers[n + 1] = ++this.order;
    numbers[n + 2] = 0;
    numbers[n + 3] = this.simulator?.now ?? 0;
    numbers[n + 4] = -1;
    numbers[n + 5] = 0;
    if (this.contents) {
      const write = request.op === BlockOp.write || request.op === ZoneOp.append;
      this.payloads[row] = write ? (request.data?.slice() ?? request.tags?.slice() ?? null) : null;
    }
    return row;
  }

  private grow(): void {
    const ints = new Int32Array(this.ints.length * 2);
    ints.set(this.ints);
    this.ints = ints;
    const numbers = new Float64Array(this.numbers.length * 2);
    numbers.set(this.numbers);
    this.numbers = numbers;
  }
}

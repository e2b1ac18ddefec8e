import { type BlockDevice, BlockFlag, BlockOp, IoBatch } from '@flashstack/block-device';
import { InputError, type Task } from '@flashstack/sim';

/** A text that the program under test had written down, in one order with the requests. */
export interface RecordedMark {
  readonly text: string;
  /** Position in the order of the device that the run was replayed to. */
  readonly position: number;
}

/** A device that knows an order, as `CrashDevice` of `@flashstack/block-device/crash` does. */
export interface OrderedDevice extends BlockDevice {
  /** The position of something else that happens. */
  tick(): number;
}

interface Entry {
  readonly line: number;
  readonly op: string;
  /** Bytes. */
  readonly offset: number;
  readonly length: number;
  readonly durable: boolean;
  /** Positions in the data, and lengths. */
  readonly pieces: readonly (readonly [position: number, length: number])[];
  readonly text: string;
}

const OPERATIONS: Readonly<Record<string, number>> = {
  W: BlockOp.write,
  F: BlockOp.flush,
  T: BlockOp.discard,
  Z: BlockOp.writeZeroes,
};

/**
 * Everything that reached a disk while a program ran on a real file system, and what the program had been promised. One
 * JSON object a line, in the order of completion, each done before the next began: `{"op":"W","off":4096,"len":8192,
 * "fua":0,"d":[[0,4096],[4096,4096]]}` is a write whose contents are these pieces (position, length) of the data, `F` a
 * flush, `T` a discard, `Z` zeroes, `{"op":"M","text":"…"}` a mark.
 */
export class RecordedRun {
  private readonly entries: readonly Entry[];
  private readonly data: Uint8Array;

  /** @throws InputError `ERR_RECORDED_RUN` for a line that is not of this form. */
  constructor(lines: string, data: Uint8Array) {
    this.entries = lines
      .split('\n')
      .map((line, index) => (line === '' ? null : entryOf(line, index + 1, data.length)))
      .filter((entry) => entry !== null);
    this.data = data;
  }

  /** Number of requests and marks. */
  get length(): number {
    return this.entries.length;
  }

  /**
   * Sends all requests to a device that holds what the disk held before; returns the marks.
   * @throws InputError `ERR_RECORDED_RUN` if the requests are not of whole blocks, or the device refuses one.
   */
  *replay(device: OrderedDevice): Task<RecordedMark[]> {
    const marks: RecordedMark[] = [];
    const batch = new IoBatch(device);
    for (const entry of this.entries) {
      if (entry.op === 'M') {
        marks.push({ text: entry.text, position: device.tick() });
        continue;
      }
      const [block, count] = [entry.offset, entry.length].map((bytes) => bytes / device.blockBytes);
      if (!Number.isInteger(block) || !Number.isInteger(count)) {
        const range = `${entry.length} bytes at ${entry.offset}`;
        throw fault(entry.line, `${range} are not whole blocks of ${device.blockBytes} bytes`);
      }
      if (block + count > device.blockCount) throw fault(entry.line, `it goes beyond the ${device.blockCount} blocks`);
      const request = batch.add(OPERATIONS[entry.op], block, count);
      if (entry.durable) request.flags |= BlockFlag.fua;
      if (entry.op === 'W') request.data = this.contentsOf(entry);
      yield batch;
      if (batch.status !== 0) throw fault(entry.line, `the device refuses it with status ${batch.status}`);
    }
    return marks;
  }

  private contentsOf({ length, pieces }: Entry): Uint8Array {
    const contents = new Uint8Array(length);
    let at = 0;
    for (const [position, size] of pieces) {
      contents.set(this.data.subarray(position, position + size), at);
      at += size;
    }
    return contents;
  }
}

function fault(line: number, what: string): InputError {
  return new InputError('ERR_RECORDED_RUN', `line ${line} of the recorded run: ${what}.`, `line ${line}`);
}

function entryOf(line: string, number: number, dataBytes: number): Entry {
  let found: unknown;
  try {
    found = JSON.parse(line);
  } catch (cause) {
    throw fault(number, `expected a JSON object, found ${line.slice(0, 60)} (${(cause as Error).message})`);
  }
  const { op, off = 0, len = 0, fua = 0, d = [], text = '' } = (found ?? {}) as Record<string, unknown>;
  if (typeof op !== 'string' || !(op === 'M' || op in OPERATIONS)) {
    throw fault(number, `op must be W, F, T, Z or M, found ${JSON.stringify(op)}`);
  }
  if (!isSize(off) || !isSize(len)) throw fault(number, 'off and len must be numbers of bytes, 0 or more');
  if ((len === 0) !== (op === 'F' || op === 'M')) throw fault(number, `op ${op} has a len of ${len}`);
  if (typeof text !== 'string' || (fua !== 0 && fua !== 1)) throw fault(number, 'text must be a string, fua 0 or 1');
  const pieces = piecesOf(d, number, dataBytes);
  const bytes = pieces.reduce((sum, [, size]) => sum + size, 0);
  if (bytes !== (op === 'W' ? len : 0)) throw fault(number, `d has ${bytes} bytes, len is ${len}`);
  return { line: number, op, offset: off, length: len, durable: fua === 1, pieces, text };
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function piecesOf(found: unknown, number: number, dataBytes: number): [number, number][] {
  if (!Array.isArray(found)) throw fault(number, 'd must be a list of [position, length]');
  for (const piece of found) {
    const [position, size] = Array.isArray(piece) ? piece : [];
    if (!isSize(position) || !isSize(size) || position + size > dataBytes) {
      throw fault(
        number,
        `d has ${JSON.stringify(piece)}, expected [position, length] within ${dataBytes} bytes of data`,
      );
    }
  }
  return found;
}

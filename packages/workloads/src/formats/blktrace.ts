import { BlockOp } from '@flashstack/block-device';
import type { BinaryRecord } from '../binary-record.js';
import { Operation } from '../operation.js';
import { BLKTRACE_MAGIC, BLKTRACE_VERSION, BlktraceEventWriter, BlockAction, BlockCategory } from './block-events.js';
import { blockFlags, Completions, deviceName, SECTOR_BYTES } from './block-trace.js';
import type {
  BinaryFormat,
  BinaryReader,
  FormatOptions,
  OperationWriter,
  TraceAction,
  WriterOptions,
} from './format.js';
import { OperationRows } from './operation-rows.js';

const HEADER_BYTES = 48;
const ACTIONS: Readonly<Record<TraceAction, number>> = { Q: BlockAction.queue, D: BlockAction.issue };

/** The binary records of the kernel's block tracer (linux/blktrace_api.h), version 7, of either byte order. */
export const blktraceFormat: BinaryFormat = {
  kind: 'binary',
  name: 'blktrace',
  summary: 'binary block trace of Linux, version 7',
  facts: 'records of 48 B and more, times in ns, sectors of 512 B',
  columns: ['magic', 'sequence', 'time', 'sector', 'bytes', 'action', 'pid', 'device', 'cpu', 'error', 'pdu length'],
  extension: '.blktrace',
  limits: {
    unitBytes: SECTOR_BYTES,
    tickNs: 1,
    flush: true,
    discard: true,
    flags: true,
    volumes: true,
    responseTickNs: 0,
  },
  recognise(bytes: Uint8Array): string | null {
    if (bytes.length < 4) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const order = [true, false].find((little) => isMagic(view.getUint32(0, little)));
    return order === undefined
      ? null
      : `it starts with the magic number of blktrace (${order ? 'little' : 'big'} endian)`;
  },
  create: (options: FormatOptions): BinaryReader => new BlktraceReader(options),
  writer: (options: WriterOptions): OperationWriter =>
    new OperationRows(new BlktraceEventWriter(), ACTIONS[options.action]),
};

function isMagic(word: number): boolean {
  return (word & 0xffffff00) >>> 0 === BLKTRACE_MAGIC;
}

class BlktraceReader implements BinaryReader {
  otherRequests = 0;
  firstOther: string | null = null;
  private readonly action: number;
  private readonly completions: Completions | null;
  private last: Operation = new Operation();
  private little = true;

  constructor(options: FormatOptions) {
    this.action = ACTIONS[options.action];
    this.completions = options.respond === null ? null : new Completions(options.respond);
  }

  taken(operation: number): void {
    if (this.completions !== null) this.completions.issued(operation, this.last);
  }

  volumeName(flow: number): string {
    return deviceName(flow);
  }

  lengthOf(record: BinaryRecord): number {
    const { view, at, available } = record;
    if (available < HEADER_BYTES) return 0;
    if (record.number === 1) this.little = isMagic(view.getUint32(at, true));
    const magic = view.getUint32(at, this.little);
    if (!isMagic(magic))
      record.fail(`no magic number of blktrace (0x656174…) but 0x${magic.toString(16).padStart(8, '0')}`);
    if ((magic & 0xff) !== BLKTRACE_VERSION)
      record.fail(`version ${magic & 0xff} of blktrace, only version ${BLKTRACE_VERSION} is known`);
    return HEADER_BYTES + view.getUint16(at + 46, this.little);
  }

  read(record: BinaryRecord, out: Operation): boolean {
    const { view, at } = record;
    const little = this.little;
    const word = view.getUint32(at + 28, little);
    const category = word >>> 16;
    if ((category & BlockCategory.notify) !== 0) return false;
    if ((word & 0xffff) !== this.action) return this.elsewhere(record, word & 0xffff);
    const bytes = view.getUint32(at + 24, little);
    const flush = (category & BlockCategory.flush) !== 0;
    const sector = u64(view, at + 16, little);
    if ((category & BlockCategory.packet) !== 0 || (bytes === 0 && !flush)) return this.other(record, bytes);
    this.last = out;
    out.timeNs = u64(view, at + 8, little);
    out.flow = view.getUint32(at + 36, little);
    out.lengthBytes = bytes;
    out.offsetBytes = bytes === 0 ? 0 : sector * SECTOR_BYTES;
    if (!Number.isSafeInteger(out.timeNs)) record.fail('time is more than 104 days');
    if (!Number.isSafeInteger(out.offsetBytes)) record.fail('sector is too large (the limit is 2^53 bytes)');
    if (bytes === 0) out.op = BlockOp.flush;
    else if ((category & BlockCategory.discard) !== 0) out.op = BlockOp.discard;
    else out.op = (category & BlockCategory.write) !== 0 ? BlockOp.write : BlockOp.read;
    if (bytes > 0) {
      const fua = (category & BlockCategory.fua) !== 0;
      const ahead = (category & BlockCategory.ahead) !== 0;
      out.flags = blockFlags(out.op, fua, flush, ahead, (category & BlockCategory.sync) !== 0);
    }
    return true;
  }

  private elsewhere(record: BinaryRecord, action: number): boolean {
    if (this.completions === null || action !== BlockAction.complete) return false;
    const { view, at } = record;
    const offset = u64(view, at + 16, this.little) * SECTOR_BYTES;
    const flow = view.getUint32(at + 36, this.little);
    this.completions.completed(flow, offset, view.getUint32(at + 24, this.little), u64(view, at + 8, this.little));
    return false;
  }

  private other(record: BinaryRecord, bytes: number): boolean {
    this.otherRequests++;
    this.firstOther ??= `record ${record.number}: ${bytes === 0 ? 'no data and no flush' : 'a packet command'}`;
    return false;
  }
}

function u64(view: DataView, at: number, little: boolean): number {
  const low = view.getUint32(little ? at : at + 4, little);
  const high = view.getUint32(little ? at + 4 : at, little);
  return high * 2 ** 32 + low;
}

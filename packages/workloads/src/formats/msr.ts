import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const LOW_DIGITS = 9;
const LOW_RANGE = 1e9;
const NS_PER_TICK = 100;
const HEADER = 'timestamp';
const READ = 114;
const WRITE = 119;
const LINE = /^\d{17,19},[^,]+,\d+,(read|write),\d+,\d+,\d+$/i;
// Written times start here: 22 February 2007, when the traces of MSR Cambridge begin.
const START_HIGH = 128166372;

/** MSR Cambridge block traces (Narayanan, Donnelly, Rowstron: Write Off-Loading, FAST '08; SNIA IOTTA). */
export const msrFormat: TextFormat = {
  kind: 'text',
  name: 'msr',
  summary: 'MSR Cambridge: CSV of Windows file time, host, disk, Read|Write, offset, size, response time',
  facts: '7 columns, times in 100 ns, bytes',
  separator: 'comma',
  columns: ['time', 'host', 'disk', 'type', 'offset', 'size', 'latency'],
  extension: '.msr.csv',
  limits: {
    unitBytes: 1,
    tickNs: NS_PER_TICK,
    flush: false,
    discard: false,
    flags: false,
    volumes: true,
    responseTickNs: NS_PER_TICK,
  },
  recognise(lines: readonly string[]): string | null {
    const body = lines.length > 1 && lines[0].toLowerCase().startsWith(HEADER) ? lines.slice(1) : lines;
    if (body.length === 0 || !body.every((line) => LINE.test(line))) return null;
    return '7 comma-separated columns with a Windows file time and Read or Write';
  },
  create: (): RowReader => new MsrReader(),
  writer: (): OperationWriter => new MsrWriter(),
};

class MsrReader implements RowReader {
  private started = false;
  private readonly base = new Float64Array(2);

  read(row: Row, out: Operation): boolean {
    if (row.line === 1 && row.fields > 0 && row.is(0, HEADER)) return false;
    row.require(6);
    out.timeNs = this.time(row);
    out.flow = row.volume(2, 'disk');
    out.op = opOf(row);
    out.offsetBytes = row.uint(4, 'offset');
    out.lengthBytes = row.length(5, 'size', 1);
    if (row.fields > 6) out.responseNs = row.uint(6, 'latency') * NS_PER_TICK;
    return true;
  }

  /** File times exceed 2^53, so they are read in two halves; only the difference to the first is kept, exactly. */
  private time(row: Row): number {
    const base = this.base;
    const width = row.width(0);
    const split = Math.max(0, width - LOW_DIGITS);
    const high = split === 0 ? 0 : row.part(0, 0, split, 'time');
    const low = row.part(0, split, width, 'time');
    if (!this.started) {
      this.started = true;
      base[0] = high;
      base[1] = low;
    }
    const ns = ((high - base[0]) * LOW_RANGE + (low - base[1])) * NS_PER_TICK;
    if (!Number.isSafeInteger(ns)) row.fail(0, 'time is more than 104 days from that of the first line');
    return ns;
  }
}

function opOf(row: Row): number {
  const letter = row.byteAt(3, 0) | 32;
  if (letter === READ && row.is(3, 'read')) return BlockOp.read;
  if (letter === WRITE && row.is(3, 'write')) return BlockOp.write;
  return row.fail(3, `type is neither Read nor Write but "${row.text(3)}"`);
}

class MsrWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    const ticks = Math.floor(operation.timeNs / NS_PER_TICK);
    sink.uint(START_HIGH + Math.floor(ticks / LOW_RANGE));
    sink.padded(ticks % LOW_RANGE, LOW_DIGITS);
    sink.ascii(',trace,');
    sink.uint(operation.flow);
    sink.ascii(operation.op === BlockOp.read ? ',Read,' : ',Write,');
    sink.uint(operation.offsetBytes);
    sink.byte(44);
    sink.uint(operation.lengthBytes);
    sink.byte(44);
    sink.uint(Math.floor(operation.responseNs / NS_PER_TICK));
    sink.byte(10);
  }
}

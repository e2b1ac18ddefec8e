import { BlockOp } from '@flashstack/block-device';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { RowReader, TraceFormat } from './format.js';

const LOW_DIGITS = 9;
const LOW_RANGE = 1e9;
const NS_PER_TICK = 100;
const MAX_LENGTH = 0xffffffff;
const HEADER = 'timestamp';
const LINE = /^\d{17,19},[^,]+,\d+,(read|write),\d+,\d+,\d+$/i;

/** MSR Cambridge block traces (Narayanan, Donnelly, Rowstron: Write Off-Loading, FAST '08; SNIA IOTTA). */
export const msrFormat: TraceFormat = {
  name: 'msr',
  summary: 'MSR Cambridge: CSV of Windows file time, host, disk, Read|Write, offset, size, response time',
  facts: '7 columns, times in 100 ns, bytes',
  separator: 'comma',
  columns: ['time', 'host', 'disk', 'type', 'offset', 'size', 'latency'],
  recognise(lines: readonly string[]): string | null {
    const body = lines.length > 1 && lines[0].toLowerCase().startsWith(HEADER) ? lines.slice(1) : lines;
    if (body.length === 0 || !body.every((line) => LINE.test(line))) return null;
    return '7 comma-separated columns with a Windows file time and Read or Write';
  },
  create: (): RowReader => new MsrReader(),
};

class MsrReader implements RowReader {
  private started = false;
  private baseHigh = 0;
  private baseLow = 0;

  read(row: Row, out: Operation): boolean {
    if (row.line === 1 && row.fields > 0 && row.is(0, HEADER)) return false;
    row.require(6);
    out.timeNs = this.time(row);
    out.flow = row.uint(2, 'disk') & 0xff;
    if (row.is(3, 'read')) out.op = BlockOp.read;
    else if (row.is(3, 'write')) out.op = BlockOp.write;
    else row.fail(3, `type is neither Read nor Write but "${row.text(3)}"`);
    out.offsetBytes = row.uint(4, 'offset');
    const length = row.uint(5, 'size');
    if (length > MAX_LENGTH) row.fail(5, 'size is 4 GiB or more');
    out.lengthBytes = length;
    return true;
  }

  /** File times exceed 2^53, so they are read in two halves; only the difference to the first is kept, exactly. */
  private time(row: Row): number {
    const width = row.width(0);
    const split = Math.max(0, width - LOW_DIGITS);
    const high = split === 0 ? 0 : row.part(0, 0, split, 'time');
    const low = row.part(0, split, width, 'time');
    if (!this.started) {
      this.started = true;
      this.baseHigh = high;
      this.baseLow = low;
    }
    const ticks = (high - this.baseHigh) * LOW_RANGE + (low - this.baseLow);
    const ns = ticks * NS_PER_TICK;
    if (!Number.isSafeInteger(ns)) row.fail(0, 'time is more than 104 days from that of the first line');
    return ns;
  }
}

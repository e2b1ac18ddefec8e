import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock, SECOND_DIGITS, SECOND_NS } from './clock.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const HEADER = 'timestamp';
const READ = 82;
const WRITE = 87;
// Written times start here: 24 February 2016, in the middle of the published traces.
const START_S = 1456300000;
const LINE = /^\d+\.\d+,(\d+(\.\d+)?)?,[A-Za-z]*,\d+,\d+,\d+$/;

/**
 * The VDI traces of SYSTOR '17 (Lee et al.: Understanding Storage Traffic Characteristics on Enterprise Virtual Desktop
 * Infrastructure; SNIA IOTTA). Letters other than R and W are no reads or writes: they are counted and left out.
 */
export const systor17Format: TextFormat = {
  kind: 'text',
  name: 'systor17',
  summary: "SNIA SYSTOR '17: CSV with header: Timestamp in s, Response in s, R|W, LUN, Offset, Size",
  facts: '6 columns, times in s, bytes',
  separator: 'comma',
  columns: ['time', 'response', 'type', 'lun', 'offset', 'size'],
  extension: '.systor17.csv',
  limits: { unitBytes: 1, tickNs: 1, flush: false, discard: false, flags: false, volumes: true, responseTickNs: 1 },
  recognise(lines: readonly string[]): string | null {
    const body = lines.length > 1 && lines[0].toLowerCase().startsWith(HEADER) ? lines.slice(1) : lines;
    if (body.length === 0 || !body.every((line) => LINE.test(line))) return null;
    return '6 comma-separated columns with seconds, response, a letter, LUN, offset and size';
  },
  create: (): RowReader => new Systor17Reader(),
  writer: (): OperationWriter => new Systor17Writer(),
};

class Systor17Reader implements RowReader {
  otherRequests = 0;
  firstOther: string | null = null;
  private readonly clock = new RelativeClock(SECOND_NS);

  read(row: Row, out: Operation): boolean {
    if (row.line === 1 && row.fields > 0 && row.is(0, HEADER)) return false;
    row.require(6);
    out.timeNs = this.clock.ns(row, 0, row.integerPart(0, 'time'), row.fractionPart(0, SECOND_DIGITS, 'time'));
    if (row.width(1) > 0) {
      out.responseNs = row.integerPart(1, 'response') * SECOND_NS + row.fractionPart(1, SECOND_DIGITS, 'response');
    }
    const type = row.letter(2);
    if (type === READ) out.op = BlockOp.read;
    else if (type === WRITE) out.op = BlockOp.write;
    else return this.other(row);
    out.flow = row.volume(3, 'LUN');
    out.offsetBytes = row.uint(4, 'offset');
    out.lengthBytes = row.length(5, 'size', 1);
    return true;
  }

  private other(row: Row): boolean {
    const type = row.text(2);
    if (!/^[A-Za-z]?$/.test(type)) row.fail(2, `type is not a letter but "${type}"`);
    this.otherRequests++;
    this.firstOther ??= `line ${row.line}: type "${type}"`;
    return false;
  }
}

class Systor17Writer implements OperationWriter {
  begin(sink: ByteSink): void {
    sink.ascii('Timestamp,Response,IOType,LUN,Offset,Size\n');
  }

  write(operation: Operation, sink: ByteSink): void {
    sink.uint(START_S + Math.floor(operation.timeNs / SECOND_NS));
    sink.byte(46);
    sink.padded(operation.timeNs % SECOND_NS, SECOND_DIGITS);
    sink.byte(44);
    if (operation.responseNs > 0) sink.fixed(operation.responseNs, SECOND_DIGITS);
    sink.ascii(operation.op === BlockOp.read ? ',R,' : ',W,');
    sink.uint(operation.flow);
    sink.byte(44);
    sink.uint(operation.offsetBytes);
    sink.byte(44);
    sink.uint(operation.lengthBytes);
    sink.byte(10);
  }
}

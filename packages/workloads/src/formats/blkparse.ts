import { BlockOp } from '@flashstack/block-device';
import { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { BlkparseEventWriter, BlockAction } from './block-events.js';
import { blockFlags, Completions, deviceName, deviceNumber, SECTOR_BYTES } from './block-trace.js';
import { SECOND_DIGITS, SECOND_NS } from './clock.js';
import type { FormatOptions, OperationWriter, RowReader, TextFormat, WriterOptions } from './format.js';
import { OperationRows } from './operation-rows.js';

const LINE = /^\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d{9}\s+\d+\s+(Q|M|F|G|S|R|D|C|P|U|UT|I|X|B|A|m)\s/;
const SUMMARY = /^(CPU\d+ \(|Total \(|Throughput \(|Events \()/;
// What it says about the files it opens, before or after the events.
const NOTICE = /^Input file .* added$/;
const COMMA = 44;
const PLUS = 43;
const COMPLETE = 67;
const LETTERS = { flushOrFua: 70, read: 82, write: 87, discard: 68, none: 78, ahead: 65, sync: 83 } as const;

/** The text that blkparse prints by default (blkparse(1)), taken apart by its columns. */
export const blkparseFormat: TextFormat = {
  kind: 'text',
  name: 'blkparse',
  summary: 'text of blkparse: device, cpu, sequence, seconds, pid, action, RWBS, sector + sectors',
  facts: 'times in ns, sectors of 512 B',
  separator: 'space',
  columns: ['device', 'cpu', 'sequence', 'time', 'pid', 'action', 'rwbs', 'sector', '+', 'sectors'],
  extension: '.blkparse.txt',
  limits: {
    unitBytes: SECTOR_BYTES,
    tickNs: 1,
    flush: true,
    discard: true,
    flags: true,
    volumes: true,
    responseTickNs: 0,
  },
  recognise(lines: readonly string[]): string | null {
    // A summary follows the events.
    const events = lines.findIndex((line) => SUMMARY.test(line));
    const body = (events < 0 ? lines : lines.slice(0, events)).filter((line) => !NOTICE.test(line));
    return body.length > 0 && body.every((line) => LINE.test(line))
      ? 'device, cpu, sequence, time, pid and an action of blkparse'
      : null;
  },
  create: (options: FormatOptions): RowReader => new BlkparseReader(options),
  writer: (options: WriterOptions): OperationWriter =>
    new OperationRows(new BlkparseEventWriter(), options.action === 'Q' ? BlockAction.queue : BlockAction.issue),
};

class BlkparseReader implements RowReader {
  otherRequests = 0;
  firstOther: string | null = null;
  private readonly action: number;
  private readonly completions: Completions | null;
  private last: Operation = new Operation();
  private ended = false;

  constructor(options: FormatOptions) {
    this.action = options.action.charCodeAt(0);
    this.completions = options.respond === null ? null : new Completions(options.respond);
  }

  taken(operation: number): void {
    if (this.completions !== null) this.completions.issued(operation, this.last);
  }

  volumeName(flow: number): string {
    return deviceName(flow);
  }

  read(row: Row, out: Operation): boolean {
    if (this.ended) return false;
    if (row.fields < 7 || row.letter(5) !== this.action) return this.elsewhere(row);
    this.last = out;
    out.timeNs = timeOf(row);
    out.flow = deviceOf(row);
    if (!kindOf(row, out, isSized(row))) return this.other(row);
    if (out.op === BlockOp.flush) {
      out.offsetBytes = 0;
      out.lengthBytes = 0;
      return true;
    }
    out.offsetBytes = row.bytes(7, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(9, 'sectors', SECTOR_BYTES);
    return true;
  }

  /** Other actions, the summary, and what is no line of blkparse at all. */
  private elsewhere(row: Row): boolean {
    if (row.fields >= 6 && row.byteAt(0, 0) <= 57 && row.width(5) <= 2) {
      const flow = deviceOf(row);
      if (this.completions !== null && row.letter(5) === COMPLETE && isSized(row)) {
        const offset = row.bytes(7, 'sector', SECTOR_BYTES);
        this.completions.completed(flow, offset, row.length(9, 'sectors', SECTOR_BYTES), timeOf(row));
      }
      return false;
    }
    const text = row.wholeText();
    if (NOTICE.test(text)) return false;
    if (SUMMARY.test(text)) {
      this.ended = true;
      return false;
    }
    if (row.fields < 6) row.require(6);
    return row.fail(5, `action is "${row.text(5)}", expected one or two letters`);
  }

  private other(row: Row): boolean {
    this.otherRequests++;
    this.firstOther ??= `line ${row.line}: ${row.text(5)} ${row.text(6)} without a range`;
    return false;
  }
}

function timeOf(row: Row): number {
  const timeNs = row.integerPart(3, 'time') * SECOND_NS + row.fractionPart(3, SECOND_DIGITS, 'time');
  if (!Number.isSafeInteger(timeNs)) row.fail(3, 'time is more than 104 days');
  return timeNs;
}

/** True for `sector + sectors`. */
function isSized(row: Row): boolean {
  return row.fields >= 10 && row.letter(8) === PLUS;
}

/** Reads the letters `[F](R|W|D|N)[F][A][S][M]`; false if they name no request that moves, discards or flushes data. */
function kindOf(row: Row, out: Operation, sized: boolean): boolean {
  let at = 0;
  const preflush = row.byteAt(6, 0) === LETTERS.flushOrFua;
  if (preflush) at++;
  const kind = row.byteAt(6, at);
  let fua = false;
  let ahead = false;
  let sync = false;
  for (let i = at + 1; i < row.width(6); i++) {
    const letter = row.byteAt(6, i);
    if (letter === LETTERS.flushOrFua) fua = true;
    else if (letter === LETTERS.ahead) ahead = true;
    else if (letter === LETTERS.sync) sync = true;
  }
  if (!sized) {
    out.op = BlockOp.flush;
    return preflush;
  }
  if (kind === LETTERS.read) out.op = BlockOp.read;
  else if (kind === LETTERS.write) out.op = BlockOp.write;
  else if (kind === LETTERS.discard) out.op = BlockOp.discard;
  else if (kind === LETTERS.none) return false;
  else row.fail(6, `RWBS is "${row.text(6)}", expected R, W, D or N after an optional F`);
  out.flags = blockFlags(out.op, fua, preflush, ahead, sync);
  return true;
}

function deviceOf(row: Row): number {
  const width = row.width(0);
  let comma = 0;
  while (comma < width && row.byteAt(0, comma) !== COMMA) comma++;
  if (comma === width) row.fail(0, `device is "${row.text(0)}", expected major,minor`);
  return deviceNumber(row, 0, row.part(0, 0, comma, 'device'), row.part(0, comma + 1, width, 'device'));
}

import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { FormatOptions, OperationWriter, RowReader, TextFormat, WaitUnit, WriterOptions } from './format.js';

const US = 1000;
const HEADER = /^fio version ([23]) iolog$/;
const waitNs: Readonly<Record<WaitUnit, number>> = { us: 1000, ms: 1_000_000 };

/**
 * The I/O logs of fio (its manual, "Trace file format"), versions 2 and 3. Offsets count per file. Version 3 has a time
 * in µs on every line; version 2 has `wait` lines, whose unit fio's manual and fio itself disagree about.
 */
export const fioIologFormat: TextFormat = {
  kind: 'text',
  name: 'fio-iolog',
  summary: 'fio iolog, version 2 or 3: file, read|write|trim|sync|datasync, offset, length',
  facts: 'times in µs (version 3) or as waits (version 2), bytes',
  separator: 'space',
  columns: ['time (version 3)', 'file', 'action', 'offset', 'length'],
  extension: '.iolog',
  limits: { unitBytes: 1, tickNs: US, flush: true, discard: true, flags: false, volumes: true, responseTickNs: 0 },
  recognise(lines: readonly string[]): string | null {
    const header = lines.length > 0 ? HEADER.exec(lines[0].trimEnd()) : null;
    return header === null ? null : `the first line says fio iolog, version ${header[1]}`;
  },
  create: (options: FormatOptions): RowReader => new IologReader(options.waitUnit),
  writer: (options: WriterOptions): OperationWriter => new IologWriter(options),
};

class IologReader implements RowReader {
  private readonly waitUnit: WaitUnit | null;
  private readonly names: string[] = [];
  private lastName = '';
  private lastFlow = 0;
  private version = 0;
  private clockNs = 0;

  constructor(waitUnit: WaitUnit | null) {
    this.waitUnit = waitUnit;
  }

  volumeName(flow: number): string {
    return this.names[flow];
  }

  read(row: Row, out: Operation): boolean {
    if (this.version === 0) return this.header(row);
    const file = this.version === 3 ? 1 : 0;
    row.require(file + 2);
    if (this.version === 3) out.timeNs = row.uint(0, 'time') * US;
    const action = file + 1;
    if (row.is(action, 'read')) out.op = BlockOp.read;
    else if (row.is(action, 'write')) out.op = BlockOp.write;
    else return this.rarer(row, file, out);
    return this.range(row, file, out);
  }

  /** Everything but reads and writes. */
  private rarer(row: Row, file: number, out: Operation): boolean {
    const action = file + 1;
    if (row.is(action, 'trim')) {
      out.op = BlockOp.discard;
      return this.range(row, file, out);
    }
    if (row.is(action, 'sync') || row.is(action, 'datasync')) {
      out.op = BlockOp.flush;
      out.offsetBytes = 0;
      out.lengthBytes = 0;
      out.flow = this.flowOf(row, file);
      if (this.version === 2) out.timeNs = this.clockNs;
      return true;
    }
    if (row.is(action, 'add') || row.is(action, 'open') || row.is(action, 'close')) return false;
    if (this.version === 2 && row.is(action, 'wait')) return this.wait(row);
    return row.fail(
      action,
      `action is not read, write, trim, sync, datasync, add, open or close but "${row.text(action)}"`,
    );
  }

  private range(row: Row, file: number, out: Operation): boolean {
    row.require(file + 4);
    out.offsetBytes = row.uint(file + 2, 'offset');
    out.lengthBytes = row.length(file + 3, 'length', 1);
    out.flow = this.flowOf(row, file);
    if (this.version === 2) out.timeNs = this.clockNs;
    return true;
  }

  private header(row: Row): boolean {
    const found = HEADER.exec(row.wholeText());
    if (found === null) row.fail(0, 'the first line is not "fio version 2 iolog" or "fio version 3 iolog"');
    this.version = Number(found[1]);
    return false;
  }

  private wait(row: Row): boolean {
    row.require(3);
    const amount = row.uint(2, 'wait');
    if (amount === 0) return false;
    if (this.waitUnit === null) {
      row.fail(2, 'the unit of a wait is µs by the manual of fio and ms in fio 3.33: say which (waitUnit us or ms)');
    }
    this.clockNs += amount * waitNs[this.waitUnit];
    return false;
  }

  private flowOf(row: Row, file: number): number {
    if (this.names.length > 0 && row.equals(file, this.lastName)) return this.lastFlow;
    const name = row.text(file);
    let flow = this.names.indexOf(name);
    if (flow < 0) flow = this.names.push(name) - 1;
    this.lastName = name;
    this.lastFlow = flow;
    return flow;
  }
}

class IologWriter implements OperationWriter {
  private readonly version: 2 | 3;
  private readonly waitUnitNs: number;
  private readonly opened = new Set<number>();
  private clock = 0;

  constructor(options: WriterOptions) {
    this.version = options.iologVersion;
    this.waitUnitNs = waitNs[options.waitUnit];
  }

  begin(sink: ByteSink): void {
    sink.ascii(`fio version ${this.version} iolog\n`);
  }

  write(operation: Operation, sink: ByteSink): void {
    const { flow, op } = operation;
    this.passTime(operation, sink);
    if (!this.opened.has(flow)) {
      this.opened.add(flow);
      this.line(flow, 'add', sink);
      this.line(flow, 'open', sink);
    }
    this.start(flow, sink);
    sink.ascii(
      op === BlockOp.read ? 'read ' : op === BlockOp.write ? 'write ' : op === BlockOp.discard ? 'trim ' : 'sync ',
    );
    sink.uint(operation.offsetBytes);
    sink.byte(32);
    sink.uint(operation.lengthBytes);
    sink.byte(10);
  }

  end(sink: ByteSink): void {
    for (const flow of this.opened) this.line(flow, 'close', sink);
  }

  /** The time of version 3 is in the lines themselves, rounded down; in version 2 what is left waits for more. */
  private passTime(operation: Operation, sink: ByteSink): void {
    const unit = this.version === 3 ? US : this.waitUnitNs;
    const now = Math.floor(operation.timeNs / unit);
    if (this.version === 2 && now > this.clock && this.opened.size > 0) {
      const [flow] = this.opened;
      sink.ascii(`dev${flow} wait ${now - this.clock} 0\n`);
    }
    this.clock = this.version === 2 ? Math.max(now, this.clock) : now;
  }

  private line(flow: number, action: string, sink: ByteSink): void {
    this.start(flow, sink);
    sink.ascii(action);
    sink.byte(10);
  }

  private start(flow: number, sink: ByteSink): void {
    if (this.version === 3) {
      sink.uint(this.clock);
      sink.byte(32);
    }
    sink.ascii('dev');
    sink.uint(flow);
    sink.byte(32);
  }
}

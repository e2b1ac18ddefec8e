import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock, SECOND_DIGITS, SECOND_NS } from './clock.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const SECTOR_BYTES = 512;
const LOWER = 32;
const READ = 114;
const WRITE = 119;
const LINE = /^\d+,\d+,\d+,[rRwW],\d+(\.\d+)?(,.*)?$/;

/** Traces of the Storage Performance Council, also used by the UMass Trace Repository. Addresses count per ASU. */
export const spcFormat: TextFormat = {
  kind: 'text',
  name: 'spc',
  summary: 'SPC (UMass): CSV of ASU, start sector, bytes, R|W, time in s',
  facts: '5 columns or more, times in s, addresses in sectors of 512 B, sizes in bytes',
  separator: 'comma',
  columns: ['asu', 'sector', 'bytes', 'opcode', 'time'],
  extension: '.spc.txt',
  limits: { unitBytes: 512, tickNs: 1, flush: false, discard: false, flags: false, volumes: true, responseTickNs: 0 },
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return 'comma-separated columns with R or W in the fourth and seconds in the fifth';
  },
  create: (): RowReader => new SpcReader(),
  writer: (): OperationWriter => new SpcWriter(),
};

class SpcReader implements RowReader {
  private readonly clock = new RelativeClock(SECOND_NS);

  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.flow = row.volume(0, 'ASU');
    out.offsetBytes = row.bytes(1, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(2, 'size', 1);
    const opcode = row.letter(3) | LOWER;
    if (opcode === READ) out.op = BlockOp.read;
    else if (opcode === WRITE) out.op = BlockOp.write;
    else row.fail(3, `opcode is neither R nor W but "${row.text(3)}"`);
    out.timeNs = this.clock.ns(row, 4, row.integerPart(4, 'time'), row.fractionPart(4, SECOND_DIGITS, 'time'));
    return true;
  }
}

class SpcWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    sink.uint(operation.flow);
    sink.byte(44);
    sink.uint(operation.offsetBytes / SECTOR_BYTES);
    sink.byte(44);
    sink.uint(operation.lengthBytes);
    sink.ascii(operation.op === BlockOp.read ? ',R,' : ',W,');
    sink.fixed(operation.timeNs, SECOND_DIGITS);
    sink.byte(10);
  }
}

import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock } from './clock.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const SECTOR_BYTES = 512;
const MS_NS = 1e6;
const MS_DIGITS = 6;
const ZERO = 48;
const ONE = 49;
const NINE = 57;
const LOWER = 32;
const LETTER_A = 97;
const LETTER_F = 102;
const SPACE = 32;
const LINE = /^\s*\d+\.\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[0-9a-fA-F]+\s*$/;

/** ASCII traces of DiskSim (Bucy et al.: The DiskSim Simulation Environment 4.0, CMU-PDL-08-101). */
export const disksimFormat: TextFormat = {
  kind: 'text',
  name: 'disksim',
  summary: 'DiskSim: arrival in ms, device, start sector, sectors, flags in hexadecimal (bit 0: read)',
  facts: '5 columns, times in ms, sectors of 512 B',
  separator: 'space',
  columns: ['time', 'device', 'sector', 'sectors', 'flags'],
  extension: '.disksim.txt',
  limits: {
    unitBytes: SECTOR_BYTES,
    tickNs: 1,
    flush: false,
    discard: false,
    flags: false,
    volumes: true,
    responseTickNs: 0,
  },
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return '5 columns of numbers, the first alone with a fraction';
  },
  create: (): RowReader => new DisksimReader(),
  writer: (): OperationWriter => new DisksimWriter(),
};

class DisksimReader implements RowReader {
  private readonly clock = new RelativeClock(MS_NS);

  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.timeNs = this.clock.ns(row, 0, row.integerPart(0, 'time'), row.fractionPart(0, MS_DIGITS, 'time'));
    out.flow = row.volume(1, 'device');
    out.offsetBytes = row.bytes(2, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(3, 'sectors', SECTOR_BYTES);
    out.op = readFlag(row) ? BlockOp.read : BlockOp.write;
    return true;
  }
}

/** Bit 0 of the flags, which are hexadecimal. */
function readFlag(row: Row): boolean {
  const width = row.width(4);
  for (let i = 0; i < width; i++) {
    const byte = row.byteAt(4, i);
    const letter = byte | LOWER;
    const hexadecimal = (byte >= ZERO && byte <= NINE) || (letter >= LETTER_A && letter <= LETTER_F);
    if (!hexadecimal) row.fail(4, `flags is not a hexadecimal number but "${row.text(4)}"`);
  }
  const last = row.byteAt(4, width - 1);
  return last <= NINE ? last % 2 === 1 : ((last | LOWER) - LETTER_A) % 2 === 1;
}

class DisksimWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    sink.fixed(operation.timeNs, MS_DIGITS);
    sink.byte(SPACE);
    sink.uint(operation.flow);
    sink.byte(SPACE);
    sink.uint(operation.offsetBytes / SECTOR_BYTES);
    sink.byte(SPACE);
    sink.uint(operation.lengthBytes / SECTOR_BYTES);
    sink.byte(SPACE);
    sink.byte(operation.op === BlockOp.read ? ONE : ZERO);
    sink.byte(10);
  }
}

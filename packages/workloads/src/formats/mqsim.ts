import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const SECTOR_BYTES = 512;
const ZERO = 48;
const ONE = 49;
const SPACE = 32;
const LINE = /^\s*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[01]\s*$/;

/** The text traces of the MQSim simulator (Tavakkol et al.: MQSim, FAST '18). Note the polarity: 0 is a write. */
export const mqsimFormat: TextFormat = {
  kind: 'text',
  name: 'mqsim',
  summary: 'MQSim: arrival in ns, device, start sector, sectors, 0 write | 1 read',
  facts: '5 columns, times in ns, sectors of 512 B',
  separator: 'space',
  columns: ['time', 'device', 'sector', 'sectors', 'type'],
  extension: '.mqsim.txt',
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
    return '5 columns of whole numbers, the last 0 or 1';
  },
  create: (): RowReader => new MqsimReader(),
  writer: (): OperationWriter => new MqsimWriter(),
};

class MqsimReader implements RowReader {
  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.timeNs = row.uint(0, 'time');
    out.flow = row.volume(1, 'device');
    out.offsetBytes = row.bytes(2, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(3, 'sectors', SECTOR_BYTES);
    const type = row.letter(4);
    if (type === ZERO) out.op = BlockOp.write;
    else if (type === ONE) out.op = BlockOp.read;
    else row.fail(4, `type is neither 0 (write) nor 1 (read) but "${row.text(4)}"`);
    return true;
  }
}

class MqsimWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    sink.uint(operation.timeNs);
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

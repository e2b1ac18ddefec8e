import { BlockOp } from '@flashstack/block-device';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { RowReader, TraceFormat } from './format.js';

const SECTOR_BYTES = 512;
const MAX_SECTORS = Math.floor(0xffffffff / SECTOR_BYTES);
const LINE = /^\s*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[01]\s*$/;

/** The text traces of the MQSim simulator (Tavakkol et al.: MQSim, FAST '18). Note the polarity: 0 is a write. */
export const mqsimFormat: TraceFormat = {
  name: 'mqsim',
  summary: 'MQSim: arrival in ns, device, start sector, sectors, 0 write | 1 read',
  facts: '5 columns, times in ns, sectors of 512 B',
  separator: 'space',
  columns: ['time', 'device', 'sector', 'sectors', 'type'],
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return '5 columns of whole numbers, the last 0 or 1';
  },
  create: (): RowReader => new MqsimReader(),
};

class MqsimReader implements RowReader {
  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.timeNs = row.uint(0, 'time');
    out.flow = row.uint(1, 'device') & 0xff;
    out.offsetBytes = row.uint(2, 'sector') * SECTOR_BYTES;
    if (out.offsetBytes > Number.MAX_SAFE_INTEGER) row.fail(2, 'sector is too large (the limit is 2^53 bytes)');
    const sectors = row.uint(3, 'sectors');
    if (sectors > MAX_SECTORS) row.fail(3, 'sectors make 4 GiB or more');
    out.lengthBytes = sectors * SECTOR_BYTES;
    if (row.is(4, '0')) out.op = BlockOp.write;
    else if (row.is(4, '1')) out.op = BlockOp.read;
    else row.fail(4, `type is neither 0 (write) nor 1 (read) but "${row.text(4)}"`);
    return true;
  }
}

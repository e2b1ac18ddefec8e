import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock, SECOND_NS } from './clock.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const SECTOR_BYTES = 512;
const ZERO = 48;
const ONE = 49;
// Written times start here: 1 October 2018, when the published traces begin.
const START_S = 1538323200;
const LINE = /^1\d{9},\d+,\d+,[01],\d+$/;

/**
 * Tencent cloud block storage traces (Zhang et al.: OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block
 * Storage Systems, USENIX ATC '20). Times are whole seconds: within a second only the order of the lines is known.
 */
export const tencentFormat: TextFormat = {
  kind: 'text',
  name: 'tencent',
  summary: 'Tencent CBS: CSV of timestamp in s, start sector, sectors, 0 read | 1 write, volume',
  facts: '5 columns, times in whole seconds, sectors of 512 B',
  separator: 'comma',
  columns: ['time', 'sector', 'sectors', 'type', 'volume'],
  extension: '.tencent.csv',
  limits: {
    unitBytes: SECTOR_BYTES,
    tickNs: SECOND_NS,
    flush: false,
    discard: false,
    flags: false,
    volumes: true,
    responseTickNs: 0,
  },
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return '5 comma-separated whole numbers, the first in seconds since 1970, the fourth 0 or 1';
  },
  create: (): RowReader => new TencentReader(),
  writer: (): OperationWriter => new TencentWriter(),
};

class TencentReader implements RowReader {
  private readonly clock = new RelativeClock(SECOND_NS);

  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.timeNs = this.clock.ns(row, 0, row.uint(0, 'time'), 0);
    out.offsetBytes = row.bytes(1, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(2, 'sectors', SECTOR_BYTES);
    const type = row.letter(3);
    if (type === ZERO) out.op = BlockOp.read;
    else if (type === ONE) out.op = BlockOp.write;
    else row.fail(3, `type is neither 0 (read) nor 1 (write) but "${row.text(3)}"`);
    out.flow = row.volume(4, 'volume');
    return true;
  }
}

class TencentWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    sink.uint(START_S + Math.floor(operation.timeNs / SECOND_NS));
    sink.byte(44);
    sink.uint(operation.offsetBytes / SECTOR_BYTES);
    sink.byte(44);
    sink.uint(operation.lengthBytes / SECTOR_BYTES);
    sink.byte(44);
    sink.byte(operation.op === BlockOp.read ? ZERO : ONE);
    sink.byte(44);
    sink.uint(operation.flow);
    sink.byte(10);
  }
}

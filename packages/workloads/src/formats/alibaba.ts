import { BlockOp } from '@flashstack/block-device';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock } from './clock.js';
import type { OperationWriter, RowReader, TextFormat } from './format.js';

const READ = 82;
const WRITE = 87;
const US = 1000;
// Written times start here: 1 January 2020, in µs.
const START_US = 1577808000000000;
const LINE = /^\d+,[RW],\d+,\d+,\d{15,16}$/;

/**
 * Block traces of Alibaba Cloud, 2020 (Li et al.: An In-Depth Analysis of Cloud Block Storage Workloads in
 * Large-Scale Production, IISWC '20).
 */
export const alibabaFormat: TextFormat = {
  kind: 'text',
  name: 'alibaba',
  summary: 'Alibaba Cloud 2020: CSV of device, R|W, offset, length, timestamp in µs',
  facts: '5 columns, times in µs, bytes',
  separator: 'comma',
  columns: ['device', 'opcode', 'offset', 'length', 'time'],
  extension: '.alibaba.csv',
  limits: { unitBytes: 1, tickNs: US, flush: false, discard: false, flags: false, volumes: true, responseTickNs: 0 },
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return '5 comma-separated columns with R or W in the second and µs since 1970 in the last';
  },
  create: (): RowReader => new AlibabaReader(),
  writer: (): OperationWriter => new AlibabaWriter(),
};

class AlibabaReader implements RowReader {
  private readonly clock = new RelativeClock(US);

  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.flow = row.volume(0, 'device');
    const opcode = row.letter(1);
    if (opcode === READ) out.op = BlockOp.read;
    else if (opcode === WRITE) out.op = BlockOp.write;
    else row.fail(1, `opcode is neither R nor W but "${row.text(1)}"`);
    out.offsetBytes = row.uint(2, 'offset');
    out.lengthBytes = row.length(3, 'length', 1);
    out.timeNs = this.clock.ns(row, 4, row.uint(4, 'time'), 0);
    return true;
  }
}

class AlibabaWriter implements OperationWriter {
  write(operation: Operation, sink: ByteSink): void {
    sink.uint(operation.flow);
    sink.ascii(operation.op === BlockOp.read ? ',R,' : ',W,');
    sink.uint(operation.offsetBytes);
    sink.byte(44);
    sink.uint(operation.lengthBytes);
    sink.byte(44);
    sink.uint(START_US + Math.floor(operation.timeNs / US));
    sink.byte(10);
  }
}

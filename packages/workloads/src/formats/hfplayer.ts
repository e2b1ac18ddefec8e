import { BlockOp } from '@flashstack/block-device';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { RelativeClock } from './clock.js';
import type { RowReader, TextFormat } from './format.js';

const MS_NS = 1e6;
const MS_DIGITS = 6;
const ZERO = 48;
const ONE = 49;
const LINE = /^\d+(?:\.\d+)?,\d+,(\d+),(\d+),[01]$/;

/**
 * The CSV of hfplayer (Haghdoost et al.: On the Accuracy and Scalability of Intensive I/O Workload Replay, FAST '17) and
 * of replayers like it. Note the polarity: 1 is a read.
 */
export const hfplayerFormat: TextFormat = {
  kind: 'text',
  name: 'hfplayer',
  summary: 'hfplayer: CSV of time in ms, disk, offset, size, 1 read | 0 write',
  facts: '5 columns, times in ms, bytes',
  separator: 'comma',
  columns: ['time', 'disk', 'offset', 'size', 'type'],
  extension: '.hfplayer.csv',
  recognise(lines: readonly string[]): string | null {
    const whole = (line: string): boolean => {
      const found = LINE.exec(line);
      return found !== null && Number(found[1]) % 512 === 0 && Number(found[2]) % 512 === 0 && Number(found[2]) > 0;
    };
    if (lines.length === 0 || !lines.every(whole)) return null;
    return '5 comma-separated numbers, offset and size multiples of 512, the last 0 or 1';
  },
  create: (): RowReader => new HfplayerReader(),
};

class HfplayerReader implements RowReader {
  private readonly clock = new RelativeClock(MS_NS);

  read(row: Row, out: Operation): boolean {
    row.require(5);
    out.timeNs = this.clock.ns(row, 0, row.integerPart(0, 'time'), row.fractionPart(0, MS_DIGITS, 'time'));
    out.flow = row.volume(1, 'disk');
    out.offsetBytes = row.uint(2, 'offset');
    out.lengthBytes = row.length(3, 'size', 1);
    const type = row.letter(4);
    if (type === ZERO) out.op = BlockOp.write;
    else if (type === ONE) out.op = BlockOp.read;
    else row.fail(4, `type is neither 0 (write) nor 1 (read) but "${row.text(4)}"`);
    return true;
  }
}

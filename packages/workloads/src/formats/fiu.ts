import { BlockOp } from '@flashstack/block-device';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import { deviceName, deviceNumber, SECTOR_BYTES } from './block-trace.js';
import { RelativeClock } from './clock.js';
import type { RowReader, TextFormat } from './format.js';

const READ = 82;
const WRITE = 87;
// Fields counted from the end of the line, because the name of a process may hold spaces.
const FROM_END = { sector: 6, sectors: 5, type: 4, major: 3, minor: 2 } as const;
const LINE = /^\d+ \d+ .+ \d+ \d+ [RW] \d+ \d+ [0-9a-fA-F]{32}\s*$/;

/**
 * Block traces of Florida International University (Koller, Rangaswami: I/O Deduplication: Utilizing Content
 * Similarity to Improve I/O Performance, FAST '10; SNIA IOTTA). The hashes of contents are not used.
 */
export const fiuFormat: TextFormat = {
  kind: 'text',
  name: 'fiu',
  summary: 'FIU: time in ns, pid, process, start sector, sectors, R|W, major, minor, MD5',
  facts: '9 columns, times in ns, sectors of 512 B',
  separator: 'space',
  columns: ['time', 'pid', 'process', 'sector', 'sectors', 'type', 'major', 'minor', 'md5'],
  extension: '.fiu.txt',
  recognise(lines: readonly string[]): string | null {
    if (lines.length === 0 || !lines.every((line) => LINE.test(line))) return null;
    return '9 columns with R or W in the sixth and an MD5 in the last';
  },
  create: (): RowReader => new FiuReader(),
};

class FiuReader implements RowReader {
  private readonly clock = new RelativeClock(1);

  volumeName(flow: number): string {
    return deviceName(flow);
  }

  read(row: Row, out: Operation): boolean {
    row.require(9);
    const end = row.fields;
    out.timeNs = this.clock.ns(row, 0, row.uint(0, 'time'), 0);
    out.offsetBytes = row.bytes(end - FROM_END.sector, 'sector', SECTOR_BYTES);
    out.lengthBytes = row.length(end - FROM_END.sectors, 'sectors', SECTOR_BYTES);
    const type = row.letter(end - FROM_END.type);
    if (type === READ) out.op = BlockOp.read;
    else if (type === WRITE) out.op = BlockOp.write;
    else row.fail(end - FROM_END.type, `type is neither R nor W but "${row.text(end - FROM_END.type)}"`);
    const major = row.uint(end - FROM_END.major, 'major');
    out.flow = deviceNumber(row, end - FROM_END.major, major, row.uint(end - FROM_END.minor, 'minor'));
    return true;
  }
}

import { BlockOp } from '@flashstack/block-device';
import type { BinaryRecord } from '../binary-record.js';
import type { Operation } from '../operation.js';
import { SECTOR_BYTES } from './block-trace.js';
import type { BinaryFormat, BinaryReader } from './format.js';

const RECORD_BYTES = 32;
const US = 1000;
const SAMPLE_RECORDS = 64;
// Operation codes of the SCSI block commands (SBC-4): READ and WRITE with 6, 10, 12 and 16 bytes, SYNCHRONIZE CACHE.
const reads: readonly number[] = [0x08, 0x28, 0xa8, 0x88];
const writes: readonly number[] = [0x0a, 0x2a, 0xaa, 0x8a];
const flushes: readonly number[] = [0x35, 0x91];

/**
 * vscsiStats traces of VMware's hypervisor as used by CloudPhysics (Waldspurger et al.: Efficient MRC Construction with
 * SHARDS, FAST '15), records of version 1: serial, bytes, segments, command, version, block, time in µs.
 */
export const vscsiFormat: BinaryFormat = {
  kind: 'binary',
  name: 'vscsi',
  summary: 'VMware vscsiStats (CloudPhysics), binary records of 32 B',
  facts: 'little endian, times in µs, sectors of 512 B, lengths in bytes',
  columns: ['serial', 'bytes', 'segments', 'command', 'version', 'sector', 'time'],
  extension: '.vscsi',
  recognise(bytes: Uint8Array, whole: boolean): string | null {
    if (whole && bytes.length % RECORD_BYTES !== 0) return null;
    const records = Math.min(Math.floor(bytes.length / RECORD_BYTES), SAMPLE_RECORDS);
    if (records < 2) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let i = 0; i < records; i++) if (!plausible(view, i * RECORD_BYTES)) return null;
    return `the first ${records} records of 32 bytes hold SCSI reads and writes of whole sectors, in order of time`;
  },
  create: (): BinaryReader => new VscsiReader(),
};

function plausible(view: DataView, at: number): boolean {
  const command = view.getUint16(at + 12, true);
  const bytes = view.getUint32(at + 4, true);
  if (!reads.includes(command) && !writes.includes(command) && !flushes.includes(command)) return false;
  if (view.getUint16(at + 14, true) !== view.getUint16(14, true) || bytes % SECTOR_BYTES !== 0) return false;
  return at === 0 || timeOf(view, at) >= timeOf(view, at - RECORD_BYTES);
}

class VscsiReader implements BinaryReader {
  otherRequests = 0;
  firstOther: string | null = null;
  private first = -1;

  lengthOf(): number {
    return RECORD_BYTES;
  }

  read(record: BinaryRecord, out: Operation): boolean {
    const { view, at } = record;
    const command = view.getUint16(at + 12, true);
    const isFlush = flushes.includes(command);
    const isRead = reads.includes(command);
    if (!isFlush && !isRead && !writes.includes(command)) {
      if (command > 0xff) record.fail(`command 0x${command.toString(16)} is no SCSI operation code (one byte)`);
      this.otherRequests++;
      this.firstOther ??= `record ${record.number}: SCSI command 0x${command.toString(16).padStart(2, '0')}`;
      return false;
    }
    const time = timeOf(view, at);
    if (this.first < 0) this.first = time;
    out.timeNs = (time - this.first) * US;
    if (!Number.isSafeInteger(out.timeNs)) record.fail('time is more than 104 days from that of the first record');
    out.op = isFlush ? BlockOp.flush : isRead ? BlockOp.read : BlockOp.write;
    out.flow = 0;
    out.lengthBytes = isFlush ? 0 : view.getUint32(at + 4, true);
    const sector = view.getUint32(at + 20, true) * 2 ** 32 + view.getUint32(at + 16, true);
    out.offsetBytes = isFlush ? 0 : sector * SECTOR_BYTES;
    if (!Number.isSafeInteger(out.offsetBytes)) record.fail('sector is too large (the limit is 2^53 bytes)');
    return true;
  }
}

function timeOf(view: DataView, at: number): number {
  return view.getUint32(at + 28, true) * 2 ** 32 + view.getUint32(at + 24, true);
}

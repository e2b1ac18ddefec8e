import { CRC32C, TableCrc } from '@flashstack/codec';
import { BLOCK_BYTES } from './layout.js';

/** Block numbers in one descriptor. */
const DESCRIBED: number = (BLOCK_BYTES - 32) / 4;
const MAGIC = 0x6a72_6e6c;
const crc = new TableCrc(CRC32C);

/** What a block of the journal is. */
export const RecordKind = { none: 0, header: 1, descriptor: 2, commit: 3 } as const;

/** Where recovery begins. */
export interface JournalHeader {
  readonly tid: number;
  /** Position in the journal, 1 … its length − 1. */
  readonly position: number;
}

function record(kind: number, tid: number): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(BLOCK_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, kind, true);
  view.setFloat64(8, tid, true);
  return { bytes, view };
}

/** Kind of a journal block of this transaction; `none` for anything else. */
export function kindOf(bytes: Uint8Array, tid: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) !== MAGIC || view.getFloat64(8, true) !== tid) return RecordKind.none;
  return view.getUint32(4, true);
}

/** What the checksum in a header block must be. */
export function headerChecksum(bytes: Uint8Array): number {
  return crc.checksum(bytes.subarray(0, 20)) >>> 0;
}

/** The header block. */
export function encodeHeader({ tid, position }: JournalHeader): Uint8Array {
  const { bytes, view } = record(RecordKind.header, tid);
  view.setUint32(16, position, true);
  view.setUint32(20, headerChecksum(bytes), true);
  return bytes;
}

/** The header, or null if the block is none. */
export function decodeHeader(bytes: Uint8Array): JournalHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const tid = view.getFloat64(8, true);
  if (kindOf(bytes, tid) !== RecordKind.header) return null;
  if (view.getUint32(20, true) !== headerChecksum(bytes)) return null;
  // Numbers above would not grow by one any more.
  if (!(Number.isSafeInteger(tid) && tid >= 1 && tid < 2 ** 52)) return null;
  return { tid, position: view.getUint32(16, true) };
}

/** All journal blocks of a transaction in order: descriptors, each before the blocks it names, and the commit block. */
export function encodeTransaction(tid: number, blocks: readonly number[], copies: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = [];
  for (let from = 0; from < blocks.length; from += DESCRIBED) {
    const count = Math.min(DESCRIBED, blocks.length - from);
    const { bytes, view } = record(RecordKind.descriptor, tid);
    view.setUint32(16, count, true);
    for (let at = 0; at < count; at++) view.setUint32(32 + at * 4, blocks[from + at], true);
    out.push(bytes, ...copies.slice(from, from + count));
  }
  const { bytes, view } = record(RecordKind.commit, tid);
  view.setUint32(16, checksumOf(out), true);
  out.push(bytes);
  return out;
}

/** Checksum of the blocks before a commit block. */
export function checksumOf(blocks: readonly Uint8Array[]): number {
  let sum = 0;
  for (const block of blocks) sum = crc.update(sum, block);
  return sum >>> 0;
}

/** The checksum that a commit block tells. */
export function checksumIn(commit: Uint8Array): number {
  return new DataView(commit.buffer, commit.byteOffset).getUint32(16, true);
}

/** The block numbers of a descriptor. */
export function blocksIn(descriptor: Uint8Array): number[] {
  const view = new DataView(descriptor.buffer, descriptor.byteOffset);
  const count = Math.min(view.getUint32(16, true), DESCRIBED);
  return Array.from({ length: count }, (_, at) => view.getUint32(32 + at * 4, true));
}

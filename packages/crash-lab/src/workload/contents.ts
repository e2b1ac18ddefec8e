import { mix32 } from '@flashstack/sim';

/** Bytes of a sector, which says which file, sector and version it is. */
const SECTOR_BYTES = 512;
/** Bytes of the record that fills a sector. */
const RECORD_BYTES = 16;
/** Operations of one program; the version of a write is its place among all programs. */
const STEPS_OF_PROGRAM = 1 << 16;

/** What a sector says about itself. */
export interface SectorLabel {
  /** Of the path through which it was written, see `fileNumber`. */
  readonly file: number;
  /** Position in the file, units of 512 bytes. */
  readonly sector: number;
  /** Of the operation that wrote it, see `versionOf`. */
  readonly version: number;
}

/** The number that contents carry for a path. */
export function fileNumber(path: string): number {
  let hash = path.length;
  for (let at = 0; at < path.length; at++) hash = mix32(Math.imul(hash, 31) + path.charCodeAt(at));
  return hash;
}

/** The version that a write has: 1 and up for the base state (`process` −1), then those of each program. */
export function versionOf(process: number, step: number): number {
  return (process + 1) * STEPS_OF_PROGRAM + step + 1;
}

/** Program and step of a version. */
export function writerOf(version: number): { process: number; step: number } {
  return { process: Math.floor((version - 1) / STEPS_OF_PROGRAM) - 1, step: (version - 1) % STEPS_OF_PROGRAM };
}

function checksum(file: number, sector: number, version: number): number {
  return mix32(file ^ mix32(sector ^ mix32(version)));
}

const sectorBytes = new Uint8Array(SECTOR_BYTES);
const sectorWords = new DataView(sectorBytes.buffer);

/** Fills `into` with what a write of this version puts at `offset` of a file. */
export function fillContents(into: Uint8Array, file: number, version: number, offset: number): void {
  for (let at = 0; at < into.length; ) {
    const place = offset + at;
    const skipped = place % SECTOR_BYTES;
    const length = Math.min(SECTOR_BYTES - skipped, into.length - at);
    fillSector(file, (place - skipped) / SECTOR_BYTES, version);
    into.set(sectorBytes.subarray(skipped, skipped + length), at);
    at += length;
  }
}

function fillSector(file: number, sector: number, version: number): void {
  sectorWords.setUint32(0, file, true);
  sectorWords.setUint32(4, sector, true);
  sectorWords.setUint32(8, version, true);
  sectorWords.setUint32(12, checksum(file, sector, version), true);
  for (let filled = RECORD_BYTES; filled < SECTOR_BYTES; filled *= 2) sectorBytes.copyWithin(filled, 0, filled);
}

/** The label that a piece of contents carries at `at` (a multiple of 16), or null: no such record is there. */
export function labelAt(bytes: Uint8Array, at: number): SectorLabel | null {
  if (at + RECORD_BYTES > bytes.length) return null;
  const words = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_BYTES);
  const label = { file: words.getUint32(0, true), sector: words.getUint32(4, true), version: words.getUint32(8, true) };
  return words.getUint32(12, true) === checksum(label.file, label.sector, label.version) ? label : null;
}

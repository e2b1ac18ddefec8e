import { FsError } from '@flashstack/vfs';
import { byteString, put16, put32, putByteString, u16, u32 } from './bytes.js';
import { crc } from './checksums.js';

/** Bytes of an entry before its name. */
const HEADER = 8;
/** The fake entry at the end of a block that carries its checksum. */
export const TAIL_BYTES = 12;
const TAIL_TYPE = 0xde;
/** Longest name. */
export const NAME_BYTES = 255;

/** File types in directory entries, by kind of file (`S_IFMT >> 12`). */
const TYPE_OF_KIND: readonly number[] = [0, 5, 3, 0, 2, 0, 4, 0, 1, 0, 7, 0, 6];
const KIND_OF_TYPE: readonly number[] = [0, 8, 4, 2, 6, 1, 12, 10];

export function typeOfKind(kind: number): number {
  return TYPE_OF_KIND[kind] ?? 0;
}

/** The kind of file that an entry's type says; 0: it says nothing. */
export function kindOfType(type: number): number {
  return KIND_OF_TYPE[type] ?? 0;
}

/** Bytes that an entry with a name of this length needs. */
export function entryBytes(nameBytes: number): number {
  return (HEADER + nameBytes + 3) & ~3;
}

/** `inode` of the entry at `at`; 0: free. */
export function entryInode(block: Uint8Array, at: number): number {
  return u32(block, at);
}

export function entryLength(block: Uint8Array, at: number): number {
  return u16(block, at + 4);
}

export function entryName(block: Uint8Array, at: number): string {
  return byteString(block, at + HEADER, block[at + 6]);
}

export function entryType(block: Uint8Array, at: number): number {
  return block[at + 7];
}

/** Writes an entry; `length`: its `rec_len`. */
export function writeEntry(
  block: Uint8Array,
  at: number,
  ino: number,
  length: number,
  name: string,
  type: number,
): void {
  put32(block, at, ino);
  put16(block, at + 4, length);
  block[at + 6] = name.length;
  block[at + 7] = type;
  putByteString(block, at + HEADER, name);
}

export function setEntryLength(block: Uint8Array, at: number, length: number): void {
  put16(block, at + 4, length);
}

/** True if a name is that of the entry at `at`. */
export function namedSo(block: Uint8Array, at: number, name: string): boolean {
  if (block[at + 6] !== name.length) return false;
  for (let i = 0; i < name.length; i++) if (block[at + HEADER + i] !== name.charCodeAt(i)) return false;
  return true;
}

/** True if a block ends in the fake entry that carries a checksum. */
export function hasTail(block: Uint8Array, end: number): boolean {
  const at = end - TAIL_BYTES;
  return (
    u32(block, at) === 0 && u16(block, at + 4) === TAIL_BYTES && block[at + 6] === 0 && block[at + 7] === TAIL_TYPE
  );
}

/** Writes the fake entry at the end, without a checksum. */
export function writeTail(block: Uint8Array, end: number): void {
  const at = end - TAIL_BYTES;
  put32(block, at, 0);
  put16(block, at + 4, TAIL_BYTES);
  block[at + 6] = 0;
  block[at + 7] = TAIL_TYPE;
}

export function leafChecksum(inodeSeed: number, block: Uint8Array): number {
  return crc(inodeSeed, block, 0, block.length - TAIL_BYTES);
}

export function sealLeaf(inodeSeed: number, block: Uint8Array): void {
  put32(block, block.length - 4, leafChecksum(inodeSeed, block));
}

/**
 * Throws unless the entries of a range tile it.
 * @param end first byte behind the last entry.
 * @param inodes highest inode number.
 * @throws FsError EUCLEAN that names `where`, the offset and the field.
 */
export function checkEntries(block: Uint8Array, from: number, end: number, inodes: number, where: string): void {
  for (let at = from; at < end; ) {
    const length = entryLength(block, at);
    const wrong = (what: string): never => {
      throw new FsError('EUCLEAN', `${where}, entry at ${at}: ${what}`);
    };
    if (length < entryBytes(1) && !(length >= HEADER && entryInode(block, at) === 0)) wrong(`rec_len is ${length}`);
    if (length % 4 !== 0) wrong(`rec_len is ${length}, no multiple of 4`);
    if (at + length > end) wrong(`rec_len is ${length}, beyond the end at ${end}`);
    const ino = entryInode(block, at);
    if (ino !== 0) {
      const nameBytes = block[at + 6];
      if (entryBytes(nameBytes) > length) wrong(`a name of ${nameBytes} bytes in an entry of ${length}`);
      if (nameBytes === 0) wrong('an empty name');
      if (ino > inodes) wrong(`inode ${ino} of ${inodes}`);
    }
    at += length;
  }
}

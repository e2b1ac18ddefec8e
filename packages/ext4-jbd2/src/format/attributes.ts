import { FsError } from '@flashstack/vfs';
import { byteString, put16, put32, putByteString, u16, u32 } from './bytes.js';
import { GOOD_OLD_BYTES } from './inode-record.js';

export const ATTRIBUTE_MAGIC = 0xea02_0000;
/** Bytes of the header of an attribute block. */
export const ATTRIBUTE_HEADER = 32;
const ENTRY = 16;
/** Prefixes of names, by `e_name_index`. */
const PREFIXES: Readonly<Record<number, string>> = {
  0: '',
  1: 'user.',
  2: 'system.posix_acl_access',
  3: 'system.posix_acl_default',
  4: 'trusted.',
  6: 'security.',
  7: 'system.',
  8: 'system.richacl',
};
const SYSTEM = 7;

/** An extended attribute where it lies. */
export interface StoredAttribute {
  readonly index: number;
  /** Without the prefix that the index stands for. */
  readonly suffix: string;
  readonly value: Uint8Array;
}

/** Name of an attribute as programs see it. */
export function attributeName({ index, suffix }: StoredAttribute): string {
  return `${PREFIXES[index] ?? `index ${index}.`}${suffix}`;
}

/** Index and rest of a name, or null if no index stands for its prefix. */
export function splitName(name: string): { readonly index: number; readonly suffix: string } | null {
  for (const index of [2, 3, 8]) if (name === PREFIXES[index]) return { index, suffix: '' };
  for (const index of [1, 4, 6, 7]) {
    if (name.startsWith(PREFIXES[index])) return { index, suffix: name.slice(PREFIXES[index].length) };
  }
  return null;
}

/**
 * Entries of a list from `at` to the terminating word or `end`; values count from `base`.
 * @throws FsError EUCLEAN that names `where` and the entry.
 */
function readEntries(bytes: Uint8Array, from: number, base: number, end: number, where: string): StoredAttribute[] {
  const found: StoredAttribute[] = [];
  for (let at = from; at + 4 <= end && u32(bytes, at) !== 0; ) {
    const wrong = (what: string): never => {
      throw new FsError('EUCLEAN', `${where}, attribute ${found.length}: ${what}`);
    };
    const nameBytes = bytes[at];
    const next = at + ((ENTRY + nameBytes + 3) & ~3);
    if (next > end) wrong(`a name of ${nameBytes} bytes goes beyond the end`);
    const valueAt = base + u16(bytes, at + 2);
    const size = u32(bytes, at + 8);
    if (u32(bytes, at + 4) !== 0) wrong('its value is in an inode of its own (ea_inode), which is not supported');
    if (size > 0 && (valueAt < next || valueAt + size > end))
      wrong(`a value of ${size} bytes at ${valueAt} does not fit`);
    const suffix = byteString(bytes, at + ENTRY, nameBytes);
    found.push({ index: bytes[at + 1], suffix, value: bytes.slice(valueAt, valueAt + size) });
    at = next;
  }
  return found;
}

/** Attributes within an inode record; values count from the first entry. @throws FsError EUCLEAN */
export function attributesInInode(record: Uint8Array, inodeBytes: number, where: string): StoredAttribute[] {
  if (inodeBytes <= GOOD_OLD_BYTES) return [];
  const header = GOOD_OLD_BYTES + u16(record, GOOD_OLD_BYTES);
  if (header + 4 > inodeBytes || u32(record, header) !== ATTRIBUTE_MAGIC) return [];
  return readEntries(record, header + 4, header + 4, inodeBytes, where);
}

/** Attributes of a block; values count from its start. @throws FsError EUCLEAN */
export function attributesInBlock(block: Uint8Array, where: string): StoredAttribute[] {
  if (u32(block, 0) !== ATTRIBUTE_MAGIC) {
    throw new FsError('EUCLEAN', `${where}: h_magic is 0x${u32(block, 0).toString(16)}, expected 0xea020000`);
  }
  if (u32(block, 8) !== 1) throw new FsError('EUCLEAN', `${where}: h_blocks is ${u32(block, 8)}, expected 1`);
  return readEntries(block, ATTRIBUTE_HEADER, 0, block.length, where);
}

/** The part of inline contents that does not fit into `i_block`. */
export function inlineRest(attributes: readonly StoredAttribute[]): Uint8Array | null {
  return attributes.find(({ index, suffix }) => index === SYSTEM && suffix === 'data')?.value ?? null;
}

/** Bytes that an attribute takes: entry and value, each rounded up to 4. */
export function entrySpace({ suffix, value }: StoredAttribute): number {
  return ((ENTRY + suffix.length + 3) & ~3) + ((value.length + 3) & ~3);
}

/** Writes entries from `from` on and their values from `end` backwards; offsets of values count from `base`. */
export function writeEntries(
  bytes: Uint8Array,
  from: number,
  base: number,
  end: number,
  attributes: readonly StoredAttribute[],
  hashOf: (attribute: StoredAttribute) => number,
): void {
  let at = from;
  let valueEnd = end;
  for (const attribute of attributes) {
    const { index, suffix, value } = attribute;
    valueEnd -= (value.length + 3) & ~3;
    bytes[at] = suffix.length;
    bytes[at + 1] = index;
    put16(bytes, at + 2, value.length === 0 ? 0 : valueEnd - base);
    put32(bytes, at + 4, 0);
    put32(bytes, at + 8, value.length);
    put32(bytes, at + 12, hashOf(attribute));
    putByteString(bytes, at + ENTRY, suffix);
    bytes.set(value, valueEnd);
    at += (ENTRY + suffix.length + 3) & ~3;
  }
}

/** `e_hash` of an entry in a block: of its name and its value in words. */
export function entryHash({ suffix, value }: StoredAttribute): number {
  let hash = 0;
  for (let at = 0; at < suffix.length; at++) hash = (hash << 5) ^ (hash >>> 27) ^ suffix.charCodeAt(at);
  const padded = new Uint8Array((value.length + 3) & ~3);
  padded.set(value);
  for (let at = 0; at < padded.length; at += 4) hash = (hash << 16) ^ (hash >>> 16) ^ u32(padded, at);
  return hash >>> 0;
}

/** `h_hash` of a block, by which blocks with the same attributes can be found. */
export function blockHash(attributes: readonly StoredAttribute[]): number {
  let hash = 0;
  for (const attribute of attributes) {
    const entry = entryHash(attribute);
    if (entry === 0) return 0;
    hash = (hash << 16) ^ (hash >>> 16) ^ entry;
  }
  return hash >>> 0;
}

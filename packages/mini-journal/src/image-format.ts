import {
  FileKind,
  type ImageBytes,
  type ImageField,
  type ImageFormat,
  type ImageMap,
  type ImageStructure,
} from '@flashstack/vfs';
import { DIRECT, FAN, MAP_WORDS } from './block-map.js';
import { BLOCK_SLOTS, SLOT_BYTES } from './directory.js';
import { blocksIn, checksumOf, decodeHeader, headerChecksum, kindOf, RecordKind } from './journal-records.js';
import { BLOCK_BYTES, decodeSuperblock, INODE_BYTES, type Layout } from './layout.js';
import { kindIn, MAP_OFFSET } from './node.js';

/** Fields of a structure: name, offset, width, kind. */
type Row = readonly [name: string, offset: number, width: 1 | 2 | 4 | 8, kind: ImageField['kind'], encoding?: 'float'];

const SUPERBLOCK: readonly Row[] = [
  ['magic', 0, 4, 'magic'],
  ['blocks', 4, 4, 'count'],
  ['inodes', 8, 4, 'count'],
  ['journalBlocks', 12, 4, 'count'],
];
const INODE: readonly Row[] = [
  ['mode', 0, 2, 'flags'],
  ['links', 4, 4, 'count'],
  ['size', 16, 8, 'length', 'float'],
  ['generation', 24, 4, 'number'],
  ['device', 28, 4, 'number'],
  ['parent', 32, 4, 'inode'],
  ['modifiedSec', 48, 8, 'number', 'float'],
  ['modifiedNsec', 76, 4, 'number'],
  ...Array.from({ length: MAP_WORDS }, (_, at): Row => [`map[${at}]`, MAP_OFFSET + at * 4, 4, 'pointer']),
];
const RECORD: readonly Row[] = [
  ['magic', 0, 4, 'magic'],
  ['kind', 4, 4, 'flags'],
  ['tid', 8, 8, 'number', 'float'],
];
/** Pointers of an indirect block, and entries of a directory, that are told of one by one. */
const FIRST_FEW = 16;

/** What lies where in a mini-journal image. Only the journal has checksums. */
export const miniJournalImage: ImageFormat = { map: (image) => new MapOfImage(image).map() };

class MapOfImage {
  private readonly image: ImageBytes;
  private readonly layout: Layout;
  private readonly structures: ImageStructure[] = [];
  private readonly seen: Set<number> = new Set();

  constructor(image: ImageBytes) {
    this.image = image;
    this.layout = decodeSuperblock(image.read(0, BLOCK_BYTES), Math.floor(image.length / BLOCK_BYTES));
  }

  map(): ImageMap {
    const { layout } = this;
    this.add('superblock', 0, 16, SUPERBLOCK);
    for (let at = 0; at < layout.bitmapBlocks; at++)
      this.add(`bitmap ${at}`, (layout.bitmapStart + at) * BLOCK_BYTES, Math.ceil(layout.blocks / 8), []);
    for (let ino = 1; ino < layout.inodes; ino++) this.addInode(ino);
    this.addJournal();
    const { structures } = this;
    return { blockBytes: BLOCK_BYTES, structures, fixChecksums: (image, { name }) => seal(image, layout, name) };
  }

  private add(name: string, at: number, length: number, rows: readonly Row[]): void {
    const fields = rows.map(([field, offset, width, kind, encoding]) => ({
      name: field,
      at: at + offset,
      width,
      kind,
      ...(encoding === undefined ? {} : { encoding }),
    }));
    this.structures.push({ name, at, length, fields });
  }

  private addInode(ino: number): void {
    const at = this.layout.inodeStart * BLOCK_BYTES + ino * INODE_BYTES;
    const record = this.image.read(at, INODE_BYTES);
    const kind = kindIn(record);
    if (kind === 0) return;
    this.add(`inode ${ino}`, at, INODE_BYTES, INODE);
    const view = new DataView(record.buffer, record.byteOffset);
    const words = Array.from({ length: MAP_WORDS }, (_, word) => view.getUint32(MAP_OFFSET + word * 4, true));
    const direct = words.slice(0, DIRECT);
    if (words[DIRECT] !== 0) this.addIndirect(ino, words[DIRECT]);
    if (words[DIRECT + 1] !== 0)
      for (const child of this.addIndirect(ino, words[DIRECT + 1])) this.addIndirect(ino, child);
    if (kind !== FileKind.directory) return;
    for (const block of direct) if (block !== 0) this.addDirectory(ino, block);
  }

  private addIndirect(ino: number, block: number): number[] {
    const bytes = this.image.read(block * BLOCK_BYTES, BLOCK_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const used = Array.from({ length: FAN }, (_, at) => view.getUint32(at * 4, true)).filter((word) => word !== 0);
    const rows = Array.from({ length: FIRST_FEW }, (_, at): Row => [`pointer[${at}]`, at * 4, 4, 'pointer']);
    if (!this.seen.has(block))
      this.add(`indirect block ${block} of inode ${ino}`, block * BLOCK_BYTES, BLOCK_BYTES, rows);
    this.seen.add(block);
    return used;
  }

  private addDirectory(ino: number, block: number): void {
    const rows: Row[] = [];
    for (let slot = 0; slot < BLOCK_SLOTS; slot++) {
      const at = slot * SLOT_BYTES;
      rows.push(
        [`entry[${slot}].ino`, at, 4, 'inode'],
        [`entry[${slot}].kind`, at + 4, 1, 'flags'],
        [`entry[${slot}].length`, at + 5, 1, 'length'],
        [`entry[${slot}].name[0]`, at + 8, 1, 'number'],
      );
    }
    this.add(`directory block ${block} of inode ${ino}`, block * BLOCK_BYTES, BLOCK_BYTES, rows);
  }

  private addJournal(): void {
    const { journalStart, journalBlocks } = this.layout;
    const at = journalStart * BLOCK_BYTES;
    this.add('journal header', at, 24, [...RECORD, ['position', 16, 4, 'pointer'], ['checksum', 20, 4, 'checksum']]);
    for (let position = 1; position < journalBlocks; position++) {
      const from = at + position * BLOCK_BYTES;
      const bytes = this.image.read(from, BLOCK_BYTES);
      const kind = kindOf(bytes, new DataView(bytes.buffer, bytes.byteOffset).getFloat64(8, true));
      if (kind === RecordKind.commit)
        this.add(`journal commit ${position}`, from, 24, [...RECORD, ['checksum', 16, 4, 'checksum']]);
      if (kind !== RecordKind.descriptor) continue;
      const rows = blocksIn(bytes)
        .slice(0, FIRST_FEW)
        .map((_, tag): Row => [`block[${tag}]`, 32 + tag * 4, 4, 'pointer']);
      this.add(`journal descriptor ${position}`, from, 32 + rows.length * 4, [
        ...RECORD,
        ['count', 16, 4, 'count'],
        ...rows,
      ]);
    }
  }
}

/** Makes the journal's checksums right: of its header, or of the transaction that a block belongs to. */
function seal(image: ImageBytes, { journalStart, journalBlocks }: Layout, name: string): void {
  if (!name.startsWith('journal')) return;
  const block = (position: number): Uint8Array => image.read((journalStart + position) * BLOCK_BYTES, BLOCK_BYTES);
  if (name === 'journal header') {
    const bytes = block(0);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(20, headerChecksum(bytes), true);
    image.write(journalStart * BLOCK_BYTES, bytes);
    return;
  }
  const header = decodeHeader(block(0));
  if (header === null) return;
  let { tid, position } = header;
  const covered: Uint8Array[] = [];
  // Walks the log as recovery does, and writes into each commit block what recovery computes.
  for (let steps = 0; steps < journalBlocks; steps++) {
    if (!(position >= 1 && position < journalBlocks)) return;
    const bytes = block(position);
    const kind = kindOf(bytes, tid);
    if (kind === RecordKind.commit) {
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(16, checksumOf(covered), true);
      image.write((journalStart + position) * BLOCK_BYTES, bytes);
      covered.length = 0;
      tid++;
    } else if (kind === RecordKind.descriptor) covered.push(bytes);
    else return;
    position = position + 1 === journalBlocks ? 1 : position + 1;
    if (kind !== RecordKind.descriptor) continue;
    for (let left = blocksIn(bytes).length; left > 0; left--) {
      if (covered.length >= journalBlocks) return;
      covered.push(block(position));
      position = position + 1 === journalBlocks ? 1 : position + 1;
    }
  }
}

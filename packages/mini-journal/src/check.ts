import { type BlockDevice, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import { DIRECT, FAN, MAP_WORDS, MOST_PAGES } from './block-map.js';
import { readBlocks, unitsOf } from './device-io.js';
import { BLOCK_SLOTS, SLOT_BYTES } from './directory.js';
import { ROOT } from './format.js';
import { decodeHeader } from './journal-records.js';
import { BLOCK_BYTES, decodeSuperblock, INODE_BYTES, type Layout } from './layout.js';
import { isKind, kindIn, MAP_OFFSET } from './node.js';
import { replay } from './replay.js';

/** Blocks that are read at a time. */
const CHUNK = 256;

/** What is known of an inode. */
interface Found {
  readonly kind: number;
  readonly links: number;
  readonly size: number;
  readonly parent: number;
  readonly view: DataView;
  /** Data blocks by page. */
  readonly pages: Map<number, number>;
  /** Names that lead to it, and directories in it. */
  names: number;
  children: number;
  entered: number;
}

/**
 * What is wrong with a volume that is not mounted, in words that name structure, number and reason. Transactions in the
 * journal count as replayed.
 * @param orphans inodes without names are no fault: true for a volume that nobody has recovered yet. Default false.
 */
export function* checkMiniJournal(device: BlockDevice, orphans: boolean = false): Task<string[]> {
  if (unitsOf(device) === 0) return [`device: blocks of ${device.blockBytes} bytes`];
  const blocks = Math.floor(device.blockCount / unitsOf(device));
  const image: Uint8Array[] = [];
  for (let block = 0; block < blocks; block += CHUNK) {
    const count = Math.min(CHUNK, blocks - block);
    const bytes = yield* readBlocks(device, block, count, Origin.unknown);
    for (let at = 0; at < count; at++) image.push(bytes.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES));
  }
  try {
    const layout = decodeSuperblock(image[0], blocks);
    const { journalStart, journalBlocks } = layout;
    const header = decodeHeader(image[journalStart]);
    if (header === null) return ['journal: block 0 is no header'];
    if (!(header.position >= 1 && header.position < journalBlocks)) return ['journal: header position'];
    const log = image.slice(journalStart, journalStart + journalBlocks);
    for (const [block, bytes] of replay(log, layout, header).places) image[block] = bytes;
    return new Check(layout, image, orphans).run();
  } catch (error) {
    if (error instanceof FsError) return [error.message];
    throw error;
  }
}

class Check {
  private readonly faults: string[] = [];
  private readonly layout: Layout;
  private readonly image: readonly Uint8Array[];
  private readonly orphans: boolean;
  private readonly inodes: Map<number, Found> = new Map();
  /** Per block: who uses it. */
  private readonly users: (string | undefined)[] = [];

  constructor(layout: Layout, image: readonly Uint8Array[], orphans: boolean) {
    this.layout = layout;
    this.image = image;
    this.orphans = orphans;
  }

  run(): string[] {
    const { layout } = this;
    for (let block = 0; block < layout.dataStart; block++) this.users[block] = 'the layout';
    for (let ino = 1; ino < layout.inodes; ino++) this.readInode(ino);
    const root = this.inodes.get(ROOT);
    if (root?.kind !== FileKind.directory) return [...this.faults, `inode ${ROOT}: the root is no directory`];
    for (const [ino, inode] of this.inodes) if (inode.kind === FileKind.directory) this.readDirectory(ino, inode);
    for (const [ino, inode] of this.inodes) this.checkNames(ino, inode);
    this.checkBitmap();
    return this.faults;
  }

  private readInode(ino: number): void {
    const { image, layout } = this;
    const at = ino * INODE_BYTES;
    const block = image[layout.inodeStart + Math.floor(at / BLOCK_BYTES)];
    const record = block.subarray(at % BLOCK_BYTES, (at % BLOCK_BYTES) + INODE_BYTES);
    const kind = kindIn(record);
    if (kind === 0) return;
    const view = new DataView(record.buffer, record.byteOffset, INODE_BYTES);
    const size = view.getFloat64(16, true);
    const links = view.getUint32(4, true);
    const parent = view.getUint32(32, true);
    const inode = { kind, links, size, parent, view, pages: new Map(), names: 0, children: 0, entered: 0 };
    if (!isKind(kind)) this.faults.push(`inode ${ino}: kind ${kind}`);
    if (!(Number.isSafeInteger(size) && size >= 0 && size <= MOST_PAGES * BLOCK_BYTES)) {
      this.faults.push(`inode ${ino}: size ${size}`);
    }
    this.inodes.set(ino, inode);
    this.readMap(ino, inode);
  }

  private readMap(ino: number, { view, pages, size, kind }: Found): void {
    const word = (at: number): number => view.getUint32(MAP_OFFSET + at * 4, true);
    const group = (block: number, first: number): void => {
      if (block === 0 || !this.use(block, `inode ${ino}: indirect block of page ${first}`)) return;
      for (let at = 0; at < FAN; at++) this.addPage(ino, pages, first + at, wordAt(this.image[block], at));
    };
    for (let page = 0; page < DIRECT; page++) this.addPage(ino, pages, page, word(page));
    group(word(DIRECT), DIRECT);
    const double = word(MAP_WORDS - 1);
    if (double !== 0 && this.use(double, `inode ${ino}: double indirect block`)) {
      for (let at = 0; at < FAN; at++) group(wordAt(this.image[double], at), DIRECT + (at + 1) * FAN);
    }
    const end = kind === FileKind.symlink ? 1 : Math.ceil(size / BLOCK_BYTES);
    for (const page of pages.keys()) if (page >= end) this.faults.push(`inode ${ino}: page ${page} is behind the end`);
  }

  private addPage(ino: number, pages: Map<number, number>, page: number, block: number): void {
    if (block !== 0 && this.use(block, `inode ${ino}: page ${page}`)) pages.set(page, block);
  }

  /** Takes a block for somebody; false if it cannot be theirs. */
  private use(block: number, user: string): boolean {
    const { users, layout, faults } = this;
    if (block >= layout.blocks || users[block] !== undefined) {
      faults.push(
        `${user}: block ${block} ${block >= layout.blocks ? 'is out of range' : `belongs to ${users[block]}`}`,
      );
      return false;
    }
    users[block] = user;
    return true;
  }

  private readDirectory(ino: number, { pages, size }: Found): void {
    if (!(size % BLOCK_BYTES === 0) || pages.size * BLOCK_BYTES !== size) {
      this.faults.push(`directory ${ino}: ${pages.size} blocks, its size is ${size}`);
    }
    const names = new Set<string>();
    for (const [page, block] of pages) {
      const view = new DataView(this.image[block].buffer, this.image[block].byteOffset, BLOCK_BYTES);
      for (let slot = 0; slot < BLOCK_SLOTS; slot++) {
        if (view.getUint32(slot * SLOT_BYTES, true) === 0) continue;
        this.readEntry(ino, `directory ${ino}: entry ${page * BLOCK_SLOTS + slot}`, view, slot * SLOT_BYTES, names);
      }
    }
  }

  private readEntry(directory: number, where: string, view: DataView, at: number, names: Set<string>): void {
    let name = '';
    for (let i = 0; i < view.getUint8(at + 5); i++) name += String.fromCharCode(view.getUint8(at + 8 + i));
    const inode = this.inodes.get(view.getUint32(at, true));
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name))
      this.faults.push(`${where}: name "${name}"`);
    if (names.has(name)) this.faults.push(`${where}: "${name}" is there twice`);
    names.add(name);
    if (inode === undefined || inode.kind !== view.getUint8(at + 4)) {
      this.faults.push(`${where}: "${name}" leads to inode ${view.getUint32(at, true)}, which is no such file`);
      return;
    }
    inode.names++;
    if (inode.kind !== FileKind.directory) return;
    inode.entered = directory;
    const parent = this.inodes.get(directory) as Found;
    parent.children++;
  }

  private checkNames(ino: number, inode: Found): void {
    const isDirectory = inode.kind === FileKind.directory;
    const names = ino === ROOT ? 1 : inode.names;
    const expected = isDirectory && names > 0 ? 2 + inode.children : names;
    if (inode.links !== expected) this.faults.push(`inode ${ino}: ${inode.links} links, ${expected} lead to it`);
    else if (names === 0 && !this.orphans) this.faults.push(`inode ${ino}: no name leads to it`);
    if (!isDirectory || names === 0) return;
    if (names > 1) this.faults.push(`directory ${ino}: ${names} names lead to it`);
    const parent = ino === ROOT ? ROOT : inode.entered;
    if (inode.parent !== parent) this.faults.push(`directory ${ino}: parent ${inode.parent}, it is in ${parent}`);
    if (!this.reachesRoot(ino)) this.faults.push(`directory ${ino}: it is in itself`);
  }

  private reachesRoot(start: number): boolean {
    let ino = start;
    for (let steps = 0; steps <= this.inodes.size && ino !== 0; steps++) {
      if (ino === ROOT) return true;
      ino = this.inodes.get(ino)?.entered ?? 0;
    }
    return false;
  }

  private checkBitmap(): void {
    const { image, layout, users } = this;
    for (let block = 0; block < layout.blocks; block++) {
      const byte = image[layout.bitmapStart + (block >> 15)][(block >> 3) & (BLOCK_BYTES - 1)];
      const taken = (byte & (1 << (block & 7))) !== 0;
      if (taken && users[block] === undefined) this.faults.push(`bitmap: block ${block} is taken, nobody uses it`);
      if (!taken && users[block] !== undefined)
        this.faults.push(`bitmap: block ${block} is free, used by ${users[block]}`);
    }
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at * 4, true);
}

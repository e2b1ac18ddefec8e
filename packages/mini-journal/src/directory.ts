import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { type DirectoryEntry, FsError, type Inode } from '@flashstack/vfs';
import { BLOCK_BYTES } from './layout.js';
import type { Metadata } from './metadata.js';
import { isKind, nodeOf } from './node.js';

/** Bytes of an entry: number, kind, length of the name, name. */
export const SLOT_BYTES = 264;
/** Entries in a block. */
export const BLOCK_SLOTS: number = Math.floor(BLOCK_BYTES / SLOT_BYTES);
/** Longest name. */
export const NAME_BYTES = 255;
/** Positions behind `.` and `..`; entries follow by slot. */
const SELF = 1;
const PARENT = 2;

interface Entry {
  readonly slot: number;
  readonly ino: number;
  readonly kind: number;
}

/** The entries of a directory. Slots never move, so that a listing goes on from one while others come and go. */
export class Directory {
  private readonly inode: Inode;
  private readonly metadata: Metadata;
  private readonly byName: Map<string, Entry> = new Map();
  private readonly bySlot: (string | null)[] = [];
  private readonly free: number[] = [];

  constructor(inode: Inode, metadata: Metadata) {
    this.inode = inode;
    this.metadata = metadata;
  }

  get size(): number {
    return this.byName.size;
  }

  /** Reads all blocks. @throws FsError EIO, EUCLEAN */
  *load(): Task<void> {
    const { map } = nodeOf(this.inode);
    for (let page = 0; page * BLOCK_BYTES < this.inode.size; page++) {
      const block = map.get(page);
      if (block === 0) throw new FsError('EUCLEAN', `directory ${this.inode.ino}: block ${page} is missing`);
      const bytes = yield* this.metadata.load(block, Origin.directory);
      for (let at = 0; at < BLOCK_SLOTS; at++) this.loadSlot(bytes, at, page * BLOCK_SLOTS + at, block);
    }
  }

  get(name: string): number {
    return this.byName.get(name)?.ino ?? 0;
  }

  /** The kind that the entry of a name tells. */
  kindOf(name: string): number {
    return this.byName.get(name)?.kind ?? 0;
  }

  /** Blocks that a new entry needs. */
  get growth(): number {
    return this.free.length > 0 ? 0 : nodeOf(this.inode).map.missing(this.pages, 1);
  }

  private get pages(): number {
    return this.bySlot.length / BLOCK_SLOTS;
  }

  /** A new entry, or another inode for the one of this name. There is room. */
  set(name: string, ino: number, kind: number): void {
    let slot = this.byName.get(name)?.slot;
    if (slot === undefined) {
      if (this.free.length === 0) this.grow();
      slot = this.free.pop() as number;
    }
    const view = this.slotView(slot);
    view.setUint32(0, ino, true);
    view.setUint8(4, kind);
    view.setUint8(5, name.length);
    for (let at = 0; at < name.length; at++) view.setUint8(8 + at, name.charCodeAt(at));
    this.byName.set(name, { slot, ino, kind });
    this.bySlot[slot] = name;
  }

  delete(name: string): void {
    const entry = this.byName.get(name);
    if (entry === undefined) throw new Error(`no entry "${name}"`);
    this.slotView(entry.slot).setUint32(0, 0, true);
    this.byName.delete(name);
    this.bySlot[entry.slot] = null;
    this.free.push(entry.slot);
  }

  /** See `FileSystem.readdir`. */
  list(position: number, limit: number, out: DirectoryEntry[]): void {
    const end = out.length + limit;
    const { ino } = this.inode;
    const kind = this.inode.kind;
    if (position < SELF && out.length < end) out.push({ name: '.', ino, kind, next: SELF });
    if (position < PARENT && out.length < end) {
      out.push({ name: '..', ino: nodeOf(this.inode).parent, kind, next: PARENT });
    }
    for (let slot = Math.max(position - PARENT, 0); slot < this.bySlot.length && out.length < end; slot++) {
      const name = this.bySlot[slot];
      if (name === null) continue;
      const entry = this.byName.get(name) as Entry;
      out.push({ name, ino: entry.ino, kind: entry.kind, next: slot + PARENT + 1 });
    }
  }

  private grow(): void {
    const page = this.pages;
    nodeOf(this.inode).map.allocate(page, true);
    this.inode.size += BLOCK_BYTES;
    for (let at = BLOCK_SLOTS - 1; at >= 0; at--) this.free.push(page * BLOCK_SLOTS + at);
    for (let at = 0; at < BLOCK_SLOTS; at++) this.bySlot.push(null);
  }

  private loadSlot(bytes: Uint8Array, at: number, slot: number, block: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at * SLOT_BYTES, SLOT_BYTES);
    const ino = view.getUint32(0, true);
    if (ino === 0) {
      this.bySlot[slot] = null;
      this.free.push(slot);
      return;
    }
    let name = '';
    for (let i = 0; i < view.getUint8(5); i++) name += String.fromCharCode(view.getUint8(8 + i));
    const kind = view.getUint8(4);
    const wrong = (what: string): never => {
      throw new FsError('EUCLEAN', `directory ${this.inode.ino}, block ${block}, entry ${at}: ${what}`);
    };
    if (name === '' || name.includes('/') || name.includes('\0') || name === '.' || name === '..')
      wrong('a name that is none');
    if (this.byName.has(name)) wrong('a name that occurs twice');
    if (!isKind(kind)) wrong(`kind ${kind}`);
    this.bySlot[slot] = name;
    this.byName.set(name, { slot, ino, kind });
  }

  private slotView(slot: number): DataView {
    const block = nodeOf(this.inode).map.get(Math.floor(slot / BLOCK_SLOTS));
    const bytes = this.metadata.change(block);
    return new DataView(bytes.buffer, bytes.byteOffset + (slot % BLOCK_SLOTS) * SLOT_BYTES, SLOT_BYTES);
  }
}

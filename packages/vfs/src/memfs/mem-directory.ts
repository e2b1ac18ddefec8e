import type { DirectoryEntry } from '../file-system.js';
import type { Inode } from '../inode.js';

/** An entry; its place never changes, so that `readdir` goes on from it while others come and go. */
class Entry {
  readonly name: string;
  readonly place: number;
  /** Null once it is removed. */
  inode: Inode | null;

  constructor(name: string, place: number, inode: Inode) {
    this.name = name;
    this.place = place;
    this.inode = inode;
  }
}

/** Positions behind `.` and `..`; entries follow. */
const SELF = 1;
const PARENT = 2;
/** Position behind an entry plus its place. The newest is listed first, so that a listing ends though entries are added. */
const TOP = 2 ** 50;

/** The entries of a directory. */
export class MemDirectory {
  parent: Inode;
  private readonly byName: Map<string, Entry> = new Map();
  /** By place, ascending; removed ones stay until they are half of all. */
  private entries: Entry[] = [];
  private nextPlace = 1;

  constructor(parent: Inode) {
    this.parent = parent;
  }

  get size(): number {
    return this.byName.size;
  }

  *inodes(): Generator<Inode> {
    for (const { inode } of this.byName.values()) if (inode !== null) yield inode;
  }

  get(name: string): Inode | null {
    return this.byName.get(name)?.inode ?? null;
  }

  /** A new entry, or another inode for the entry of this name. */
  set(name: string, inode: Inode): void {
    const known = this.byName.get(name);
    if (known !== undefined) {
      known.inode = inode;
      return;
    }
    const entry = new Entry(name, this.nextPlace++, inode);
    this.byName.set(name, entry);
    this.entries.push(entry);
  }

  delete(name: string): void {
    const entry = this.byName.get(name);
    if (entry === undefined) throw new Error(`no entry "${name}"`);
    entry.inode = null;
    this.byName.delete(name);
    if (this.entries.length > 2 * this.byName.size + 16) this.entries = this.entries.filter((e) => e.inode !== null);
  }

  /** See `FileSystem.readdir`. */
  list(self: Inode, position: number, limit: number, out: DirectoryEntry[]): void {
    const end = out.length + limit;
    if (position < SELF && out.length < end) out.push(listed('.', self, SELF));
    if (position < PARENT && out.length < end) out.push(listed('..', this.parent, PARENT));
    for (let at = this.below(position) - 1; at >= 0 && out.length < end; at--) {
      const { name, inode, place } = this.entries[at];
      if (inode !== null) out.push(listed(name, inode, TOP - place));
    }
  }

  /** Number of entries, removed ones among them, that are older than the one before a position. */
  private below(position: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.entries[middle].place < TOP - position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function listed(name: string, { ino, kind }: Inode, next: number): DirectoryEntry {
  return { name, ino, kind, next };
}

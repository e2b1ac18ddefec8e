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

/** Places of `.` and `..`; entries follow. */
const SELF = 1;
const PARENT = 2;

/** The entries of a directory in order of their creation. */
export class MemDirectory {
  parent: Inode;
  private readonly byName: Map<string, Entry> = new Map();
  /** By place, ascending; removed ones stay until they are half of all. */
  private entries: Entry[] = [];
  private nextPlace = PARENT + 1;

  constructor(parent: Inode) {
    this.parent = parent;
  }

  get size(): number {
    return this.byName.size;
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
    for (let at = this.after(position); at < this.entries.length && out.length < end; at++) {
      const { name, inode, place } = this.entries[at];
      if (inode !== null) out.push(listed(name, inode, place));
    }
  }

  /** Index of the first entry behind a position. */
  private after(position: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.entries[middle].place <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function listed(name: string, { ino, kind }: Inode, next: number): DirectoryEntry {
  return { name, ino, kind, next };
}

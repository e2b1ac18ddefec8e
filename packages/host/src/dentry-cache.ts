import type { Inode } from '@flashstack/vfs';

/** A name in a directory as the host knows it. Directories have exactly one, so that these form the tree. */
export class Dentry {
  /** Null: the root, which is its own `..`. */
  parent: Dentry | null;
  name: string;
  /** Null: there is no such entry (a negative dentry). */
  inode: Inode | null;
  /** Cached names in this directory. */
  children: Map<string, Dentry> | null = null;
  /** Target of a symbolic link, once read. */
  target: string | null = null;
  /** Open directories, working directories and walks that stand here. */
  users = 0;
  /** Removed from the tree; nothing can be made in it. */
  dead = false;
  /** Used since reclaim last looked at it. */
  recent = false;
  /** Reclaim list, oldest first. */
  older: Dentry | null = null;
  newer: Dentry | null = null;

  constructor(parent: Dentry | null, name: string, inode: Inode | null) {
    this.parent = parent;
    this.name = name;
    this.inode = inode;
  }

  /** True if this directory is `other` or holds it somewhere below. */
  isAbove(other: Dentry): boolean {
    for (let at: Dentry | null = other; at !== null; at = at.parent) if (at === this) return true;
    return false;
  }
}

/** Hears when a dentry gains or loses its inode, which is then referred to once more or once less. */
export interface InodeReferences {
  /** One more refers to the inode. */
  take(inode: Inode): void;
  /** One less refers to it. */
  drop(inode: Inode): void;
}

/** What the dentry cache counts. */
export interface DentryStats {
  /** Components found, negative ones among them. */
  hits: number;
  /** Components that the file system had to be asked for. */
  misses: number;
  /** Dentries forgotten because there were too many. */
  evictions: number;
}

/** The names that the host remembers, present and absent, up to a limit; those in use do not count against it. */
export class DentryCache {
  readonly root: Dentry;
  readonly stats: DentryStats = { hits: 0, misses: 0, evictions: 0 };
  private readonly limit: number;
  private readonly inodes: InodeReferences;
  private held = 0;
  private oldest: Dentry | null = null;
  private newest: Dentry | null = null;

  constructor(root: Inode, limit: number, inodes: InodeReferences) {
    this.limit = limit;
    this.inodes = inodes;
    this.root = new Dentry(null, '', root);
    this.root.users = 1;
    inodes.take(root);
  }

  /** Dentries besides the root. */
  get size(): number {
    return this.held;
  }

  /** The dentry of a name, or null if it is not known whether there is such an entry. */
  get(directory: Dentry, name: string): Dentry | null {
    const dentry = directory.children?.get(name);
    if (dentry === undefined) return null;
    dentry.recent = true;
    return dentry;
  }

  /** Remembers a name that is not known yet; `inode` null: that there is no such entry. */
  add(directory: Dentry, name: string, inode: Inode | null): Dentry {
    const dentry = new Dentry(directory, name, inode);
    if (inode !== null) this.inodes.take(inode);
    this.hash(dentry);
    this.append(dentry);
    this.held++;
    return dentry;
  }

  /** There is a new entry, where there was none. */
  made(directory: Dentry, name: string, inode: Inode): Dentry {
    const dentry = directory.children?.get(name);
    if (dentry === undefined) return this.add(directory, name, inode);
    dentry.inode = inode;
    this.inodes.take(inode);
    return dentry;
  }

  /** The entry is removed: its dentry leaves the tree, and a negative one takes its place. */
  remove(dentry: Dentry): void {
    const directory = dentry.parent as Dentry;
    const { name } = dentry;
    this.unhash(dentry);
    this.forget(dentry);
    this.add(directory, name, null);
  }

  /** The entry is renamed, over the entry of `target`; a negative dentry stays behind. */
  move(dentry: Dentry, target: Dentry): void {
    const from = dentry.parent as Dentry;
    const { name } = dentry;
    const to = target.parent as Dentry;
    const newName = target.name;
    this.unhash(target);
    this.forget(target);
    this.unhash(dentry);
    dentry.parent = to;
    dentry.name = newName;
    this.hash(dentry);
    this.add(from, name, null);
  }

  /** Two entries have changed places. */
  exchange(one: Dentry, other: Dentry): void {
    this.unhash(one);
    this.unhash(other);
    const { parent, name } = one;
    one.parent = other.parent;
    one.name = other.name;
    other.parent = parent;
    other.name = name;
    this.hash(one);
    this.hash(other);
  }

  /** Keeps a dentry from being forgotten until `unpin`. */
  pin(dentry: Dentry): Dentry {
    dentry.users++;
    return dentry;
  }

  /** Ends a `pin`. The last one of a removed dentry lets its inode go. */
  unpin(dentry: Dentry): void {
    dentry.users--;
    if (dentry.dead && dentry.users === 0) this.release(dentry);
  }

  /** Forgets the dentries not used for longest until there are no more than the limit, or all are in use. */
  shrink(): void {
    for (let looked = 2 * this.held; this.held > this.limit && looked > 0; looked--) {
      const dentry = this.oldest as Dentry;
      this.unlink(dentry);
      if (dentry.recent || dentry.users > 0 || (dentry.children !== null && dentry.children.size > 0)) {
        dentry.recent = false;
        this.append(dentry);
        continue;
      }
      this.unhash(dentry);
      this.held--;
      this.stats.evictions++;
      dentry.dead = true;
      this.release(dentry);
    }
  }

  /** Unmount: forgets all that is not in use, and the root. */
  clear(): void {
    this.dropBelow(this.root);
    this.unpin(this.root);
    this.root.dead = true;
    if (this.root.users === 0) this.release(this.root);
  }

  private dropBelow(directory: Dentry): void {
    for (const child of [...(directory.children?.values() ?? [])]) {
      this.dropBelow(child);
      this.unhash(child);
      this.forget(child);
    }
  }

  /** Takes an unhashed dentry out of the reclaim list; its inode goes with its last user. */
  private forget(dentry: Dentry): void {
    this.unlink(dentry);
    this.held--;
    dentry.dead = true;
    // Names remembered as absent inside a removed directory.
    if (dentry.children !== null) this.dropBelow(dentry);
    if (dentry.users === 0) this.release(dentry);
  }

  private release(dentry: Dentry): void {
    const { inode } = dentry;
    if (inode === null) return;
    dentry.inode = null;
    this.inodes.drop(inode);
  }

  private hash(dentry: Dentry): void {
    const directory = dentry.parent as Dentry;
    directory.children ??= new Map();
    directory.children.set(dentry.name, dentry);
  }

  private unhash(dentry: Dentry): void {
    dentry.parent?.children?.delete(dentry.name);
  }

  private append(dentry: Dentry): void {
    dentry.older = this.newest;
    if (this.newest === null) this.oldest = dentry;
    else this.newest.newer = dentry;
    this.newest = dentry;
  }

  private unlink(dentry: Dentry): void {
    const { older, newer } = dentry;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    dentry.older = null;
    dentry.newer = null;
  }
}

import type { MaybeTask, Task } from '@flashstack/sim';
import { FsError } from '../errors.js';
import {
  type AttributeChange,
  type DirectoryEntry,
  FallocateMode,
  type FileSystem,
  type FsCapabilities,
  type FsEnvironment,
  type FsStatus,
  type NewInode,
  RenameFlag,
} from '../file-system.js';
import { finished } from '../finished.js';
import { FileKind, Inode, Stamp } from '../inode.js';
import { PAGE_BYTES, type PageIo } from '../page-cache.js';
import { PAGE_LIMIT } from '../page-table.js';
import { allocateRange, setSize } from './allocate.js';
import { MemDirectory } from './mem-directory.js';
import { MemFile } from './mem-file.js';
import { directoryOf, fileOf, type MemNode } from './mem-node.js';
import { MemSpace } from './mem-space.js';
import { type MemFsOptions, resolveMemFsOptions } from './options.js';

const ENTRY_BYTES = 32;
const CHANGED = Stamp.modified | Stamp.changed;

/**
 * A file system in memory, the reference of the others: all of POSIX and of Linux's `fallocate`, nothing durable. It keeps
 * contents itself, so that a page cache may reclaim pages. It takes no simulated time of its own.
 */
export class MemFs implements FileSystem {
  /** What it offers with its default options. */
  static readonly capabilities: FsCapabilities = Object.freeze({
    name: 'memfs',
    nameBytes: 255,
    fileBytes: PAGE_LIMIT * PAGE_BYTES,
    links: 65_000,
    symlinks: true,
    specialFiles: true,
    unnamedFiles: true,
    sparse: true,
    seeksHoles: true,
    fallocate: Object.freeze([0, 1, 3, 8, 16, 17, 32]),
    attributeBytes: 65_536,
    directBytes: PAGE_BYTES,
    renameExchange: true,
    timeNs: 1,
    durable: false,
  });
  readonly capabilities: FsCapabilities;
  private readonly environment: FsEnvironment;
  private readonly space: MemSpace;
  private readonly rootInode: Inode;
  private nextIno: number;
  private mounted = false;

  /**
   * @param earlier one that was unmounted, whose files this one goes on with, as after a restart of the host; limits of
   * space and inodes stay its own.
   * @throws InputError for an option that is unknown or out of range, FsError EBUSY if `earlier` is mounted.
   */
  constructor(environment: FsEnvironment, options: MemFsOptions = {}, earlier: MemFs | null = null) {
    const { bytes, inodes, links, nameBytes } = resolveMemFsOptions(options);
    if (earlier?.mounted === true) throw new FsError('EBUSY', 'the earlier file system is mounted');
    this.environment = environment;
    this.space = earlier?.space ?? new MemSpace(Math.floor(bytes / PAGE_BYTES), inodes);
    this.capabilities = { ...MemFs.capabilities, links, nameBytes };
    this.nextIno = earlier?.nextIno ?? 1;
    this.rootInode = earlier?.rootInode ?? this.makeRoot();
  }

  /** Its contents are as at the last `unmount`. @throws FsError EBUSY */
  mount(): Task<void> {
    if (this.mounted) throw new FsError('EBUSY', 'mounted already');
    this.mounted = true;
    return finished(undefined);
  }

  unmount(): Task<void> {
    if (!this.mounted) throw new FsError('EINVAL', 'not mounted');
    this.mounted = false;
    this.forgetPages(this.rootInode);
    return finished(undefined);
  }

  daemons(): readonly { readonly name: string; readonly task: Task<void> }[] {
    return [];
  }

  root(): Inode {
    return this.rootInode;
  }

  lookup(directory: Inode, name: string): Task<Inode | null> {
    return finished(directoryOf(directory).get(name));
  }

  create(directory: Inode, name: string | null, what: NewInode): Task<Inode> {
    const inode = this.make(what, directory);
    if (name !== null) {
      inode.links = what.kind === FileKind.directory ? 2 : 1;
      if (what.kind === FileKind.directory) directory.links++;
      this.enter(directory, name, inode);
    }
    return finished(inode);
  }

  link(inode: Inode, directory: Inode, name: string): Task<void> {
    if (inode.links >= this.capabilities.links) throw new FsError('EMLINK');
    inode.links++;
    inode.stamp(Stamp.changed, this.environment.clock);
    this.enter(directory, name, inode);
    return finished(undefined);
  }

  unlink(directory: Inode, name: string, inode: Inode): Task<void> {
    this.leave(directory, name);
    inode.links--;
    inode.stamp(Stamp.changed, this.environment.clock);
    return finished(undefined);
  }

  rmdir(directory: Inode, name: string, inode: Inode): Task<void> {
    if (directoryOf(inode).size > 0) throw new FsError('ENOTEMPTY');
    this.leave(directory, name);
    directory.links--;
    inode.links = 0;
    inode.stamp(CHANGED, this.environment.clock);
    return finished(undefined);
  }

  rename(
    from: Inode,
    name: string,
    inode: Inode,
    to: Inode,
    newName: string,
    target: Inode | null,
    flags: number,
  ): Task<void> {
    const { clock } = this.environment;
    if (target !== null && (flags & RenameFlag.exchange) !== 0) {
      directoryOf(from).set(name, target);
      directoryOf(to).set(newName, inode);
      if (from !== to) this.adopt(target, to, from);
      from.stamp(CHANGED, clock);
      to.stamp(CHANGED, clock);
    } else {
      if (target?.kind === FileKind.directory) {
        if (directoryOf(target).size > 0) throw new FsError('ENOTEMPTY');
        target.links = 0;
        to.links--;
      } else if (target !== null) {
        target.links--;
      }
      this.leave(from, name);
      this.enter(to, newName, inode);
    }
    if (from !== to) this.adopt(inode, from, to);
    inode.stamp(Stamp.changed, clock);
    target?.stamp(Stamp.changed, clock);
    return finished(undefined);
  }

  readdir(directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void> {
    directoryOf(directory).list(directory, position, limit, out);
    return finished(undefined);
  }

  readlink(inode: Inode): Task<string> {
    return finished((inode.state as MemNode).target);
  }

  *setAttributes(inode: Inode, change: AttributeChange): Task<void> {
    if (change.size !== undefined) yield* setSize(inode, change.size, this.environment.cache);
    const { clock } = this.environment;
    if (change.size !== undefined) inode.stamp(CHANGED, clock);
    if (change.mode !== undefined) inode.mode = change.mode;
    if (change.uid !== undefined) inode.uid = change.uid;
    if (change.gid !== undefined) inode.gid = change.gid;
    if (change.accessed !== undefined) [inode.accessedSec, inode.accessedNsec] = change.accessed;
    if (change.modified !== undefined) [inode.modifiedSec, inode.modifiedNsec] = change.modified;
    inode.stamp(Stamp.changed, clock);
  }

  accessed(inode: Inode): void {
    inode.stamp(Stamp.accessed, this.environment.clock);
  }

  *fallocate(inode: Inode, mode: number, offset: number, length: number): Task<void> {
    if (!this.capabilities.fallocate.includes(mode)) throw new FsError('EOPNOTSUPP', `fallocate mode ${mode}`);
    if (offset + length > this.capabilities.fileBytes && (mode & FallocateMode.punchHole) === 0) {
      throw new FsError('EFBIG');
    }
    yield* allocateRange(inode, mode, offset, length, this.environment.cache);
    inode.stamp(CHANGED, this.environment.clock);
  }

  seek(inode: Inode, offset: number, hole: boolean): Task<number> {
    const limit = Math.ceil(inode.size / PAGE_BYTES);
    const page = fileOf(inode).seek(Math.floor(offset / PAGE_BYTES), limit, hole);
    return finished(Math.min(Math.max(page * PAGE_BYTES, offset), inode.size));
  }

  getAttribute(inode: Inode, name: string): Task<Uint8Array | null> {
    return finished((inode.state as MemNode).attributes?.get(name)?.slice() ?? null);
  }

  setAttribute(inode: Inode, name: string, value: Uint8Array | null): Task<void> {
    const node = inode.state as MemNode;
    if (value === null) {
      if (node.attributes?.delete(name) !== true) throw new FsError('ENODATA', name);
    } else {
      if (value.length > this.capabilities.attributeBytes) throw new FsError('ENOSPC', `attribute ${name}`);
      node.attributes ??= new Map();
      node.attributes.set(name, value.slice());
    }
    inode.stamp(Stamp.changed, this.environment.clock);
    return finished(undefined);
  }

  listAttributes(inode: Inode): Task<string[]> {
    return finished([...((inode.state as MemNode).attributes?.keys() ?? [])]);
  }

  status(): FsStatus {
    const { pages, freePages, inodes, freeInodes } = this.space;
    return { blockBytes: PAGE_BYTES, blocks: pages, free: freePages, available: freePages, inodes, freeInodes };
  }

  beginWrite(inode: Inode, offset: number, length: number): MaybeTask {
    const first = Math.floor(offset / PAGE_BYTES);
    const file = fileOf(inode);
    file.take(first, Math.floor((offset + length - 1) / PAGE_BYTES) - first + 1);
    inode.sectors = file.taken * (PAGE_BYTES / 512);
    return 0;
  }

  endWrite(inode: Inode, offset: number, length: number): void {
    const first = Math.floor(offset / PAGE_BYTES);
    fileOf(inode).written(first, Math.floor((offset + length - 1) / PAGE_BYTES) - first + 1);
    if (offset + length > inode.size) inode.size = offset + length;
    inode.stamp(CHANGED, this.environment.clock);
  }

  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask {
    const file = fileOf(inode);
    const mapping = this.environment.cache.mapping(inode);
    for (let page = first; page < first + count; page++) {
      if (file.hasData(page)) mapping.fill(page, file.bytes(page), file.tag(page));
      else io.readHole(page * PAGE_BYTES, PAGE_BYTES);
    }
    return 0;
  }

  writePages(inode: Inode, pages: Int32Array, count: number, _reason: number, io: PageIo): MaybeTask {
    const file = fileOf(inode);
    const mapping = this.environment.cache.mapping(inode);
    for (let at = 0; at < count; at++) {
      const page = pages[at];
      if (page * PAGE_BYTES < inode.size) file.put(page, mapping.bytes(page), mapping.tag(page));
      io.done(page);
    }
    return count;
  }

  direct(
    inode: Inode,
    write: boolean,
    offset: number,
    length: number,
    data: Uint8Array | null,
    tags: Uint32Array | null,
  ): Task<number> {
    const count = length / PAGE_BYTES;
    const first = offset / PAGE_BYTES;
    if (!write) return finished(fileOf(inode).readInto(first, count, data, tags) * PAGE_BYTES);
    this.beginWrite(inode, offset, length);
    fileOf(inode).writeFrom(first, count, data, tags);
    this.endWrite(inode, offset, length);
    return finished(length);
  }

  fsync(_inode: Inode, _dataOnly: boolean): Task<void> {
    return finished(undefined);
  }

  sync(): Task<void> {
    return finished(undefined);
  }

  /** With links it stays in memory, which is where it is kept. */
  evict(inode: Inode): Task<void> {
    if (inode.links > 0) return finished(undefined);
    const { file } = inode.state as MemNode;
    this.environment.cache.forget(inode);
    if (file !== null) file.free(0, file.limit);
    this.space.freeInodes++;
    return finished(undefined);
  }

  private makeRoot(): Inode {
    const root = this.make({ kind: FileKind.directory, mode: 0o755, uid: 0, gid: 0 }, null);
    root.links = 2;
    return root;
  }

  private forgetPages(inode: Inode): void {
    if (inode.kind === FileKind.directory) for (const below of directoryOf(inode).inodes()) this.forgetPages(below);
    else if (inode.mapping !== null) this.environment.cache.forget(inode);
  }

  private make(what: NewInode, parent: Inode | null): Inode {
    this.space.takeInode();
    const inode = new Inode(this.environment.simulator, this.nextIno++, what.kind);
    inode.mode = what.mode;
    inode.uid = what.uid;
    inode.gid = what.gid;
    inode.device = what.device ?? 0;
    const target = what.target ?? '';
    const state: MemNode = {
      file: what.kind === FileKind.regular ? new MemFile(this.space) : null,
      directory: what.kind === FileKind.directory ? new MemDirectory(parent ?? inode) : null,
      target,
      attributes: null,
    };
    inode.state = state;
    inode.size = target.length;
    inode.stamp(Stamp.accessed | CHANGED | Stamp.born, this.environment.clock);
    return inode;
  }

  private enter(directory: Inode, name: string, inode: Inode): void {
    directoryOf(directory).set(name, inode);
    this.entriesChanged(directory);
  }

  private leave(directory: Inode, name: string): void {
    directoryOf(directory).delete(name);
    this.entriesChanged(directory);
  }

  private entriesChanged(directory: Inode): void {
    directory.size = directoryOf(directory).size * ENTRY_BYTES;
    directory.stamp(CHANGED, this.environment.clock);
  }

  /** A directory has moved to another one. */
  private adopt(inode: Inode, from: Inode, to: Inode): void {
    if (inode.kind !== FileKind.directory) return;
    directoryOf(inode).parent = to;
    from.links--;
    to.links++;
  }
}

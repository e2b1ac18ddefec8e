import {
  Mutex,
  mix32,
  ProcessGroup,
  RandomSource,
  type Simulator,
  type StatsRegistry,
  type Task,
} from '@flashstack/sim';
import {
  type FileCache,
  type FileSystem,
  type FsEnvironment,
  FsError,
  type Inode,
  OpenFlag,
  type ProcessOptions,
  type SystemCalls,
  WallClock,
  WritebackReason,
} from '@flashstack/vfs';
import type { CallCosts } from './costs.js';
import { Cpus } from './cpus.js';
import { DentryCache } from './dentry-cache.js';
import { errorOf } from './error-of.js';
import {
  type HostOptions,
  type ResolvedHostOptions,
  refuse,
  resolveCosts,
  resolveHostOptions,
} from './host-options.js';
import { InodeTable } from './inode-table.js';
import type { OpenFile } from './open-file.js';
import { HostProcess } from './user-process.js';

/** What a host is put together from. */
export interface HostParts {
  readonly simulator: Simulator;
  readonly cache: FileCache;
  /** Makes the file system from what it gets. */
  readonly fileSystem: (environment: FsEnvironment) => FileSystem;
}

/** What a host counts. */
export interface HostStats {
  /** System calls, failed ones among them. */
  calls: number;
  /** System calls that failed. */
  failedCalls: number;
  /** Bytes that `read` and its kind returned. */
  readBytes: number;
  /** Bytes that `write` and its kind took. */
  writtenBytes: number;
  /** Calls that made a file durable: fsync, fdatasync, sync and their kind. */
  syncCalls: number;
}

/** Bytes of a piece of a write, if the page cache does not want shorter ones. */
const PIECE_BYTES = 1 << 20;

/** Where a host stands. */
export type HostState = 'new' | 'mounted' | 'unmounted' | 'off';

/**
 * A computer without its disk: processes, paths, descriptors, processors and one mounted file system behind a page cache.
 * All that it remembers is lost in a power cut.
 */
export class Host implements SystemCalls {
  readonly simulator: Simulator;
  readonly cache: FileCache;
  readonly fileSystem: FileSystem;
  readonly options: ResolvedHostOptions;
  /** CPU time of system calls, ns. */
  readonly costs: CallCosts;
  readonly cpus: Cpus;
  readonly clock: WallClock;
  /** Everything that runs on this host; a power cut ends it. */
  readonly group: ProcessGroup;
  readonly stats: HostStats = { calls: 0, failedCalls: 0, readBytes: 0, writtenBytes: 0, syncCalls: 0 };
  /** Renames from one directory to another, one at a time. */
  readonly renames: Mutex;
  readonly inodes: InodeTable;
  /** Multiple of direct I/O, bytes; 0: it goes through the cache. */
  readonly directBytes: number;
  /** Bytes that a write prepares, changes and makes dirty at once; a longer one goes piece by piece. */
  readonly pieceBytes: number;
  readonly keepsAccessTimes: boolean;
  readonly relativeAccessTimes: boolean;
  /** Buffers of copies inside the kernel that are not in use. */
  readonly copyBuffers: Uint8Array[] = [];
  /** Bytes of a block of the file system; known once it is mounted. */
  blockBytes = 0;
  private names: DentryCache | null = null;
  private standing: HostState = 'new';
  private pids = 0;
  private writes = 0;
  private readonly tagSeed: number;

  /** @throws InputError for an unknown option or a value out of range. */
  constructor(parts: HostParts, options: HostOptions = {}) {
    const { simulator, cache } = parts;
    this.options = resolveHostOptions(options);
    this.costs = resolveCosts(options.costs);
    this.simulator = simulator;
    this.cache = cache;
    this.clock = new WallClock(simulator, this.options.epochSec);
    this.cpus = new Cpus(simulator, this.options.cpus, this.options.sliceNs);
    this.group = new ProcessGroup('host');
    this.renames = new Mutex(simulator, 'renames between directories');
    const random = new RandomSource(this.options.seed);
    // A host that starts later draws other tags, so that what an earlier one wrote cannot pass for its own.
    this.tagSeed = mix32(random.stream('tags').nextU32() ^ mix32(simulator.now % 0xffff_fffb));
    this.fileSystem = parts.fileSystem({
      simulator,
      cache,
      random: random.stream('file system'),
      clock: this.clock,
      log: options.log ?? (() => {}),
    });
    cache.attach(this.fileSystem);
    this.inodes = new InodeTable(simulator, this.fileSystem, cache);
    this.directBytes = this.fileSystem.capabilities.directBytes;
    this.pieceBytes = Math.min(PIECE_BYTES, cache.pieceBytes ?? PIECE_BYTES);
    this.keepsAccessTimes = this.options.accessTimes !== 'none' && !this.options.readOnly;
    this.relativeAccessTimes = this.options.accessTimes === 'relatime';
  }

  /** Where it stands. */
  get state(): HostState {
    return this.standing;
  }

  /** Names that are remembered. @throws InputError `ERR_HOST_STATE` before mount. */
  get dentries(): DentryCache {
    return this.names ?? refuse('mounted', this.standing);
  }

  /** Mounts the file system and starts its daemons and the cache's. @throws FsError as its `mount` does. */
  *mount(): Task<void> {
    if (this.standing !== 'new') refuse('new', this.standing);
    yield* this.fileSystem.mount();
    this.blockBytes = this.fileSystem.status().blockBytes;
    this.names = new DentryCache(this.fileSystem.root(), this.options.dentries, this.inodes);
    this.standing = 'mounted';
    for (const { name, task } of [...this.fileSystem.daemons(), ...this.cache.daemons()]) {
      this.simulator.spawn(name, task, { group: this.group, daemon: true });
    }
  }

  /** Writes everything back and unmounts. No process may have files open. @throws FsError EBUSY, EIO */
  *unmount(): Task<void> {
    if (this.standing !== 'mounted') refuse('mounted', this.standing);
    this.dentries.clear();
    yield* this.inodes.reap();
    const root = this.fileSystem.root();
    if (root.references > 0) {
      this.names = new DentryCache(root, this.options.dentries, this.inodes);
      throw new FsError('EBUSY', 'files or working directories are in use');
    }
    yield* this.cache.writeBackAll(WritebackReason.sync);
    this.cache.stop();
    yield* this.fileSystem.unmount();
    this.standing = 'unmounted';
  }

  /** Runs the simulator until a task of this host has ended; returns its result. */
  run<T>(task: Task<T>, name = 'task'): T {
    const process = this.simulator.spawn(name, task, { group: this.group, observed: true });
    this.simulator.run(process);
    return process.value as T;
  }

  /**
   * Power is cut: nothing of this host runs again, and what only its memory held is lost. Cut the device's power too, and
   * mount a new host on it.
   */
  cutPower(): void {
    this.standing = 'off';
    this.simulator.abandon(this.group);
  }

  process(options: ProcessOptions = {}): HostProcess {
    return new HostProcess(this, ++this.pids, options);
  }

  /** @throws FsError EROFS */
  demandWritable(): void {
    if (this.options.readOnly) throw new FsError('EROFS');
  }

  /** A descriptor of an open file description is gone; the last one lets the file go. */
  release(file: OpenFile): void {
    if (--file.descriptors > 0) return;
    if (file.dentry !== null) this.dentries.unpin(file.dentry);
    this.inodes.drop(file.inode);
  }

  /** True if `tidy` has something to do. */
  get untidy(): boolean {
    const { dentries } = this;
    return this.inodes.pending || dentries.size > this.options.dentries;
  }

  /** Forgets names above the limit and evicts inodes that nobody refers to. */
  *tidy(): Task<void> {
    this.dentries.shrink();
    yield* this.inodes.reap();
  }

  /** True if reads and writes of the file go past the cache. */
  isDirect(file: OpenFile): boolean {
    return (file.flags & OpenFlag.direct) !== 0 && this.directBytes > 0;
  }

  /** From which the tags of the next write to a file are drawn. */
  nextTagSeed(inode: Inode): number {
    const version = this.writes++;
    return mix32(this.tagSeed ^ mix32(Math.imul(inode.ino, 0x9e37_79b9) + version));
  }

  /** @throws FsError the error of a write-back of this file that nobody has been told. */
  throwWriteError(inode: Inode): void {
    const errno = this.cache.takeError(inode);
    if (errno !== 0) throw errorOf(errno, `write-back of inode ${inode.ino}`);
  }

  /** Starts all counters again. */
  resetStats(): void {
    const { cpus, inodes, stats } = this;
    Object.assign(stats, { calls: 0, failedCalls: 0, readBytes: 0, writtenBytes: 0, syncCalls: 0 } satisfies HostStats);
    cpus.busyNs = 0;
    cpus.waits = 0;
    inodes.evictions = 0;
    inodes.lostWrites = 0;
    if (this.names !== null) Object.assign(this.names.stats, { hits: 0, misses: 0, evictions: 0 });
  }

  /** Registers its numbers, as `host.…` unless another layer is named. */
  register(registry: StatsRegistry, name = 'host'): void {
    const layer = registry.layer(name);
    layer.counters(this.stats);
    layer.gauge('cpuBusyNs', () => this.cpus.busyNs);
    layer.gauge('cpuWaits', () => this.cpus.waits);
    layer.gauge('dentryHits', () => this.names?.stats.hits ?? 0);
    layer.gauge('dentryMisses', () => this.names?.stats.misses ?? 0);
    layer.gauge('dentryEvictions', () => this.names?.stats.evictions ?? 0);
    layer.gauge('inodeEvictions', () => this.inodes.evictions);
    layer.gauge('lostWrites', () => this.inodes.lostWrites);
  }
}

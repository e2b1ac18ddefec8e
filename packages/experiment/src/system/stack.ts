import { BlockLayer, Host } from '@flashstack/host';
import { LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { InputError, type Process, RandomSource, type StatsRegistry, type Task } from '@flashstack/sim';
import type { Ssd } from '@flashstack/ssd';
import {
  type FileSystem,
  type FileSystemScheme,
  type FsEnvironment,
  FsError,
  PAGE_BYTES,
  WritebackReason,
} from '@flashstack/vfs';
import {
  BlockRecorder,
  type BlockRecorderOptions,
  type FileWorkload,
  type FileWorkloadFactory,
} from '@flashstack/workloads';
import { complete, FILE_SYSTEM } from '../complete.js';
import type { Extensions } from '../extensions.js';
import type { WriteFlowSource } from '../write-flow.js';
import { DriveMeter } from './drive-meter.js';
import { makePolicy, makeScheme, type ResolvedSystem } from './system-spec.js';

/** Everything above a drive: block layer, page cache, file system, host, and the workload on it. */
export class SystemStack implements WriteFlowSource {
  readonly meter: DriveMeter;
  readonly host: Host;
  readonly workload: FileWorkload;
  private readonly ssd: Ssd;
  private readonly block: BlockLayer;
  private readonly memory: PageMemory;
  private readonly cache: LinuxPageCache;
  private readonly scheme: FileSystemScheme;
  private readonly fileSystem: FileSystem;

  /** @throws InputError for a drive, a file system or a workload that does not fit. */
  constructor(ssd: Ssd, spec: ResolvedSystem, seed: number, extensions: Extensions, create: FileWorkloadFactory) {
    const { simulator } = ssd;
    const { fileSystem, memory, readahead, readaheadWindow, pageCache, blockLayer, finalSync: _, ...options } = spec;
    this.ssd = ssd;
    this.meter = new DriveMeter(ssd);
    this.block = new BlockLayer(simulator, this.meter, blockLayer);
    this.memory = new PageMemory(simulator, { ...pageCache, memoryBytes: memory });
    const limits = {
      raPages: Math.floor(readaheadWindow / PAGE_BYTES),
      ioPages: Math.floor(blockLayer.maxRequestBytes / PAGE_BYTES),
    };
    const policy = makePolicy(readahead, extensions);
    this.cache = new LinuxPageCache(this.memory, this.block, { policy, limits });
    this.scheme = makeScheme(fileSystem, extensions);
    const open = (environment: FsEnvironment): FileSystem => {
      const opened = this.scheme.open(this.block, environment);
      return complete(opened, FILE_SYSTEM, `open of the file system "${fileSystem.name}"`, 'system.fileSystem');
    };
    this.host = new Host({ cache: this.cache, simulator, fileSystem: open }, { ...options, seed });
    this.fileSystem = this.host.fileSystem;
    this.workload = create(simulator, this.host, new RandomSource(seed));
  }

  get fileSystemBytes(): Float64Array {
    return this.block.writtenByOrigin;
  }

  applicationBytes(): number {
    return this.host.stats.writtenBytes;
  }

  /**
   * Formats the drive, mounts, and lays out the files; then everything is written back, the page cache is empty and all
   * counters begin. @throws InputError `ERR_SPEC_VALUE` if the files do not fit.
   */
  prepare(): void {
    const { host, workload } = this;
    try {
      host.run(this.scheme.format(this.block), 'format');
      host.run(host.mount(), 'mount');
      host.run(workload.prepare(), 'layout');
      host.run(this.sync(), 'sync');
    } catch (error) {
      throw fitting(error);
    }
    this.cache.dropClean();
    this.ssd.resetStats();
    host.resetStats();
    this.block.resetStats();
    this.memory.resetStats();
    this.meter.restart();
  }

  /** Registers `os.…`, `cache.…`, `block.…`, `fs.…`, and requests to the drive as `host.…`. */
  register(registry: StatsRegistry): void {
    this.host.register(registry, 'os');
    this.memory.registerStats(registry.layer('cache'));
    this.block.register(registry);
    this.scheme.register?.(this.fileSystem, registry.layer('fs'));
    this.meter.stats.register(registry.layer('host'));
  }

  /** Has a block trace written of what the block layer does from now on. */
  record(options: BlockRecorderOptions): BlockRecorder {
    const recorder = new BlockRecorder(this.ssd.simulator, this.block.blockBytes, options);
    this.block.probe = recorder;
    return recorder;
  }

  /** What comes now is no longer recorded: requests under way have no end in the trace. */
  endRecord(recorder: BlockRecorder): void {
    this.block.probe = null;
    recorder.end();
  }

  /** Starts the workload, and what belongs to its end. */
  start(task: Task<void>): Process {
    return this.ssd.simulator.spawn('workload', task, { observed: true });
  }

  /** Everything dirty goes to the drive. */
  *sync(): Task<void> {
    yield* this.cache.writeBackAll(WritebackReason.sync);
    yield* this.fileSystem.sync();
  }
}

/** What a workload asks for that the file system or the drive cannot hold is the spec's to put right. */
export function fitting(error: unknown): unknown {
  const help: Readonly<Record<string, string>> = {
    ENOSPC: 'The drive is full: choose smaller files, or a larger device.capacity.',
    EFBIG: 'A file is larger than the file system allows: choose a smaller size.',
    EISDIR: 'Name a file, not a directory.',
    ENOTDIR: 'There is a file where a directory should be: choose another path.',
    ENAMETOOLONG: 'A name is longer than the file system allows: choose a shorter one.',
  };
  if (!(error instanceof FsError) || help[error.code] === undefined) return error;
  const message = `the workload cannot be run: ${error.message}. ${help[error.code]}`;
  return new InputError('ERR_SPEC_VALUE', message, 'workload', { cause: error });
}

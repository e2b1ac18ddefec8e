import type { BlockDevice } from '@flashstack/block-device';
import type { LayerStats, StrategyKind, Task } from '@flashstack/sim';
import type { FileSystem, FsEnvironment } from './file-system.js';
import { finished } from './finished.js';
import type { ImageFormat } from './image-format.js';
import { MemFs } from './memfs/memfs.js';
import { MEMFS_PARAMETERS, type MemFsOptions } from './memfs/options.js';

/** A file system as a stack is put together with it: made empty on a device, then run there. */
export interface FileSystemScheme {
  /** False: files live in memory, and nothing of them reaches the device. */
  readonly onDevice: boolean;
  /** Makes an empty one on the device. */
  format(device: BlockDevice): Task<void>;
  /** The file system of a formatted device, not mounted yet. */
  open(device: BlockDevice, environment: FsEnvironment): FileSystem;
  /** Its own checker: what is wrong with an image that is not mounted, in words. Absent: it has none. */
  check?(device: BlockDevice): Task<string[]>;
  /** What lies where in its images, for tools that damage them on purpose. Absent: they cannot. */
  readonly image?: ImageFormat;
  /** Registers what it counts, from the time of the call on; it is mounted then. */
  register?(fileSystem: FileSystem, layer: LayerStats): void;
}

/** The file systems that come with this package, by name. Others append theirs, and pass the table to what looks names up. */
export const fileSystemKinds: readonly StrategyKind<FileSystemScheme>[] = [
  {
    name: 'memfs',
    summary: 'Keeps files in the memory of the host: nothing of them reaches the drive.',
    parameters: MEMFS_PARAMETERS,
    create: (values) => ({
      onDevice: false,
      format: () => finished(undefined),
      open: (_device, environment) => new MemFs(environment, values as MemFsOptions),
    }),
  },
];

export { Errno, type ErrorCode, FsError } from './errors.js';
export {
  type AttributeChange,
  type DirectoryEntry,
  FallocateMode,
  type FileSystem,
  type FsCapabilities,
  type FsEnvironment,
  type FsStatus,
  type NewInode,
  RenameFlag,
} from './file-system.js';
export { type FileSystemScheme, fileSystemKinds } from './file-system-kinds.js';
export type { FieldKind, ImageBytes, ImageField, ImageFormat, ImageMap, ImageStructure } from './image-format.js';
export { FileKind, Inode, Stamp, WallClock } from './inode.js';
export { lockTwo, unlockTwo } from './lock-two.js';
export { MemFs } from './memfs/memfs.js';
export { MEMFS_PARAMETERS, type MemFsOptions } from './memfs/options.js';
export {
  type FileCache,
  type Mapping,
  PAGE_BYTES,
  type PageCache,
  type PageIo,
  WritebackReason,
} from './page-cache.js';
export { copyFromPage, tagOfPage, tagOfPart } from './page-contents.js';
export { SimplePageCache } from './simple-page-cache.js';
export {
  AT_WORKING_DIRECTORY,
  FileAdvice,
  FileStatus,
  MemoryAdvice,
  OpenFlag,
  type ProcessOptions,
  Seek,
  SyncRange,
  type SystemCalls,
  type Thread,
  type UserProcess,
} from './system-calls.js';
export { WriteErrors } from './write-errors.js';

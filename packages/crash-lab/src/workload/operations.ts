import { FallocateMode, type FsCapabilities } from '@flashstack/vfs';

/** What an argument of an operation is. `file`: a path or a handle such as `#1`. */
export type ArgumentKind = 'path' | 'file' | 'handle' | 'text' | 'offset' | 'length' | 'mode' | 'owner' | 'allocation';

/** An operation of the workload language. */
export interface Operation {
  readonly args: readonly ArgumentKind[];
  readonly help: string;
  /** Whether a file system offers it, if not all do. */
  readonly needs?: (capabilities: FsCapabilities, args: readonly (string | number)[]) => boolean;
}

/** Names of the modes of `fallocate`. */
export const ALLOCATIONS: Readonly<Record<string, number>> = {
  allocate: FallocateMode.allocate,
  'keep-size': FallocateMode.keepSize,
  punch: FallocateMode.punchHole | FallocateMode.keepSize,
  zero: FallocateMode.zeroRange,
  'zero-keep-size': FallocateMode.zeroRange | FallocateMode.keepSize,
  collapse: FallocateMode.collapseRange,
  insert: FallocateMode.insertRange,
};

const range = ['file', 'offset', 'length'] as const;
/** How a file is opened says how it is written, so there is no handle. */
const pathRange = ['path', 'offset', 'length'] as const;
const attributes = ({ attributeBytes }: FsCapabilities): boolean => attributeBytes > 0;

/** The operations of workloads, by name. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: { args: ['path'], help: 'a new empty file' },
  mkdir: { args: ['path'], help: 'a new directory' },
  symlink: { args: ['text', 'path'], help: 'a symbolic link to a target', needs: ({ symlinks }) => symlinks },
  unlink: { args: ['path'], help: 'removes a name' },
  rmdir: { args: ['path'], help: 'removes an empty directory' },
  link: {
    args: ['file', 'path'],
    help: 'a further name, the first one of a handle without name',
    needs: ({ links, unnamedFiles }, [from]) => (String(from).startsWith('#') ? unnamedFiles : links > 1),
  },
  rename: { args: ['path', 'path'], help: 'moves a name, over another one if there is one' },
  'rename-noreplace': { args: ['path', 'path'], help: 'moves a name where none is' },
  exchange: { args: ['path', 'path'], help: 'exchanges two names', needs: ({ renameExchange }) => renameExchange },
  open: { args: ['handle', 'path'], help: 'opens a file under a handle' },
  tmpfile: {
    args: ['handle', 'path'],
    help: 'opens a new file without name in a directory',
    needs: ({ unnamedFiles }) => unnamedFiles,
  },
  close: { args: ['handle'], help: 'closes a handle' },
  write: { args: range, help: 'writes through the cache' },
  'write-sync': { args: pathRange, help: 'writes with O_SYNC' },
  'write-dsync': { args: pathRange, help: 'writes with O_DSYNC' },
  'write-direct': { args: pathRange, help: 'writes with O_DIRECT' },
  append: { args: ['file', 'length'], help: 'writes behind the end' },
  'append-sync': { args: ['path', 'length'], help: 'writes behind the end with O_SYNC' },
  'append-dsync': { args: ['path', 'length'], help: 'writes behind the end with O_DSYNC' },
  store: { args: range, help: 'stores through a shared mapping' },
  truncate: { args: ['file', 'length'], help: 'cuts or extends a file to a size' },
  fallocate: {
    args: ['file', 'allocation', 'offset', 'length'],
    help: 'allocates, punches, zeroes, collapses or inserts a range',
    needs: ({ fallocate }, [, name]) => fallocate.includes(ALLOCATIONS[name]),
  },
  setxattr: { args: ['path', 'text', 'text'], help: 'sets an extended attribute', needs: attributes },
  removexattr: { args: ['path', 'text'], help: 'removes an extended attribute', needs: attributes },
  chmod: { args: ['path', 'mode'], help: 'sets permission bits' },
  chown: { args: ['path', 'owner', 'owner'], help: 'sets user and group' },
  fsync: { args: ['file'], help: 'makes a file or directory durable' },
  fdatasync: { args: ['file'], help: 'makes what is read of a file durable' },
  msync: { args: range, help: 'makes stores of a range durable' },
  'sync-range': { args: range, help: 'writes pages of a range back, without a promise' },
  syncfs: { args: [], help: 'makes everything durable' },
  sync: { args: [], help: 'makes everything durable' },
};

/** Whether the file system offers what a step does. */
export function offers(
  capabilities: FsCapabilities,
  [name, ...args]: readonly [string, ...(string | number)[]],
): boolean {
  return OPERATIONS[name].needs?.(capabilities, args) ?? true;
}

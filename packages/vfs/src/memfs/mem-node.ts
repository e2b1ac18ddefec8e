import type { Inode } from '../inode.js';
import type { MemDirectory } from './mem-directory.js';
import type { MemFile } from './mem-file.js';

/** What `MemFs` keeps of an inode besides its attributes. */
export interface MemNode {
  readonly file: MemFile | null;
  readonly directory: MemDirectory | null;
  /** Of a symbolic link. */
  readonly target: string;
  attributes: Map<string, Uint8Array> | null;
}

/** Contents of a regular file. */
export function fileOf(inode: Inode): MemFile {
  return (inode.state as MemNode).file as MemFile;
}

/** Entries of a directory. */
export function directoryOf(inode: Inode): MemDirectory {
  return (inode.state as MemNode).directory as MemDirectory;
}

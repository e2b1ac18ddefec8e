/** A file as it is found after recovery, by our own code or by a real kernel. */
export interface TreeNode {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly links: number;
  /** Bytes. */
  readonly size: number;
  /** In units of 512 bytes, as `st_blocks`. */
  readonly sectors: number;
  /** Of a symbolic link. */
  readonly target: string;
  /** Extended attributes of user programs: name to value, both byte strings. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Of a regular file. */
  readonly contents: Uint8Array;
}

/** A whole tree: every path (relative, the root is the empty string) leads to a node; links of one file share a node. */
export type Tree = ReadonlyMap<string, TreeNode>;

import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import type { Geometry } from '../format/superblock.js';
import type { Volume } from '../volume/volume.js';

/** Something that is wrong with a file system. */
export interface Problem {
  /** What is wrong: `superblock`, `group`, `inode`, `directory`, `journal`. */
  readonly structure: 'superblock' | 'group' | 'inode' | 'directory' | 'journal';
  /** Which one: number of the group or inode, 0 where there is only one. */
  readonly place: number;
  readonly reason: string;
}

/** What a check has found out so far. */
export class Findings {
  readonly volume: Volume;
  readonly geometry: Geometry;
  readonly problems: Problem[] = [];
  /** A bit a block: something lies there. */
  readonly claimed: Uint8Array;
  /** By inode: it is in use. */
  readonly used: Uint8Array;
  /** By inode: kind of file, 0: not in use. */
  readonly kinds: Uint8Array;
  /** By inode: links that it says it has, and entries that lead to it. */
  readonly links: Uint16Array;
  readonly found: Uint32Array;
  /** Directories by group. */
  readonly directories: Uint32Array;

  constructor(volume: Volume) {
    const { geometry } = volume;
    this.volume = volume;
    this.geometry = geometry;
    this.claimed = new Uint8Array(Math.ceil(geometry.blocks / 8));
    this.used = new Uint8Array(geometry.inodes + 1);
    this.kinds = new Uint8Array(geometry.inodes + 1);
    this.links = new Uint16Array(geometry.inodes + 1);
    this.found = new Uint32Array(geometry.inodes + 1);
    this.directories = new Uint32Array(geometry.groups);
  }

  add(structure: Problem['structure'], place: number, reason: string): void {
    this.problems.push({ structure, place, reason });
  }

  /** Runs a part of the check; damage that stops it is a problem. @throws FsError EIO */
  *part<T>(structure: Problem['structure'], place: number, task: Task<T>): Task<T | null> {
    try {
      return yield* task;
    } catch (error) {
      if (!(error instanceof FsError) || error.code === 'EIO') throw error;
      this.add(structure, place, error.message);
      return null;
    }
  }

  /** Notes that blocks are in use; a block that already is so is a problem of whoever claims it. */
  claim(start: number, length: number, structure: Problem['structure'], place: number): void {
    let first = -1;
    let count = 0;
    for (let block = start; block < start + length; block++) {
      const bit = 1 << (block & 7);
      if ((this.claimed[block >>> 3] & bit) !== 0) {
        if (count++ === 0) first = block;
      }
      this.claimed[block >>> 3] |= bit;
    }
    if (count > 0) this.add(structure, place, `${count} blocks from ${first} on belong to something else as well`);
  }

  isClaimed(block: number): boolean {
    return (this.claimed[block >>> 3] & (1 << (block & 7))) !== 0;
  }
}

import type { Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import { hashName } from '../format/hash.js';
import { Ino } from '../format/superblock.js';
import type { Journal } from '../journal/journal.js';
import type { Transaction } from '../journal/transaction.js';
import { nextFree } from './free-runs.js';
import type { Groups } from './groups.js';

/** Chooses where new inodes go: directories apart from each other (Orlov), files with their directory. */
export class InodeAllocator {
  private readonly groups: Groups;
  private readonly journal: Journal;
  private readonly hash: { major: number; minor: number } = { major: 0, minor: 0 };

  constructor(groups: Groups, journal: Journal) {
    this.groups = groups;
    this.journal = journal;
  }

  /** A free number, marked as used. @throws FsError ENOSPC, EIO, EUCLEAN */
  *take(transaction: Transaction, parent: number, name: string, kind: number): Task<number> {
    const { groups } = this;
    if (groups.totalFreeInodes === 0) throw new FsError('ENOSPC', 'no inode is free');
    const directory = kind === FileKind.directory;
    const first = directory ? this.groupForDirectory(parent, name) : this.groupOf(parent);
    for (let step = 0; step < groups.count; step++) {
      const group = (first + step) % groups.count;
      if (groups.freeInodes[group] === 0) continue;
      const bitmap = yield* groups.inodeBitmap(group);
      const index = nextFree(bitmap.bytes, 0, groups.geometry.inodesPerGroup);
      if (index === groups.geometry.inodesPerGroup)
        throw new FsError('EUCLEAN', `inode bitmap of group ${group}: no bit is free`);
      this.journal.change(bitmap, transaction);
      this.journal.change(groups.descriptorBuffer(group), transaction);
      groups.markInode(bitmap, index, true, directory);
      return group * groups.geometry.inodesPerGroup + index + 1;
    }
    throw new FsError('EUCLEAN', 'group descriptors: free inodes that no group has');
  }

  /** Marks a number as free. */
  *free(transaction: Transaction, ino: number, kind: number): Task<void> {
    const group = this.groupOf(ino);
    const bitmap = yield* this.groups.inodeBitmap(group);
    this.journal.change(bitmap, transaction);
    this.journal.change(this.groups.descriptorBuffer(group), transaction);
    const index = (ino - 1) % this.groups.geometry.inodesPerGroup;
    this.groups.markInode(bitmap, index, false, kind === FileKind.directory);
  }

  groupOf(ino: number): number {
    return Math.floor((ino - 1) / this.groups.geometry.inodesPerGroup);
  }

  /**
   * Below the root, directories are spread over flex groups with room; elsewhere they stay near their parent as long as
   * its flex group is not crowded.
   */
  private groupForDirectory(parent: number, name: string): number {
    const { groups } = this;
    const { geometry, count } = groups;
    const flex = Math.min(geometry.groupsPerFlex, count);
    const flexGroups = Math.ceil(count / flex);
    const averageInodes = groups.totalFreeInodes / flexGroups;
    const averageBlocks = groups.totalFreeBlocks / flexGroups;
    const parentFlex = Math.floor(this.groupOf(parent) / flex);
    if (parent === Ino.root) {
      const { hashSeed, hashVersion, unsignedHash } = geometry;
      const start = hashName(name, hashVersion, unsignedHash, hashSeed, this.hash).major % flexGroups;
      let best = -1;
      let fewest = Number.POSITIVE_INFINITY;
      for (let step = 0; step < flexGroups; step++) {
        const at = (start + step) % flexGroups;
        const [inodes, blocks, dirs] = this.totals(at, flex);
        if (inodes === 0 || dirs >= fewest || inodes < averageInodes || blocks < averageBlocks) continue;
        best = at;
        fewest = dirs;
      }
      if (best >= 0) return this.withFreeInode(best, flex);
    } else {
      const directories = groups.usedDirs.reduce((sum, dirs) => sum + dirs, 0);
      const mostDirs = directories / flexGroups + (geometry.inodesPerGroup * flex) / 16;
      const leastInodes = Math.max(1, averageInodes - (geometry.inodesPerGroup * flex) / 4);
      const leastBlocks = averageBlocks - (geometry.blocksPerGroup * flex) / 4;
      for (let step = 0; step < flexGroups; step++) {
        const at = (parentFlex + step) % flexGroups;
        const [inodes, blocks, dirs] = this.totals(at, flex);
        if (dirs < mostDirs && inodes >= leastInodes && blocks >= leastBlocks) return this.withFreeInode(at, flex);
      }
    }
    for (let step = 0; step < flexGroups; step++) {
      const at = (parentFlex + step) % flexGroups;
      const [inodes] = this.totals(at, flex);
      if (inodes > 0 && inodes >= averageInodes) return this.withFreeInode(at, flex);
    }
    return this.groupOf(parent);
  }

  /** Free inodes, free blocks and directories of a flex group. */
  private totals(at: number, flex: number): [inodes: number, blocks: number, dirs: number] {
    const { freeInodes, freeBlocks, usedDirs, count } = this.groups;
    let [inodes, blocks, dirs] = [0, 0, 0];
    for (let group = at * flex; group < Math.min(count, (at + 1) * flex); group++) {
      inodes += freeInodes[group];
      blocks += freeBlocks[group];
      dirs += usedDirs[group];
    }
    return [inodes, blocks, dirs];
  }

  private withFreeInode(at: number, flex: number): number {
    const { freeInodes, count } = this.groups;
    for (let group = at * flex; group < Math.min(count, (at + 1) * flex); group++)
      if (freeInodes[group] > 0) return group;
    return at * flex;
  }
}

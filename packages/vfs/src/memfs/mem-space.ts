import { FsError } from '../errors.js';

/** Pages and inodes that are left. */
export class MemSpace {
  readonly pages: number;
  readonly inodes: number;
  freePages: number;
  freeInodes: number;

  constructor(pages: number, inodes: number) {
    this.pages = pages;
    this.inodes = inodes;
    this.freePages = pages;
    this.freeInodes = inodes;
  }

  /** @throws FsError ENOSPC, and takes nothing then. */
  takePages(count: number): void {
    if (count > this.freePages) throw new FsError('ENOSPC', `${count} pages wanted, ${this.freePages} are free`);
    this.freePages -= count;
  }

  /** @throws FsError ENOSPC */
  takeInode(): void {
    if (this.freeInodes === 0) throw new FsError('ENOSPC', 'no inode is free');
    this.freeInodes--;
  }
}

import { InputError } from '@flashstack/sim';
import { setBit } from '../format/bytes.js';
import { isBackupGroup, MKFS_BLOCK, MKFS_FLEX, type Plan } from './plan.js';

/** Where a group's own metadata lie. */
export interface GroupPlace {
  readonly blockBitmap: number;
  readonly inodeBitmap: number;
  readonly inodeTable: number;
}

/** A run of blocks. */
export interface Run {
  readonly start: number;
  readonly length: number;
}

/** Which block is taken by what when a file system is new. */
export class MkfsLayout {
  readonly plan: Plan;
  readonly groups: readonly GroupPlace[];
  /** Blocks of superblocks, descriptors, bitmaps and tables. */
  readonly metadataBlocks: number;
  private readonly used: Uint8Array;

  constructor(plan: Plan) {
    this.plan = plan;
    this.used = new Uint8Array(Math.ceil(plan.blocks / 8));
    for (let group = 0; group < plan.groups; group++) {
      if (isBackupGroup(group)) this.take({ start: this.start(group), length: 1 + plan.descriptorBlocks });
    }
    const groups: GroupPlace[] = [];
    for (let first = 0; first < plan.groups; first += MKFS_FLEX) this.placeFlexGroup(first, groups);
    this.groups = groups;
    let metadata = 0;
    for (let group = 0; group < plan.groups; group++) metadata += this.usedIn(group);
    this.metadataBlocks = metadata;
  }

  /** First block of a group. */
  start(group: number): number {
    return group * this.plan.blocksPerGroup;
  }

  blocksOf(group: number): number {
    return Math.min(this.plan.blocksPerGroup, this.plan.blocks - this.start(group));
  }

  isUsed(block: number): boolean {
    return (this.used[block >>> 3] & (1 << (block & 7))) !== 0;
  }

  usedIn(group: number): number {
    let count = 0;
    const start = this.start(group);
    for (let at = 0; at < this.blocksOf(group); at++) if (this.isUsed(start + at)) count++;
    return count;
  }

  /** Takes free blocks from `from` on, round the end of the file system: runs in order. */
  allocate(count: number, from: number): Run[] {
    const runs: { start: number; length: number }[] = [];
    const { blocks } = this.plan;
    let left = count;
    for (let step = 0; step < blocks && left > 0; step++) {
      const block = (from + step) % blocks;
      if (this.isUsed(block)) continue;
      setBit(this.used, block);
      left--;
      const last = runs.at(-1);
      if (last !== undefined && last.start + last.length === block) last.length++;
      else runs.push({ start: block, length: 1 });
    }
    if (left > 0) {
      const text = `${blocks} blocks have no room for ${count} more: take smaller journalBlocks or more blocks.`;
      throw new InputError('ERR_EXT4_MKFS', text, 'journalBlocks');
    }
    return runs;
  }

  /** A group's block bitmap; what lies behind a short group counts as used. */
  bitmap(group: number): Uint8Array {
    const bitmap = new Uint8Array(MKFS_BLOCK).fill(0xff);
    const start = this.start(group);
    for (let at = 0; at < this.blocksOf(group); at++) {
      if (!this.isUsed(start + at)) bitmap[at >>> 3] &= ~(1 << (at & 7));
    }
    return bitmap;
  }

  /** Where mke2fs looks for the journal first: in the middle, in the group of three with the most room. */
  journalGoal(): number {
    const { groups, blocks, blocksPerGroup } = this.plan;
    const middle = Math.floor(Math.floor(blocks / 2) / blocksPerGroup);
    const aligned = middle > MKFS_FLEX;
    const first = aligned ? middle - (middle % MKFS_FLEX) : Math.max(0, middle - 1);
    const anchor = aligned ? first : middle;
    const last = anchor + 1 < groups ? anchor + 1 : anchor;
    let best = first;
    for (let group = first + 1; group <= last; group++) {
      if (this.freeIn(group) > this.freeIn(best)) best = group;
    }
    return this.start(best);
  }

  private freeIn(group: number): number {
    return this.blocksOf(group) - this.usedIn(group);
  }

  /** Bitmaps of blocks, bitmaps of inodes, tables: each kind of all groups in one run, at the start of the first group. */
  private placeFlexGroup(first: number, out: GroupPlace[]): void {
    const { plan } = this;
    const count = Math.min(MKFS_FLEX, plan.groups - first);
    const spacing = count === 1 ? MKFS_FLEX : count;
    const from = this.start(first) + (isBackupGroup(first) ? 1 + plan.descriptorBlocks : 0);
    for (let at = 0; at < count; at++) {
      const blockBitmap = from + at;
      const inodeBitmap = from + spacing + at;
      const inodeTable = from + 2 * spacing + at * plan.tableBlocks;
      out.push({ blockBitmap, inodeBitmap, inodeTable });
      this.take({ start: blockBitmap, length: 1 });
      this.take({ start: inodeBitmap, length: 1 });
      this.take({ start: inodeTable, length: plan.tableBlocks });
    }
  }

  private take({ start, length }: Run): void {
    if (start + length > this.plan.blocks) {
      const { blocks } = this.plan;
      throw new InputError('ERR_EXT4_MKFS', `${blocks} blocks are too few for their own metadata.`, 'blocks');
    }
    for (let block = start; block < start + length; block++) setBit(this.used, block);
  }
}

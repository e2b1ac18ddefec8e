import { InputError } from '@flashstack/sim';

/** Fixed origins of requests, 0–31: who caused a write, so that write amplification can be taken apart. */
export const Origin = {
  unknown: 0,
  fileData: 1,
  directory: 2,
  inode: 3,
  /** Index blocks of a file: node blocks, extent blocks, indirect blocks. */
  node: 4,
  /** Bitmaps, segment tables, address tables. */
  allocationMap: 5,
  journal: 6,
  checkpoint: 7,
  superblock: 8,
  /** Data and nodes moved by a file-system cleaner. */
  cleaning: 9,
  /** Segment summaries. */
  summary: 10,
  extendedAttribute: 11,
  symlink: 12,
  quota: 13,
  swap: 14,
  /** A program that uses the device without a file system: database on a raw device, block trace. */
  rawDevice: 15,
  /** Journal of a database or program inside a file. */
  applicationLog: 16,
  /** What a drive held before the run: nobody of the stack wrote it. */
  preconditioned: 28,
  /** What a drive keeps of its own beside the data, as its FTL numbers it: states of zones, translation pages, trims. */
  zoneState: 29,
  translationPage: 30,
  trimMap: 31,
} as const;

const FIRST_OWN = 32;
const LIMIT = 256;

/** Names of origins in one stack: the fixed ones, and 32–255 as its layers define them in order of assembly. */
export class OriginTable {
  private readonly names: string[] = [];

  constructor() {
    for (const [name, origin] of Object.entries(Origin)) this.names[origin] = name;
  }

  /**
   * The number of this name, which is new from 32 on unless it is known already.
   * @throws InputError `ERR_ORIGIN_NAME` for an empty name, `ERR_ORIGIN_FULL` after 224 names.
   */
  define(name: string): number {
    if (name === '') throw new InputError('ERR_ORIGIN_NAME', 'an origin needs a name');
    const known = this.names.indexOf(name);
    if (known >= 0) return known;
    const origin = Math.max(FIRST_OWN, this.names.length);
    if (origin >= LIMIT) throw new InputError('ERR_ORIGIN_FULL', `no number is left for origin "${name}"`);
    this.names[origin] = name;
    return origin;
  }

  /** The name of an origin; `origin 77` if it has none. */
  nameOf(origin: number): string {
    return this.names[origin] ?? `origin ${origin}`;
  }
}

import { mix32 } from '@flashstack/sim';
import { expandTag, tagOfBytes } from '../contents.js';

/** Bytes of a sector, the unit that a torn write is made of. */
const SECTOR_BYTES = 512;
const SECTOR_WORDS: number = SECTOR_BYTES / 4;
/** Blocks of one chunk of memory. */
const CHUNK_BLOCKS = 64;

/** Version of a block that is all zero; every pool has it. */
export const ZEROES = 0;
/** Version of a block that cannot be read; every pool has it. */
export const UNREADABLE = 1;
const NO_SLOT = -1;

/**
 * Contents that blocks have had, by number. A pool is a stack: versions are added at its end, and given up from there, so
 * that neither costs more than their contents. Contents that are one word over and over need no memory of their own. A pool
 * may lie over another one that does not change any more, whose versions keep their numbers.
 */
export class VersionPool {
  readonly blockBytes: number;
  /** Sectors of a block. */
  readonly sectors: number;
  private readonly under: VersionPool | null;
  /** Number of the first version that is not of the pool below. */
  private readonly first: number;
  private versions: number;
  // Columns, by number less `first`.
  private tags: Uint32Array = new Uint32Array(256);
  /** Where the bytes of a version are, or that a tag says it. */
  private slots: Int32Array = new Int32Array(256);
  /** Slots in use before each version, so that giving up versions gives up theirs. */
  private slotsBefore: Int32Array = new Int32Array(256);
  private hashed: Uint8Array = new Uint8Array(256);
  /** Two words for each version, and for each of its sectors; valid where `hashed` says so. */
  private hashes: Int32Array = new Int32Array(2 * 256);
  private sectorHashes: Int32Array;
  private readonly bytes: Uint8Array[] = [];
  private readonly words: Int32Array[] = [];
  private readonly scratch: Int32Array = new Int32Array(SECTOR_WORDS);
  private slotCount = 0;

  /** @param under a pool that is not added to any more. */
  constructor(blockBytes: number, under: VersionPool | null = null) {
    this.blockBytes = blockBytes;
    this.sectors = blockBytes / SECTOR_BYTES;
    this.under = under;
    this.first = under === null ? 0 : under.count;
    this.versions = this.first;
    this.sectorHashes = new Int32Array(2 * this.sectors * 256);
    if (under !== null) return;
    this.addTag(0);
    // Whatever cannot be read hashes like nothing that can.
    const unreadable = this.addTag(0);
    this.hashed[unreadable] = 1;
    this.hashes[2 * unreadable] = 0x6e6f7065;
    this.hashes[2 * unreadable + 1] = 0x72656164;
  }

  /** Versions that there are; the next one gets this number. */
  get count(): number {
    return this.versions;
  }

  /** Gives up all versions from this number on; those of the pool below stay. */
  truncate(count: number): void {
    if (count >= this.versions) return;
    this.slotCount = this.slotsBefore[count - this.first];
    this.versions = count;
  }

  /** A version with the block at `offset` of these bytes. */
  addBytes(data: Uint8Array, offset: number): number {
    const tag = tagOfBytes(data, offset, this.blockBytes);
    if (tag >= 0) return this.addTag(tag);
    const version = this.add();
    const whole = offset === 0 && data.length === this.blockBytes;
    this.takeSlot(version).set(whole ? data : data.subarray(offset, offset + this.blockBytes));
    return version;
  }

  /** A version that is this word over and over. */
  addTag(tag: number): number {
    const version = this.add();
    this.tags[version - this.first] = tag;
    return version;
  }

  /** A version whose sectors are each of another version: those from `at` of `from`. */
  addMixed(from: Int32Array, at: number): number {
    const version = this.add();
    const into = this.takeSlot(version);
    for (let sector = 0; sector < this.sectors; sector++) {
      this.poolOf(from[at + sector]).copySector(from[at + sector], sector, into);
    }
    return version;
  }

  /** The word that a version is made of, −1 if there is none. */
  tagOf(version: number): number {
    const pool = this.poolOf(version);
    const index = version - pool.first;
    return pool.slots[index] === NO_SLOT ? pool.tags[index] : -1;
  }

  /** Copies a version's contents out. */
  copyOut(version: number, into: Uint8Array, offset: number): void {
    const pool = this.poolOf(version);
    const index = version - pool.first;
    const slot = pool.slots[index];
    if (slot === NO_SLOT) expandTag(pool.tags[index], into, offset, this.blockBytes);
    else into.set(pool.bytes[slot], offset);
  }

  /** True if the hashes of two versions agree, as those of equal contents do. */
  same(a: number, b: number): boolean {
    return a === b || (this.half(a, 0) === this.half(b, 0) && this.half(a, 1) === this.half(b, 1));
  }

  /** As `same`, of one sector. */
  sameSector(a: number, b: number, sector: number): boolean {
    return (
      this.sectorHalf(a, sector, 0) === this.sectorHalf(b, sector, 0) &&
      this.sectorHalf(a, sector, 1) === this.sectorHalf(b, sector, 1)
    );
  }

  /** One half (0, 1) of the hash of a version's contents, 32 bits each. */
  half(version: number, half: number): number {
    const pool = this.poolOf(version);
    const index = version - pool.first;
    if (pool.hashed[index] === 0) pool.hash(index);
    return pool.hashes[2 * index + half];
  }

  /** What `half` of a block would be whose sectors are each of another version, those from `at` of `from`. */
  mixedHalf(from: Int32Array, at: number, half: number): number {
    let hash = 0;
    for (let sector = 0; sector < this.sectors; sector++) hash ^= this.sectorHalf(from[at + sector], sector, half);
    return hash;
  }

  private sectorHalf(version: number, sector: number, half: number): number {
    const pool = this.poolOf(version);
    const index = version - pool.first;
    if (pool.hashed[index] === 0) pool.hash(index);
    return pool.sectorHashes[2 * (index * this.sectors + sector) + half];
  }

  private poolOf(version: number): VersionPool {
    return version < this.first ? (this.under as VersionPool) : this;
  }

  /** The hash of a block is the sum of its sectors', each with its place: a torn block needs no pass over its bytes. */
  private hash(index: number): void {
    this.hashed[index] = 1;
    const slot = this.slots[index];
    if (slot === NO_SLOT) this.scratch.fill(this.tags[index]);
    const words = slot === NO_SLOT ? this.scratch : this.words[slot];
    let low = 0;
    let high = 0;
    for (let sector = 0; sector < this.sectors; sector++) {
      const begin = slot === NO_SLOT ? 0 : sector * SECTOR_WORDS;
      let a = 0x9e3779b9 | 0;
      let b = 0x85ebca6b | 0;
      for (let at = begin; at < begin + SECTOR_WORDS; at++) {
        const word = words[at];
        a = Math.imul(a ^ word, 0x9e3779b1);
        a = (a << 13) | (a >>> 19);
        b = Math.imul(b + word, 0xc2b2ae3d);
        b = (b << 17) | (b >>> 15);
      }
      const first = mix32(a ^ Math.imul(sector + 1, 0x27d4eb2f));
      const second = mix32(b ^ Math.imul(sector + 1, 0x165667b1));
      const place = 2 * (index * this.sectors + sector);
      this.sectorHashes[place] = first;
      this.sectorHashes[place + 1] = second;
      low ^= first;
      high ^= second;
    }
    this.hashes[2 * index] = low;
    this.hashes[2 * index + 1] = high;
  }

  private copySector(version: number, sector: number, into: Uint8Array): void {
    const index = version - this.first;
    const slot = this.slots[index];
    const begin = sector * SECTOR_BYTES;
    if (slot === NO_SLOT) expandTag(this.tags[index], into, begin, SECTOR_BYTES);
    else into.set(this.bytes[slot].subarray(begin, begin + SECTOR_BYTES), begin);
  }

  private add(): number {
    const index = this.versions - this.first;
    if (index === this.tags.length) this.grow();
    this.tags[index] = 0;
    this.slots[index] = NO_SLOT;
    this.slotsBefore[index] = this.slotCount;
    this.hashed[index] = 0;
    return this.versions++;
  }

  private takeSlot(version: number): Uint8Array {
    if (this.slotCount === this.bytes.length) {
      const chunk = new ArrayBuffer(CHUNK_BLOCKS * this.blockBytes);
      for (let at = 0; at < chunk.byteLength; at += this.blockBytes) {
        this.bytes.push(new Uint8Array(chunk, at, this.blockBytes));
        this.words.push(new Int32Array(chunk, at, this.blockBytes / 4));
      }
    }
    this.slots[version - this.first] = this.slotCount;
    return this.bytes[this.slotCount++];
  }

  private grow(): void {
    const size = this.tags.length * 2;
    this.tags = enlarged(this.tags, new Uint32Array(size));
    this.slots = enlarged(this.slots, new Int32Array(size));
    this.slotsBefore = enlarged(this.slotsBefore, new Int32Array(size));
    this.hashed = enlarged(this.hashed, new Uint8Array(size));
    this.hashes = enlarged(this.hashes, new Int32Array(2 * size));
    this.sectorHashes = enlarged(this.sectorHashes, new Int32Array(2 * this.sectors * size));
  }
}

/** The new array with the old one's contents at its beginning. */
export function enlarged<T extends Uint8Array | Int32Array | Uint32Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}

/** What a block with this half of a hash adds to the same half of the identity of an image. */
export function blockIdentity(block: number, hash: number, half: number): number {
  return mix32(hash ^ mix32(block ^ (half === 0 ? 0x51ed270b : 0x2545f491)));
}

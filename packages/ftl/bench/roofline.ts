/**
 * The smallest typed-array loop that does the same work as the FTL on the timeline scheduler under random writes: page
 * mapping, striping over units, greedy collection by bucket lists, and next-free times of channels and dies. No
 * abstraction, no faults, no statistics, no completions. Its speed tells machines apart; its write amplification must be
 * that of the FTL.
 */

export interface RooflineShape {
  readonly channels: number;
  readonly diesPerChannel: number;
  readonly planes: number;
  readonly blocksPerUnit: number;
  readonly pagesPerBlock: number;
  /** Logical pages in use. */
  readonly pages: number;
}

const READ_NS = 75_000;
const PROGRAM_NS = 750_000;
const ERASE_NS = 3_800_000;
const TRANSFER_NS = 12_301;

export class Roofline {
  programs = 0;
  writes = 0;
  private readonly shape: RooflineShape;
  private readonly l2p: Int32Array;
  private readonly p2l: Int32Array;
  private readonly valid: Int32Array;
  private readonly closed: Uint8Array;
  private readonly head: Int32Array;
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly lowest: Int32Array;
  private readonly free: Int32Array;
  private readonly freeCount: Int32Array;
  private readonly hostBlock: Int32Array;
  private readonly hostPage: Int32Array;
  private readonly gcBlock: Int32Array;
  private readonly gcPage: Int32Array;
  private readonly channelFree: Float64Array;
  private readonly dieFree: Float64Array;
  private readonly units: number;
  private unit = 0;
  private now = 0;
  private random = 123456789;

  constructor(shape: RooflineShape) {
    const { channels, diesPerChannel, planes, blocksPerUnit, pagesPerBlock } = shape;
    this.shape = shape;
    this.units = channels * diesPerChannel * planes;
    const blocks = this.units * blocksPerUnit;
    this.l2p = new Int32Array(shape.pages).fill(-1);
    this.p2l = new Int32Array(blocks * pagesPerBlock).fill(-1);
    this.valid = new Int32Array(blocks);
    this.closed = new Uint8Array(blocks);
    this.head = new Int32Array(this.units * (pagesPerBlock + 1)).fill(-1);
    this.next = new Int32Array(blocks);
    this.previous = new Int32Array(blocks);
    this.lowest = new Int32Array(this.units).fill(pagesPerBlock);
    this.free = new Int32Array(blocks);
    this.freeCount = new Int32Array(this.units).fill(blocksPerUnit);
    for (let i = 0; i < blocks; i++) this.free[i] = i;
    this.hostBlock = new Int32Array(this.units).fill(-1);
    this.hostPage = new Int32Array(this.units);
    this.gcBlock = new Int32Array(this.units).fill(-1);
    this.gcPage = new Int32Array(this.units);
    this.channelFree = new Float64Array(channels);
    this.dieFree = new Float64Array(channels * diesPerChannel);
    for (let lpn = 0; lpn < shape.pages; lpn++) this.write(lpn);
  }

  /** Page operations so far: every program, and a read before each that is not the host's. */
  get operations(): number {
    return 2 * this.programs - this.writes;
  }

  /** Random writes over all pages in use. */
  run(n: number): void {
    const { pages } = this.shape;
    for (let i = 0; i < n; i++) {
      let x = this.random;
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      this.random = x;
      this.write((x >>> 0) % pages);
      // As fast as the slowest die can take it, so that next-free times stay near the present.
      this.now += PROGRAM_NS / this.units;
    }
  }

  private write(lpn: number): void {
    const unit = this.unit;
    this.unit = unit + 1 === this.units ? 0 : unit + 1;
    if (this.hostBlock[unit] < 0) {
      this.hostBlock[unit] = this.take(unit);
      this.hostPage[unit] = 0;
      while (this.freeCount[unit] <= 2) this.collect(unit);
    }
    const { pagesPerBlock } = this.shape;
    const block = this.hostBlock[unit];
    this.place(lpn, block * pagesPerBlock + this.hostPage[unit], block);
    this.writes++;
    this.program(unit, this.now);
    if (++this.hostPage[unit] === pagesPerBlock) {
      this.close(unit, block);
      this.hostBlock[unit] = -1;
    }
  }

  private collect(unit: number): void {
    const { pagesPerBlock } = this.shape;
    const base = unit * (pagesPerBlock + 1);
    let level = this.lowest[unit];
    while (this.head[base + level] < 0) level++;
    this.lowest[unit] = level;
    const victim = this.head[base + level];
    this.unlink(base + level, victim);
    this.closed[victim] = 0;
    const first = victim * pagesPerBlock;
    for (let ppn = first; this.valid[victim] > 0; ppn++) {
      const lpn = this.p2l[ppn];
      if (lpn < 0 || this.l2p[lpn] !== ppn) continue;
      if (this.gcBlock[unit] < 0) {
        this.gcBlock[unit] = this.take(unit);
        this.gcPage[unit] = 0;
      }
      const block = this.gcBlock[unit];
      this.place(lpn, block * pagesPerBlock + this.gcPage[unit], block);
      const die = Math.floor(unit / this.shape.planes);
      const start = Math.max(this.now, this.dieFree[die]);
      const channel = Math.floor(die / this.shape.diesPerChannel);
      const moved = Math.max(start + READ_NS, this.channelFree[channel]) + TRANSFER_NS;
      this.channelFree[channel] = moved;
      this.dieFree[die] = moved;
      this.program(unit, moved);
      if (++this.gcPage[unit] === pagesPerBlock) {
        this.close(unit, block);
        this.gcBlock[unit] = -1;
      }
    }
    const die = Math.floor(unit / this.shape.planes);
    this.dieFree[die] = Math.max(this.now, this.dieFree[die]) + ERASE_NS;
    this.free[unit * this.shape.blocksPerUnit + this.freeCount[unit]++] = victim;
  }

  private program(unit: number, ready: number): void {
    const die = Math.floor(unit / this.shape.planes);
    const channel = Math.floor(die / this.shape.diesPerChannel);
    const start = Math.max(ready, this.dieFree[die], this.channelFree[channel]);
    this.channelFree[channel] = start + TRANSFER_NS;
    this.dieFree[die] = start + TRANSFER_NS + PROGRAM_NS;
    this.programs++;
  }

  private place(lpn: number, ppn: number, block: number): void {
    const { pagesPerBlock } = this.shape;
    const old = this.l2p[lpn];
    if (old >= 0) {
      const from = Math.floor(old / pagesPerBlock);
      const left = --this.valid[from];
      if (this.closed[from] !== 0) {
        const unit = Math.floor(from / this.shape.blocksPerUnit);
        const base = unit * (pagesPerBlock + 1);
        this.unlink(base + left + 1, from);
        this.link(base + left, from);
        if (left < this.lowest[unit]) this.lowest[unit] = left;
      }
    }
    this.l2p[lpn] = ppn;
    this.p2l[ppn] = lpn;
    this.valid[block]++;
  }

  private close(unit: number, block: number): void {
    this.closed[block] = 1;
    const left = this.valid[block];
    this.link(unit * (this.shape.pagesPerBlock + 1) + left, block);
    if (left < this.lowest[unit]) this.lowest[unit] = left;
  }

  private take(unit: number): number {
    return this.free[unit * this.shape.blocksPerUnit + --this.freeCount[unit]];
  }

  private link(list: number, block: number): void {
    const after = this.head[list];
    this.next[block] = after;
    this.previous[block] = -1;
    if (after >= 0) this.previous[after] = block;
    this.head[list] = block;
  }

  private unlink(list: number, block: number): void {
    const before = this.previous[block];
    const after = this.next[block];
    if (before < 0) this.head[list] = after;
    else this.next[before] = after;
    if (after >= 0) this.previous[after] = before;
  }
}

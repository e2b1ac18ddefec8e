import { mix32 } from '@flashstack/sim';

/**
 * What remains of evicted pages: the age of the cache when each went. The last `capacity` evictions are kept; one that is
 * older could not count any more, since more pages have gone since then than the cache has.
 */
export class Shadows {
  private readonly owner: Int32Array;
  private readonly page: Int32Array;
  private readonly age: Int32Array;
  /** Next entry of the same chain, −1 at the end. */
  private readonly next: Int32Array;
  private readonly heads: Int32Array;
  private position = 0;

  constructor(capacity: number) {
    this.owner = new Int32Array(capacity).fill(-1);
    this.page = new Int32Array(capacity);
    this.age = new Int32Array(capacity);
    this.next = new Int32Array(capacity);
    let chains = 1;
    while (4 * chains <= capacity) chains *= 2;
    this.heads = new Int32Array(chains).fill(-1);
  }

  get bookkeepingBytes(): number {
    return 4 * (4 * this.owner.length + this.heads.length);
  }

  /** A page goes. `age` wraps at 32 bits. */
  put(owner: number, page: number, age: number): void {
    const entry = this.position;
    if (this.owner[entry] >= 0) this.unlink(entry);
    this.position = entry + 1 === this.owner.length ? 0 : entry + 1;
    this.owner[entry] = owner;
    this.page[entry] = page;
    this.age[entry] = age;
    const chain = this.chainOf(owner, page);
    this.next[entry] = this.heads[chain];
    this.heads[chain] = entry;
  }

  /** A page comes back: pages that went or became active since it went, or −1 if nothing is known of it. */
  take(owner: number, page: number, age: number): number {
    for (let entry = this.heads[this.chainOf(owner, page)]; entry >= 0; entry = this.next[entry]) {
      if (this.page[entry] !== page || this.owner[entry] !== owner) continue;
      this.unlink(entry);
      this.owner[entry] = -1;
      return (age - this.age[entry]) >>> 0;
    }
    return -1;
  }

  private chainOf(owner: number, page: number): number {
    return mix32(Math.imul(owner, 0x9e37_79b1) + page) & (this.heads.length - 1);
  }

  private unlink(entry: number): void {
    const chain = this.chainOf(this.owner[entry], this.page[entry]);
    let at = this.heads[chain];
    if (at === entry) {
      this.heads[chain] = this.next[entry];
      return;
    }
    while (this.next[at] !== entry) at = this.next[at];
    this.next[at] = this.next[entry];
  }
}

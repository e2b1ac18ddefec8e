import { mix32 } from '@flashstack/sim';

/**
 * What remains of evicted pages: the age of the cache when each went. The last `capacity` evictions are kept; one that is
 * older could not count any more, since more pages have gone since then than the cache has.
 */
export class Shadows {
  private readonly capacity: number;
  private owner: Int32Array = new Int32Array(0);
  private page: Int32Array = new Int32Array(0);
  private age: Int32Array = new Int32Array(0);
  /** Next entry of the same chain, −1 at the end. */
  private next: Int32Array = new Int32Array(0);
  private heads: Int32Array = new Int32Array(1);
  private position = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.resize(Math.min(capacity, 1024));
  }

  get bookkeepingBytes(): number {
    return 4 * (4 * this.owner.length + this.heads.length);
  }

  /** A page goes. `age` wraps at 32 bits. */
  put(owner: number, page: number, age: number): void {
    if (this.position === this.owner.length) {
      if (this.position < this.capacity) this.resize(Math.min(this.capacity, 2 * this.position));
      else this.position = 0;
    }
    const entry = this.position++;
    if (this.owner[entry] >= 0) this.unlink(entry);
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

  /** Makes room for more entries, and chains them anew. */
  private resize(entries: number): void {
    const { owner, page, age } = this;
    this.owner = new Int32Array(entries).fill(-1);
    this.page = new Int32Array(entries);
    this.age = new Int32Array(entries);
    this.next = new Int32Array(entries);
    let chains = 1;
    while (4 * chains <= entries) chains *= 2;
    this.heads = new Int32Array(chains).fill(-1);
    this.position = 0;
    for (let entry = 0; entry < owner.length; entry++) {
      if (owner[entry] >= 0) this.put(owner[entry], page[entry], age[entry]);
    }
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

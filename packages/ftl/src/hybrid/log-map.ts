/** Keys that begin side by side, since they are used together: a cache line of them. */
const NEIGHBOURS = 16;

/**
 * Page map of the log area: key of a logical slot (`HybridLayout.keyOf`) → physical slot, for those whose newest version is
 * in a log block. Open addressing with linear probing; an entry that is removed is closed up.
 */
export class LogMap {
  size = 0;
  /** Key per entry, −1: empty. */
  private keys: Int32Array;
  private values: Int32Array;
  private shift: number;

  /** Room for `entries` without growing. */
  constructor(entries: number) {
    const bits = Math.max(8, Math.ceil(Math.log2(2 * entries)));
    this.keys = new Int32Array(2 ** bits).fill(-1);
    this.values = new Int32Array(2 ** bits);
    this.shift = 36 - bits;
  }

  /** Physical slot of a key, −1 if the log does not hold it. */
  get(key: number): number {
    const { keys } = this;
    const wrap = keys.length - 1;
    let at = this.home(key);
    while (keys[at] !== key) {
      if (keys[at] < 0) return -1;
      at = (at + 1) & wrap;
    }
    return this.values[at];
  }

  set(key: number, psn: number): void {
    const { keys } = this;
    const wrap = keys.length - 1;
    let at = this.home(key);
    while (keys[at] !== key && keys[at] >= 0) at = (at + 1) & wrap;
    this.values[at] = psn;
    if (keys[at] === key) return;
    keys[at] = key;
    if (++this.size > 0.7 * keys.length) this.grow();
  }

  delete(key: number): void {
    const { keys, values } = this;
    const wrap = keys.length - 1;
    let hole = this.home(key);
    while (keys[hole] !== key) {
      if (keys[hole] < 0) return;
      hole = (hole + 1) & wrap;
    }
    this.size--;
    for (let at = (hole + 1) & wrap; keys[at] >= 0; at = (at + 1) & wrap) {
      const home = this.home(keys[at]);
      // It may move up only if its home is not behind the hole.
      if (((at - home) & wrap) < ((at - hole) & wrap)) continue;
      keys[hole] = keys[at];
      values[hole] = values[at];
      hole = at;
    }
    keys[hole] = -1;
  }

  clear(): void {
    this.keys.fill(-1);
    this.size = 0;
  }

  get byteLength(): number {
    return this.keys.byteLength + this.values.byteLength;
  }

  private home(key: number): number {
    return ((Math.imul(key >>> 4, 0x9e3779b1) >>> this.shift) << 4) | (key & (NEIGHBOURS - 1));
  }

  private grow(): void {
    const { keys, values } = this;
    this.keys = new Int32Array(keys.length * 2).fill(-1);
    this.values = new Int32Array(keys.length * 2);
    this.shift--;
    this.size = 0;
    for (let at = 0; at < keys.length; at++) if (keys[at] >= 0) this.set(keys[at], values[at]);
  }
}

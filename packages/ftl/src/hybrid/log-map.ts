/**
 * Page map of the log area: logical slot → physical slot, for those whose newest version is in a log block. Open addressing
 * with linear probing; an entry that is removed is closed up.
 */
export class LogMap {
  size = 0;
  /** Logical slot per entry, −1: empty. */
  private keys: Int32Array;
  private values: Int32Array;
  private shift: number;

  /** Room for `entries` without growing. */
  constructor(entries: number) {
    const bits = Math.max(4, Math.ceil(Math.log2(2 * entries)));
    this.keys = new Int32Array(2 ** bits).fill(-1);
    this.values = new Int32Array(2 ** bits);
    this.shift = 32 - bits;
  }

  /** Physical slot of `lpn`, −1 if the log does not hold it. */
  get(lpn: number): number {
    const { keys } = this;
    const wrap = keys.length - 1;
    let at = Math.imul(lpn, 0x9e3779b1) >>> this.shift;
    while (keys[at] !== lpn) {
      if (keys[at] < 0) return -1;
      at = (at + 1) & wrap;
    }
    return this.values[at];
  }

  set(lpn: number, psn: number): void {
    const { keys } = this;
    const wrap = keys.length - 1;
    let at = Math.imul(lpn, 0x9e3779b1) >>> this.shift;
    while (keys[at] !== lpn && keys[at] >= 0) at = (at + 1) & wrap;
    this.values[at] = psn;
    if (keys[at] === lpn) return;
    keys[at] = lpn;
    if (++this.size > 0.7 * keys.length) this.grow();
  }

  delete(lpn: number): void {
    const { keys, values, shift } = this;
    const wrap = keys.length - 1;
    let hole = Math.imul(lpn, 0x9e3779b1) >>> shift;
    while (keys[hole] !== lpn) {
      if (keys[hole] < 0) return;
      hole = (hole + 1) & wrap;
    }
    this.size--;
    for (let at = (hole + 1) & wrap; keys[at] >= 0; at = (at + 1) & wrap) {
      const home = Math.imul(keys[at], 0x9e3779b1) >>> shift;
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

  private grow(): void {
    const { keys, values } = this;
    this.keys = new Int32Array(keys.length * 2).fill(-1);
    this.values = new Int32Array(keys.length * 2);
    this.shift--;
    this.size = 0;
    for (let at = 0; at < keys.length; at++) if (keys[at] >= 0) this.set(keys[at], values[at]);
  }
}

/** The page reads of one request: slots of the same physical page become one read with a slot mask. */
export class PageReads {
  count = 0;
  ppn: Int32Array = new Int32Array(64);
  mask: Int32Array = new Int32Array(64);
  private readonly slotsPerPage: number;
  /** Open addressing: index + 1 of a page in `ppn`, by its number; entries of an older request have another stamp. */
  private table: Int32Array = new Int32Array(256);
  private stamp: Int32Array = new Int32Array(256);
  private request = 0;

  constructor(slotsPerPage: number) {
    this.slotsPerPage = slotsPerPage;
  }

  /** Begins a request of up to `slots` slots. */
  clear(slots: number): void {
    this.count = 0;
    this.request++;
    if (slots <= this.ppn.length) return;
    const size = 2 ** Math.ceil(Math.log2(slots));
    this.ppn = new Int32Array(size);
    this.mask = new Int32Array(size);
    this.table = new Int32Array(size * 4);
    this.stamp = new Int32Array(size * 4);
  }

  add(psn: number): void {
    const m = this.slotsPerPage;
    if (m === 1) {
      this.ppn[this.count] = psn;
      this.mask[this.count++] = 1;
      return;
    }
    const slot = psn % m;
    const ppn = (psn - slot) / m;
    const wrap = this.table.length - 1;
    let at = ppn & wrap;
    while (this.stamp[at] === this.request) {
      const index = this.table[at];
      if (this.ppn[index] === ppn) {
        this.mask[index] |= 1 << slot;
        return;
      }
      at = (at + 1) & wrap;
    }
    this.stamp[at] = this.request;
    this.table[at] = this.count;
    this.ppn[this.count] = ppn;
    this.mask[this.count++] = 1 << slot;
  }
}

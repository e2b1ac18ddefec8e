/** The cached entries that differ from their translation page, as a list for each page. */
export class DirtyEntries {
  private readonly flag: Uint8Array;
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly head: Int32Array;
  private readonly key: Int32Array;
  private readonly keysPerPage: number;

  /** `key` holds the key of each of the `entries`; page p has the `keysPerPage` keys from `p * keysPerPage` on. */
  constructor(entries: number, pages: number, key: Int32Array, keysPerPage: number) {
    this.flag = new Uint8Array(entries);
    this.next = new Int32Array(entries);
    this.previous = new Int32Array(entries);
    this.head = new Int32Array(pages).fill(-1);
    this.key = key;
    this.keysPerPage = keysPerPage;
  }

  has(entry: number): boolean {
    return this.flag[entry] !== 0;
  }

  add(entry: number): void {
    if (this.flag[entry] !== 0) return;
    this.flag[entry] = 1;
    const page = this.pageOf(entry);
    const first = this.head[page];
    this.previous[entry] = -1;
    this.next[entry] = first;
    if (first >= 0) this.previous[first] = entry;
    this.head[page] = entry;
  }

  remove(entry: number): void {
    if (this.flag[entry] === 0) return;
    this.flag[entry] = 0;
    const before = this.previous[entry];
    const after = this.next[entry];
    if (before < 0) this.head[this.pageOf(entry)] = after;
    else this.next[before] = after;
    if (after >= 0) this.previous[after] = before;
  }

  /** Removes all entries of a page. */
  removeAll(page: number): void {
    for (let entry = this.head[page]; entry >= 0; entry = this.next[entry]) this.flag[entry] = 0;
    this.head[page] = -1;
  }

  /** Removes the entries of a page with keys from `first` to `end`, exclusive. */
  removeRange(page: number, first: number, end: number): void {
    for (let entry = this.head[page]; entry >= 0; entry = this.next[entry]) {
      if (this.key[entry] >= first && this.key[entry] < end) this.remove(entry);
    }
  }

  clear(): void {
    this.flag.fill(0);
    this.head.fill(-1);
  }

  private pageOf(entry: number): number {
    return Math.floor(this.key[entry] / this.keysPerPage);
  }
}

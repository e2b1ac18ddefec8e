/** A set of small integers, a bit each: of all logical slots it is small enough to stay in a CPU's cache. */
export class Bits {
  private readonly words: Int32Array;

  /** Members are 0 … `size` − 1; the set is empty. */
  constructor(size: number) {
    this.words = new Int32Array(Math.ceil(size / 32));
  }

  get byteLength(): number {
    return this.words.byteLength;
  }

  has(member: number): boolean {
    return ((this.words[member >> 5] >>> (member & 31)) & 1) !== 0;
  }

  add(member: number): void {
    this.words[member >> 5] |= 1 << (member & 31);
  }

  delete(member: number): void {
    this.words[member >> 5] &= ~(1 << (member & 31));
  }

  /** Removes the members from `first` up to `end`, exclusive. */
  deleteRange(first: number, end: number): void {
    let member = first;
    for (; member < end && (member & 31) !== 0; member++) this.delete(member);
    for (; member + 32 <= end; member += 32) this.words[member >> 5] = 0;
    for (; member < end; member++) this.delete(member);
  }

  clear(): void {
    this.words.fill(0);
  }
}

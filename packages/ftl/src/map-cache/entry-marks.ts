/**
 * Two sets of small integers, a bit each: the entries that are cached and those that are owed. The words of both stand side
 * by side, so that asking for one brings the other into the CPU's cache.
 */
export class EntryMarks {
  /** Of 32 members each: a word of `cached`, then one of `owed`. */
  private readonly words: Int32Array;

  /** Members are 0 … `size` − 1; both sets are empty. */
  constructor(size: number) {
    this.words = new Int32Array(2 * Math.ceil(size / 32));
  }

  get byteLength(): number {
    return this.words.byteLength;
  }

  isCached(member: number): boolean {
    return ((this.words[(member >> 5) << 1] >>> (member & 31)) & 1) !== 0;
  }

  isOwed(member: number): boolean {
    return ((this.words[((member >> 5) << 1) | 1] >>> (member & 31)) & 1) !== 0;
  }

  cache(member: number): void {
    this.words[(member >> 5) << 1] |= 1 << (member & 31);
  }

  uncache(member: number): void {
    this.words[(member >> 5) << 1] &= ~(1 << (member & 31));
  }

  owe(member: number): void {
    this.words[((member >> 5) << 1) | 1] |= 1 << (member & 31);
  }

  settle(member: number): void {
    this.words[((member >> 5) << 1) | 1] &= ~(1 << (member & 31));
  }

  /** The members from `first` up to `end`, exclusive, are owed no longer. */
  settleRange(first: number, end: number): void {
    const { words } = this;
    let member = first;
    for (; member < end && (member & 31) !== 0; member++) this.settle(member);
    const whole = (member >> 5) + ((end - member) >> 5);
    for (let word = member >> 5; word < whole; word++) words[(word << 1) | 1] = 0;
    for (member = Math.max(member, whole << 5); member < end; member++) this.settle(member);
  }

  /** Empties both sets. */
  clear(): void {
    this.words.fill(0);
  }
}

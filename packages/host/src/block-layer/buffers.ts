/** Buffers of powers of two that are used again and again. */
export class Buffers {
  private readonly free: Uint8Array[][] = [];

  /** A buffer of at least so many bytes, with any contents. */
  take(bytes: number): Uint8Array {
    const power = 32 - Math.clz32(bytes - 1);
    return this.free[power]?.pop() ?? new Uint8Array(2 ** power);
  }

  /** Takes a buffer back. */
  give(buffer: Uint8Array): void {
    const power = 31 - Math.clz32(buffer.length);
    while (this.free.length <= power) this.free.push([]);
    this.free[power].push(buffer);
  }
}

/** Longest array of tags that is kept. */
const MOST_TAGS = 256;

/** Arrays of tags of exact lengths, of which the short ones are used again and again. */
export class TagArrays {
  private readonly free: Uint32Array[][] = [];

  /** An array of this length, with any contents. */
  take(length: number): Uint32Array {
    if (length >= this.free.length) return new Uint32Array(length);
    return this.free[length].pop() ?? new Uint32Array(length);
  }

  /** Takes an array back. */
  give(tags: Uint32Array): void {
    if (tags.length > MOST_TAGS) return;
    while (this.free.length <= tags.length) this.free.push([]);
    this.free[tags.length].push(tags);
  }
}

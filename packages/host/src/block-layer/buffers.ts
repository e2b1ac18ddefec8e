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

/**
 * Something that has one value at a time, with all values that operations have given it. Positions count operations in the
 * order in which they took effect; 0 is the durable state that everything begins with.
 */
export class Register<T> {
  readonly positions: number[] = [];
  readonly values: T[] = [];
  /** Values of operations that failed: they may be there or not, and nothing builds on them. */
  readonly doubtful: { readonly position: number; readonly value: T }[] = [];

  constructor(position: number, value: T) {
    this.positions.push(position);
    this.values.push(value);
  }

  /** The last value. */
  get current(): T {
    return this.values[this.values.length - 1];
  }

  /** A new value from this position on. */
  set(position: number, value: T): void {
    const last = this.positions.length - 1;
    if (this.positions[last] === position) {
      this.values[last] = value;
      return;
    }
    this.positions.push(position);
    this.values.push(value);
  }

  /** Number of the value at a position; −1: before the first. */
  indexAt(position: number): number {
    let index = this.positions.length - 1;
    while (index >= 0 && this.positions[index] > position) index--;
    return index;
  }

  /** The value at a position, the first one before that. */
  at(position: number): T {
    return this.values[Math.max(0, this.indexAt(position))];
  }
}

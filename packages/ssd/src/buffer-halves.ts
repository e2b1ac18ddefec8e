import { bytes } from './columns.js';

/**
 * A double write buffer: entries go to the current half until a write does not fit into it. Then the half is sealed, is
 * drained as a whole, and takes entries again once all of its own are durable.
 */
export class BufferHalves {
  /** Capacity of one half, slots. */
  readonly slots: number;
  private current = 0;
  private readonly used: Int32Array = new Int32Array(2);
  private readonly sealed: Uint8Array = new Uint8Array(2);
  /** Half of each entry. */
  private half: Uint8Array = new Uint8Array(0);

  constructor(slots: number) {
    this.slots = slots;
  }

  /**
   * True if a slot may be written now. `wanted`: slots for which there must be room, 1 or all of a write that begins; a
   * write larger than a half begins in an empty one.
   */
  admit(wanted: number): boolean {
    const { used, sealed } = this;
    if (sealed[this.current] === 0 && used[this.current] + Math.min(wanted, this.slots) <= this.slots) return true;
    this.seal();
    const other = 1 - this.current;
    if (used[other] > 0) return false;
    this.current = other;
    return true;
  }

  /** An entry has been inserted. */
  entered(entry: number): void {
    if (entry >= this.half.length) this.half = bytes(this.half, Math.max(64, 2 * entry));
    this.half[entry] = this.current;
    this.used[this.current]++;
  }

  /** An entry is durable, or gone. */
  left(entry: number): void {
    const half = this.half[entry];
    if (--this.used[half] === 0) this.sealed[half] = 0;
  }

  /** The current half takes nothing more; without effect on an empty one. */
  seal(): void {
    if (this.used[this.current] > 0) this.sealed[this.current] = 1;
  }

  /** The entry belongs to a half that is to be drained. */
  isDue(entry: number): boolean {
    return this.sealed[this.half[entry]] !== 0;
  }
}

/** What is known of a run of blocks of a file. */
export const RunState = {
  hole: 0,
  written: 1,
  /** Allocated, reads as zero. */
  unwritten: 2,
  /** Written in memory, not allocated yet; space is reserved. */
  delayed: 3,
} as const;

/**
 * Where the blocks of a file are, in memory: runs in ascending order, neighbours merged. What is not in it is a hole. The
 * run of the last look-up is remembered, because most follow each other.
 */
export class ExtentMap {
  private logical: Float64Array = new Float64Array(4);
  private lengths: Float64Array = new Float64Array(4);
  private physical: Float64Array = new Float64Array(4);
  private states: Uint8Array = new Uint8Array(4);
  private count = 0;
  private last = 0;
  /** Blocks that wait to be allocated. */
  delayed = 0;

  get runs(): number {
    return this.count;
  }

  logicalAt(run: number): number {
    return this.logical[run];
  }

  lengthAt(run: number): number {
    return this.lengths[run];
  }

  physicalAt(run: number): number {
    return this.physical[run];
  }

  stateAt(run: number): number {
    return this.states[run];
  }

  /** The last run that begins at or before a block; −1: none does. */
  find(block: number): number {
    const { logical, count } = this;
    const { last } = this;
    if (last < count && logical[last] <= block && (last + 1 === count || logical[last + 1] > block)) return last;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (logical[middle] <= block) low = middle + 1;
      else high = middle;
    }
    if (low > 0) this.last = low - 1;
    return low - 1;
  }

  /** State of one block. */
  stateOf(block: number): number {
    const run = this.find(block);
    return run >= 0 && block < this.logical[run] + this.lengths[run] ? this.states[run] : RunState.hole;
  }

  /** Device block of one block, which is allocated. */
  blockOf(block: number): number {
    const run = this.find(block);
    return this.physical[run] + block - this.logical[run];
  }

  /** Blocks from `block` on, at most `most`, that are of one kind and consecutive on the device. */
  lengthFrom(block: number, most: number): number {
    const run = this.find(block);
    if (run >= 0) {
      const left = this.logical[run] + this.lengths[run] - block;
      if (left > 0) return Math.min(left, most);
    }
    const next = run + 1;
    return next < this.count ? Math.min(most, this.logical[next] - block) : most;
  }

  /** First block behind everything that is known. */
  get end(): number {
    return this.count === 0 ? 0 : this.logical[this.count - 1] + this.lengths[this.count - 1];
  }

  /** Says what a run is, whatever it was before; `RunState.hole` forgets it. */
  set(logical: number, length: number, physical: number, state: number): void {
    this.cut(logical, length);
    if (state === RunState.hole) return;
    if (state === RunState.delayed) this.delayed += length;
    const at = this.find(logical) + 1;
    const joinsLeft = at > 0 && this.joins(at - 1, logical, physical, state);
    const next = at < this.count && this.logical[at] === logical + length && this.states[at] === state;
    const joinsRight = next && (state === RunState.delayed || this.physical[at] === physical + length);
    if (joinsLeft) {
      this.lengths[at - 1] += length + (joinsRight ? this.lengths[at] : 0);
      if (joinsRight) this.remove(at, 1);
    } else if (joinsRight) {
      this.logical[at] = logical;
      this.lengths[at] += length;
      this.physical[at] = physical;
    } else {
      this.insert(at);
      this.logical[at] = logical;
      this.lengths[at] = length;
      this.physical[at] = physical;
      this.states[at] = state;
    }
  }

  private joins(run: number, logical: number, physical: number, state: number): boolean {
    if (this.states[run] !== state || this.logical[run] + this.lengths[run] !== logical) return false;
    return state === RunState.delayed || this.physical[run] + this.lengths[run] === physical;
  }

  /** Makes a hole. */
  private cut(logical: number, length: number): void {
    const end = logical + length;
    let run = this.find(logical);
    if (run >= 0 && this.logical[run] + this.lengths[run] > logical) {
      const runEnd = this.logical[run] + this.lengths[run];
      const removed = Math.min(runEnd, end) - logical;
      if (this.states[run] === RunState.delayed) this.delayed -= removed;
      if (runEnd > end) {
        this.insert(run + 1);
        this.logical[run + 1] = end;
        this.lengths[run + 1] = runEnd - end;
        this.physical[run + 1] = this.physical[run] + end - this.logical[run];
        this.states[run + 1] = this.states[run];
      }
      this.lengths[run] = logical - this.logical[run];
      if (this.lengths[run] === 0) this.remove(run--, 1);
    }
    const first = run + 1;
    let gone = first;
    while (gone < this.count && this.logical[gone] + this.lengths[gone] <= end) {
      if (this.states[gone] === RunState.delayed) this.delayed -= this.lengths[gone];
      gone++;
    }
    if (gone > first) this.remove(first, gone - first);
    if (first < this.count && this.logical[first] < end) {
      const removed = end - this.logical[first];
      if (this.states[first] === RunState.delayed) this.delayed -= removed;
      this.logical[first] += removed;
      this.physical[first] += removed;
      this.lengths[first] -= removed;
    }
  }

  private insert(at: number): void {
    if (this.count === this.logical.length) this.grow();
    const { count } = this;
    this.logical.copyWithin(at + 1, at, count);
    this.lengths.copyWithin(at + 1, at, count);
    this.physical.copyWithin(at + 1, at, count);
    this.states.copyWithin(at + 1, at, count);
    this.count++;
    this.last = at;
  }

  private remove(at: number, runs: number): void {
    const { count } = this;
    this.logical.copyWithin(at, at + runs, count);
    this.lengths.copyWithin(at, at + runs, count);
    this.physical.copyWithin(at, at + runs, count);
    this.states.copyWithin(at, at + runs, count);
    this.count -= runs;
    this.last = 0;
  }

  private grow(): void {
    const larger = (old: Float64Array): Float64Array => {
      const grown = new Float64Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.logical = larger(this.logical);
    this.lengths = larger(this.lengths);
    this.physical = larger(this.physical);
    const states = new Uint8Array(this.states.length * 2);
    states.set(this.states);
    this.states = states;
  }
}

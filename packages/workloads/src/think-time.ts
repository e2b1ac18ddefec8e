const LAST_ISSUE = 0;
const LAST_ARRIVAL = 1;
const GAP = 2;
const PENDING = -1;

/**
 * Finds when operations of a trace are issued if the time between a completion and the next issue is kept as recorded.
 *
 * An operation hangs on the one whose recorded completion was the last before its own recorded issue: it is issued as
 * long after the simulated completion of that one as it was after the recorded one. So what ran side by side when it
 * was recorded still does. An operation before which nothing had completed hangs on the issue of the one before it.
 */
export class ThinkTime {
  // A heap of recorded completions that lie after the last recorded arrival, with the entry each belongs to.
  private heapTimes = new Float64Array(64);
  private heapEntries = new Int32Array(64);
  private heapLength = 0;
  // Columns by entry: one for each operation that another may still hang on.
  private doneNs = new Float64Array(64);
  private sequence = new Float64Array(64);
  private holders = new Uint8Array(64);
  private free: number[] = [];
  private entries = 0;
  /** Entry of the request in each slot of the replay. */
  private entryOf = new Int32Array(64);
  /** Entry that the next operation hangs on, −1: the issue of the last one. */
  private candidate = -1;
  private issued = 0;
  private readonly times = new Float64Array(3);
  private candidateTime = new Float64Array(1);

  /** `startNs`: when the replay begins; its first recorded arrival counts as that. */
  constructor(startNs: number) {
    this.times[LAST_ISSUE] = startNs;
    this.times[LAST_ARRIVAL] = startNs;
  }

  /** The next operation was recorded to arrive at `arrivalNs`, which never goes back. */
  next(arrivalNs: number): void {
    while (this.heapLength > 0 && this.heapTimes[0] <= arrivalNs) {
      if (this.candidate >= 0) this.release(this.candidate);
      this.candidateTime[0] = this.heapTimes[0];
      this.candidate = this.pop();
    }
    const from = this.candidate >= 0 ? this.candidateTime[0] : this.times[LAST_ARRIVAL];
    this.times[GAP] = arrivalNs - from;
    this.times[LAST_ARRIVAL] = arrivalNs;
  }

  /** When to issue it, or −1 as long as what it hangs on has not completed. Never before the one before it. */
  dueNs(): number {
    const times = this.times;
    if (this.candidate < 0) return times[LAST_ISSUE] + times[GAP];
    const done = this.doneNs[this.candidate];
    if (done === PENDING) return PENDING;
    return Math.max(times[LAST_ISSUE], done + times[GAP]);
  }

  /** It is issued at `dueNs` by the request in `slot`; its completion was recorded at `completionNs`. */
  issue(slot: number, dueNs: number, completionNs: number): void {
    this.times[LAST_ISSUE] = dueNs;
    const entry = this.free.pop() ?? this.newEntry();
    this.doneNs[entry] = PENDING;
    this.sequence[entry] = this.issued++;
    // The heap (or the next operation) and the request in flight hold it.
    this.holders[entry] = 2;
    if (slot >= this.entryOf.length) this.entryOf = grown(this.entryOf, new Int32Array(slot * 2));
    this.entryOf[slot] = entry;
    this.push(completionNs, entry);
  }

  /** The request in `slot` has completed. */
  done(slot: number, nowNs: number): void {
    const entry = this.entryOf[slot];
    this.doneNs[entry] = nowNs;
    this.release(entry);
  }

  private release(entry: number): void {
    if (--this.holders[entry] === 0) this.free.push(entry);
  }

  private newEntry(): number {
    if (this.entries === this.doneNs.length) {
      this.doneNs = grown(this.doneNs, new Float64Array(this.entries * 2));
      this.sequence = grown(this.sequence, new Float64Array(this.entries * 2));
      this.holders = grown(this.holders, new Uint8Array(this.entries * 2));
    }
    return this.entries++;
  }

  /** Earlier completions first; of equal ones that of the operation issued first. */
  private before(timeA: number, entryA: number, timeB: number, entryB: number): boolean {
    return timeA < timeB || (timeA === timeB && this.sequence[entryA] < this.sequence[entryB]);
  }

  private push(time: number, entry: number): void {
    if (this.heapLength === this.heapTimes.length) {
      this.heapTimes = grown(this.heapTimes, new Float64Array(this.heapLength * 2));
      this.heapEntries = grown(this.heapEntries, new Int32Array(this.heapLength * 2));
    }
    let at = this.heapLength++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.before(time, entry, this.heapTimes[parent], this.heapEntries[parent])) break;
      this.heapTimes[at] = this.heapTimes[parent];
      this.heapEntries[at] = this.heapEntries[parent];
      at = parent;
    }
    this.heapTimes[at] = time;
    this.heapEntries[at] = entry;
  }

  private pop(): number {
    const times = this.heapTimes;
    const entries = this.heapEntries;
    const top = entries[0];
    const length = --this.heapLength;
    const time = times[length];
    const entry = entries[length];
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      const right = child + 1;
      if (right < length && this.before(times[right], entries[right], times[child], entries[child])) child = right;
      if (!this.before(times[child], entries[child], time, entry)) break;
      times[at] = times[child];
      entries[at] = entries[child];
      at = child;
    }
    times[at] = time;
    entries[at] = entry;
    return top;
  }
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** What the simulator calls when simulated time has reached an event. */
export interface EventTarget {
  /** `arg` is the 32-bit integer that was handed to `Simulator.at`. */
  fire(arg: number): void;
}

const ARITY = 4;

/**
 * Pending events, earliest first; equal times in order of insertion.
 *
 * A four-ary heap on typed arrays. Taking the earliest event leaves a hole at the root that the next insertion fills:
 * most handlers schedule exactly one follow-up, which then costs one sift instead of two.
 */
export class EventQueue {
  /** Heap columns; `times[0]` is the earliest time after `settle()` returned true. */
  times: Float64Array;
  private order: Float64Array;
  private slots: Int32Array;
  private targets: (EventTarget | null)[];
  private args: Int32Array;
  private freeSlots: Int32Array;
  private freeCount = 0;
  private size = 0;
  private hole = false;
  private readonly inserted: Float64Array = new Float64Array(1);

  constructor(capacity = 64) {
    this.times = new Float64Array(capacity);
    this.order = new Float64Array(capacity);
    this.slots = new Int32Array(capacity);
    this.targets = new Array<EventTarget | null>(capacity).fill(null);
    this.args = new Int32Array(capacity);
    this.freeSlots = new Int32Array(capacity);
    for (let slot = capacity - 1; slot >= 0; slot--) this.freeSlots[this.freeCount++] = slot;
  }

  /** Number of pending events. */
  get pending(): number {
    return this.hole ? this.size - 1 : this.size;
  }

  /** Adds an event; allocates only when more are pending than ever before. */
  push(timeNs: number, target: EventTarget, arg: number): void {
    if (this.freeCount === 0) this.grow();
    const slot = this.freeSlots[--this.freeCount];
    this.targets[slot] = target;
    this.args[slot] = arg;
    const order = ++this.inserted[0];
    if (this.hole) {
      this.hole = false;
      this.siftDown(timeNs, order, slot);
    } else {
      this.siftUp(this.size++, timeNs, order, slot);
    }
  }

  /** Brings the earliest event to the root; false if none is pending. */
  settle(): boolean {
    if (this.hole) {
      this.hole = false;
      const last = --this.size;
      if (last > 0) this.siftDown(this.times[last], this.order[last], this.slots[last]);
    }
    return this.size > 0;
  }

  /** Removes the earliest event, after `settle()` returned true, and fires it. */
  fireFirst(): void {
    const slot = this.slots[0];
    this.hole = true;
    const target = this.targets[slot] as EventTarget;
    this.targets[slot] = null;
    this.freeSlots[this.freeCount++] = slot;
    target.fire(this.args[slot]);
  }

  /** After `settle()` returned true: how many events have the earliest time. */
  countFirst(): number {
    return this.collectFirst().length;
  }

  /** After `settle()` returned true: of the events of the earliest time the n-th in order of insertion becomes the first. */
  bringForward(n: number): void {
    const { order, slots } = this;
    let at = this.collectFirst()[n];
    const chosenOrder = order[at];
    const chosenSlot = slots[at];
    // All above it have the same time: each moves one down, and the heap stays one but for the first.
    while (at > 0) {
      const parent = (at - 1) >> 2;
      order[at] = order[parent];
      slots[at] = slots[parent];
      at = parent;
    }
    order[0] = chosenOrder;
    slots[0] = chosenSlot;
  }

  /** Positions of the events of the earliest time, in order of insertion. */
  private collectFirst(): number[] {
    const { times, order, size } = this;
    const found = [0];
    for (let next = 0; next < found.length; next++) {
      const first = found[next] * ARITY + 1;
      for (let child = first; child < Math.min(first + ARITY, size); child++) {
        if (times[child] === times[0]) found.push(child);
      }
    }
    return found.sort((a, b) => order[a] - order[b]);
  }

  private siftUp(from: number, time: number, order: number, slot: number): void {
    const { times, order: orders, slots } = this;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 2;
      // A new event is never earlier in order than one already here, so equal times need no second comparison.
      if (times[parent] <= time) break;
      times[at] = times[parent];
      orders[at] = orders[parent];
      slots[at] = slots[parent];
      at = parent;
    }
    times[at] = time;
    orders[at] = order;
    slots[at] = slot;
  }

  private siftDown(time: number, order: number, slot: number): void {
    const { times, order: orders, slots, size } = this;
    let at = 0;
    for (;;) {
      const first = at * ARITY + 1;
      if (first >= size) break;
      const end = Math.min(first + ARITY, size);
      let least = first;
      let leastTime = times[first];
      for (let child = first + 1; child < end; child++) {
        const childTime = times[child];
        if (childTime < leastTime || (childTime === leastTime && orders[child] < orders[least])) {
          least = child;
          leastTime = childTime;
        }
      }
      if (time < leastTime || (time === leastTime && order < orders[least])) break;
      times[at] = leastTime;
      orders[at] = orders[least];
      slots[at] = slots[least];
      at = least;
    }
    times[at] = time;
    orders[at] = order;
    slots[at] = slot;
  }

  private grow(): void {
    const old = this.times.length;
    const capacity = old * 2;
    const times = new Float64Array(capacity);
    times.set(this.times);
    this.times = times;
    const order = new Float64Array(capacity);
    order.set(this.order);
    this.order = order;
    const slots = new Int32Array(capacity);
    slots.set(this.slots);
    this.slots = slots;
    const args = new Int32Array(capacity);
    args.set(this.args);
    this.args = args;
    this.freeSlots = new Int32Array(capacity);
    for (let slot = capacity - 1; slot >= old; slot--) {
      this.freeSlots[this.freeCount++] = slot;
      this.targets[slot] = null;
    }
  }
}

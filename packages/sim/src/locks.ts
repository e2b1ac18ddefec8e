import { SimulationError } from './errors.js';
import { type Process, ProcessQueue, type Wait } from './process.js';
import type { Simulator } from './simulator.js';

/**
 * Mutual exclusion, first come first served: `if (!mutex.tryLock()) yield mutex;`. Unlocking hands it to the one that
 * has waited longest, so locking and unlocking in a loop is no way to wait for something: use a `Condition`.
 */
export class Mutex implements Wait {
  readonly name: string;
  private readonly simulator: Simulator;
  private readonly waiters: ProcessQueue = new ProcessQueue();
  private held = false;
  private owner: Process | null = null;

  constructor(simulator: Simulator, name: string) {
    this.simulator = simulator;
    this.name = name;
  }

  /** True while somebody holds it. */
  get locked(): boolean {
    return this.held;
  }

  /** Who has locked it or was handed it; null: nobody, or something outside of a process. */
  get holder(): Process | null {
    return this.owner;
  }

  /** Takes it if it is free. */
  tryLock(): boolean {
    if (this.held) return false;
    this.held = true;
    this.owner = this.simulator.current;
    return true;
  }

  /** Gives it up. Any process may do so: a lock can be passed on. @throws SimulationError `ERR_SIM_LOCK` if it is free. */
  unlock(): void {
    if (!this.held) throw new SimulationError('ERR_SIM_LOCK', `mutex "${this.name}" is not locked`);
    const next = shiftLiving(this.waiters);
    this.owner = next;
    if (next === null) this.held = false;
    else next.wake();
  }

  arm(process: Process): boolean {
    if (this.tryLock()) return true;
    this.waiters.push(process);
    return false;
  }

  describe(): string {
    return `mutex "${this.name}"${this.owner === null ? '' : `, held by "${this.owner.name}"`}`;
  }
}

const READER = 0;
const WRITER = 1;

/**
 * Many readers or one writer, first come first served: a waiting writer holds back new readers. So never take the read
 * side twice in one process. `if (!lock.tryRead()) yield lock.read;`
 */
export class RwLock {
  readonly name: string;
  /** Waits for the read side. */
  readonly read: Wait;
  /** Waits for the write side. */
  readonly write: Wait;
  private readonly simulator: Simulator;
  private readonly waiters: ProcessQueue = new ProcessQueue();
  private readerCount = 0;
  private writing = false;
  private writer: Process | null = null;

  constructor(simulator: Simulator, name: string) {
    this.simulator = simulator;
    this.name = name;
    this.read = new RwSide(this, READER);
    this.write = new RwSide(this, WRITER);
  }

  /** Number of readers that hold it. */
  get readers(): number {
    return this.readerCount;
  }

  /** True while a writer holds it. */
  get writeLocked(): boolean {
    return this.writing;
  }

  /** Takes the read side if no writer holds it or waits. */
  tryRead(): boolean {
    if (this.writing || !this.waiters.empty) return false;
    this.readerCount++;
    return true;
  }

  /** Takes the write side if nobody holds either. */
  tryWrite(): boolean {
    if (this.writing || this.readerCount > 0 || !this.waiters.empty) return false;
    this.writing = true;
    this.writer = this.simulator.current;
    return true;
  }

  /** @throws SimulationError `ERR_SIM_LOCK` if no reader holds it. */
  unlockRead(): void {
    if (this.readerCount === 0) throw new SimulationError('ERR_SIM_LOCK', `lock "${this.name}" has no reader`);
    this.readerCount--;
    this.admit();
  }

  /** @throws SimulationError `ERR_SIM_LOCK` if no writer holds it. */
  unlockWrite(): void {
    if (!this.writing) throw new SimulationError('ERR_SIM_LOCK', `lock "${this.name}" has no writer`);
    this.writing = false;
    this.writer = null;
    this.admit();
  }

  /** For its two waits. */
  enqueue(process: Process, side: number): void {
    process.waitTag = side;
    this.waiters.push(process);
  }

  /** Who writes, if that is a process. */
  get holder(): Process | null {
    return this.writer;
  }

  /** For its two waits. */
  describeHolders(): string {
    if (this.writing) return `, held by writer "${this.writer?.name ?? 'outside a process'}"`;
    return this.readerCount > 0 ? `, held by ${this.readerCount} readers` : '';
  }

  private admit(): void {
    for (;;) {
      const head = this.waiters.head;
      if (head === null || this.writing) return;
      if (head.finished) {
        this.waiters.remove(head);
        continue;
      }
      if (head.waitTag === WRITER) {
        if (this.readerCount > 0) return;
        this.writing = true;
        this.writer = head;
      } else {
        this.readerCount++;
      }
      this.waiters.remove(head);
      head.wake();
    }
  }
}

class RwSide implements Wait {
  private readonly lock: RwLock;
  private readonly side: number;

  constructor(lock: RwLock, side: number) {
    this.lock = lock;
    this.side = side;
  }

  get holder(): Process | null {
    return this.lock.holder;
  }

  arm(process: Process): boolean {
    if (this.side === READER ? this.lock.tryRead() : this.lock.tryWrite()) return true;
    this.lock.enqueue(process, this.side);
    return false;
  }

  describe(): string {
    const side = this.side === READER ? 'read' : 'write';
    return `the ${side} side of lock "${this.lock.name}"${this.lock.describeHolders()}`;
  }
}

/**
 * A number of units, taken and given back, first come first served: a large request holds back later small ones.
 * `if (!tags.tryTake(1)) yield tags.take(1);`
 */
export class Semaphore implements Wait {
  readonly name: string;
  /** Units in all. */
  readonly capacity: number;
  private free: number;
  private request = 1;
  private readonly waiters: ProcessQueue = new ProcessQueue();

  /** @throws RangeError unless the capacity is a positive integer. */
  constructor(name: string, capacity: number) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new RangeError(`semaphore "${name}": capacity must be an integer ≥ 1, found ${capacity}`);
    }
    this.name = name;
    this.capacity = capacity;
    this.free = capacity;
  }

  /** Units that nobody holds. */
  get available(): number {
    return this.free;
  }

  /** Takes `units` if they are free and nobody waits. @throws RangeError if there can never be so many. */
  tryTake(units: number): boolean {
    this.check(units);
    if (units > this.free || !this.waiters.empty) return false;
    this.free -= units;
    return true;
  }

  /** The wait for `units`, to be yielded at once. @throws RangeError if there can never be so many. */
  take(units: number): this {
    this.check(units);
    this.request = units;
    return this;
  }

  /** Gives units back. @throws SimulationError `ERR_SIM_LOCK` if more come back than were taken. */
  give(units: number): void {
    this.check(units);
    if (this.free + units > this.capacity) {
      throw new SimulationError('ERR_SIM_LOCK', `semaphore "${this.name}": more units given back than taken`);
    }
    this.free += units;
    for (;;) {
      const head = this.waiters.head;
      if (head === null) return;
      if (!head.finished) {
        if (head.waitTag > this.free) return;
        this.free -= head.waitTag;
      }
      this.waiters.remove(head);
      head.wake();
    }
  }

  arm(process: Process): boolean {
    if (this.tryTake(this.request)) return true;
    process.waitTag = this.request;
    this.waiters.push(process);
    return false;
  }

  describe(): string {
    return `semaphore "${this.name}" (${this.free} of ${this.capacity} free)`;
  }

  private check(units: number): void {
    if (!Number.isSafeInteger(units) || units < 1 || units > this.capacity) {
      throw new RangeError(
        `semaphore "${this.name}": units must be an integer from 1 to ${this.capacity}, found ${units}`,
      );
    }
  }
}

/**
 * "Wait until": `while (!predicate()) yield condition;`. A wake-up promises nothing: test the predicate again.
 * With a time limit: `yield condition.within(ns); if (condition.timedOut) …`.
 */
export class Condition implements Wait {
  readonly name: string;
  private readonly simulator: Simulator;
  private readonly waiters: ProcessQueue = new ProcessQueue();
  private readonly timed: TimedCondition;

  constructor(simulator: Simulator, name: string) {
    this.simulator = simulator;
    this.name = name;
    this.timed = new TimedCondition(this);
  }

  /** Right after a `within`: the time was up before a notification came. */
  get timedOut(): boolean {
    return this.simulator.current?.timedOut === true;
  }

  /** True if somebody waits. */
  get awaited(): boolean {
    return !this.waiters.empty;
  }

  /** Wakes everyone who waits now. */
  notifyAll(): void {
    for (let process = this.waiters.shift(); process !== null; process = this.waiters.shift()) process.wake();
  }

  /** Wakes the one that has waited longest; false if nobody waits. */
  notifyOne(): boolean {
    const process = shiftLiving(this.waiters);
    process?.wake();
    return process !== null;
  }

  /** The same wait with a time limit, to be yielded at once. @throws RangeError if `ns` is negative or not an integer. */
  within(ns: number): Wait {
    if (!(ns >= 0) || Math.floor(ns) !== ns) throw new RangeError(`time limit must be an integer ≥ 0 ns, found ${ns}`);
    this.timed.ns = ns;
    return this.timed;
  }

  arm(process: Process): boolean {
    this.waiters.push(process);
    return false;
  }

  interrupt(process: Process): boolean {
    this.waiters.remove(process);
    return true;
  }

  describe(): string {
    return `condition "${this.name}"`;
  }
}

class TimedCondition implements Wait {
  ns = 0;
  private readonly condition: Condition;

  constructor(condition: Condition) {
    this.condition = condition;
  }

  arm(process: Process): boolean {
    this.condition.arm(process);
    process.startLimit(this.ns);
    return false;
  }

  interrupt(process: Process): boolean {
    return this.condition.interrupt(process);
  }

  describe(): string {
    return `${this.condition.describe()} or a time limit`;
  }
}

/** Skips processes that a power cut has ended: they would swallow what is handed to them. */
function shiftLiving(queue: ProcessQueue): Process | null {
  for (;;) {
    const process = queue.shift();
    if (process === null || !process.finished) return process;
  }
}

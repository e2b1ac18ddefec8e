import type { EventTarget } from './event-queue.js';

/** Something a process can wait for. Made once per lock, timer or batch and reused, so that yielding allocates nothing. */
export interface Wait {
  /** The kernel calls this when `process` yields the wait. True: already satisfied, the process goes on at once. */
  arm(process: Process): boolean;
  /** What is waited for, in words, for the report on a stalled run. */
  describe(): string;
  /**
   * A cancelled process waits here: forget it and return true, and it is resumed at once. Absent or false: it stays
   * until the wait is satisfied (a lock cannot be given up half-way).
   */
  interrupt?(process: Process): boolean;
  /** The process that must go on before it can be satisfied, where it is known: whoever waits in a circle never goes on. */
  readonly holder?: Process | null;
}

/** A routine that may block: it yields what it waits for. Outcomes are read from the wait object. */
export type Task<T> = Generator<Wait, T, void>;

/** A hot operation: a number when nothing blocked, otherwise the rest of the work. */
export type MaybeTask = number | Task<number>;

/** Where a process stands. */
export type ProcessState = 'ready' | 'running' | 'waiting' | 'ended' | 'failed' | 'abandoned';

/** Processes that a power cut ends together: those of one host or one file-system instance. */
export class ProcessGroup {
  /** Shown in stall reports and errors. */
  readonly name: string;
  /** True after `Simulator.abandon`: no process of the group runs again, and none can be spawned. */
  abandoned = false;

  constructor(name: string) {
    this.name = name;
  }
}

/** What a process needs from its simulator. */
export interface ProcessHost {
  /** Simulated time, ns. */
  readonly now: number;
  /** Queues the process behind those that are ready already. */
  makeReady(process: Process): void;
  /** Schedules an event. */
  at(timeNs: number, target: EventTarget, arg: number): void;
  /** Hears of every timer that was still wanted when it fired. */
  timerFired(process: Process): void;
  /** See `Simulator.noteProgress`. */
  noteProgress(): void;
}

/** A running task. Yielding a process waits for its end. Made by `Simulator.spawn` only. */
export class Process implements Wait, EventTarget {
  readonly name: string;
  readonly group: ProcessGroup;
  /** A daemon does not keep `run()` going. */
  readonly daemon: boolean;
  /** A failure stays in `error` for a joiner instead of being thrown out of `run()`. */
  readonly observed: boolean;
  state: ProcessState = 'ready';
  /** What the task returned, once `state` is `ended`. */
  value: unknown = undefined;
  /** What the task threw, once `state` is `failed`. */
  error: unknown = undefined;
  /** Set by `cancel`; the task looks at it after its yields and ends by itself. */
  cancelRequested = false;
  /** What it waits on while `state` is `waiting`. */
  wait: Wait | null = null;
  /** True from a resumption because a timer fired (`Condition.within`, `Delay`) until the next wait. */
  timedOut = false;
  /** Kernel only: a timer is set for the present wait. */
  timerPending = false;
  /** Free for the wait it is queued in (a read or a write of a lock, units of a semaphore). */
  waitTag = 0;
  /** Kernel only: how often it was made ready (32 bits, wraps); tells a timer of this wait from an older one. */
  resumptions = 0;
  /** Kernel only: links in the one list it is in (ready queue or the queue of a wait), and that list. */
  next: Process | null = null;
  /** Kernel only. */
  previous: Process | null = null;
  /** Kernel only. */
  readonly task: Task<unknown>;
  private readonly host: ProcessHost;
  private readonly joiners: ProcessQueue = new ProcessQueue();

  constructor(
    host: ProcessHost,
    name: string,
    task: Task<unknown>,
    group: ProcessGroup,
    daemon: boolean,
    observed: boolean,
  ) {
    this.host = host;
    this.name = name;
    this.task = task;
    this.group = group;
    this.daemon = daemon;
    this.observed = observed;
  }

  /** True once it can never run again. */
  get finished(): boolean {
    return this.state === 'ended' || this.state === 'failed' || this.state === 'abandoned';
  }

  /** For waits, in `arm`: wakes it after `ns` unless something else does before; `wait.interrupt` then takes it out. */
  startTimer(ns: number): void {
    this.timerPending = true;
    this.host.at(this.host.now + ns, this, this.resumptions);
  }

  /** The same for a wait that something else may end as well: a time beyond all simulated time never comes. */
  startLimit(ns: number): void {
    if (ns <= Number.MAX_SAFE_INTEGER - this.host.now) this.startTimer(ns);
  }

  /** For waits on work that takes no simulated time: this was progress, not a turn of a livelock. */
  noteProgress(): void {
    this.host.noteProgress();
  }

  /** Kernel only: its timer. A timer of an earlier wait carries an earlier count and is ignored. */
  fire(resumptions: number): void {
    if (this.state !== 'waiting' || resumptions !== this.resumptions) return;
    this.host.timerFired(this);
    this.wait?.interrupt?.(this);
    this.timedOut = true;
    this.host.makeReady(this);
  }

  /** For waits: what it waited for has come. Ignored if it was abandoned meanwhile. */
  wake(): void {
    if (this.state === 'waiting') this.host.makeReady(this);
  }

  /**
   * Asks it to end. Nothing is forced: a process in a timed wait, a condition or a join is resumed early and finds
   * `cancelRequested` set; one that waits for a lock or for I/O gets what it waits for first.
   */
  cancel(): void {
    if (this.finished) return;
    this.cancelRequested = true;
    const wait = this.wait;
    if (this.state === 'waiting' && wait?.interrupt?.(this) === true) this.host.makeReady(this);
  }

  arm(process: Process): boolean {
    if (this.finished) return true;
    this.joiners.push(process);
    return false;
  }

  interrupt(process: Process): boolean {
    this.joiners.remove(process);
    return true;
  }

  get holder(): Process {
    return this;
  }

  describe(): string {
    return `the end of process "${this.name}"`;
  }

  /** Kernel only: wakes everyone who waits for its end. */
  wakeJoiners(): void {
    for (let process = this.joiners.shift(); process !== null; process = this.joiners.shift()) process.wake();
  }
}

/** Processes in order of arrival, linked through the processes themselves. For authors of waits. */
export class ProcessQueue {
  private first: Process | null = null;
  private last: Process | null = null;

  get empty(): boolean {
    return this.first === null;
  }

  /** The one that has waited longest, or null. */
  get head(): Process | null {
    return this.first;
  }

  /** Appends a process, which must be in no other queue. */
  push(process: Process): void {
    process.next = null;
    process.previous = this.last;
    if (this.last === null) this.first = process;
    else this.last.next = process;
    this.last = process;
  }

  /** Takes the one that has waited longest, or null. */
  shift(): Process | null {
    const process = this.first;
    if (process !== null) this.remove(process);
    return process;
  }

  /** All of them, the one that has waited longest first. */
  list(): Process[] {
    const all: Process[] = [];
    for (let process = this.first; process !== null; process = process.next) all.push(process);
    return all;
  }

  /** Makes a process of this queue the next to be taken. */
  bringForward(process: Process): void {
    if (process === this.first) return;
    this.remove(process);
    process.next = this.first;
    if (this.first === null) this.last = process;
    else this.first.previous = process;
    this.first = process;
  }

  /** Takes a process out of the middle; it must be in this queue. */
  remove(process: Process): void {
    const { next, previous } = process;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    process.next = null;
    process.previous = null;
  }
}

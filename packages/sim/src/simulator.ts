import { SimulationError } from './errors.js';
import { EventQueue, type EventTarget } from './event-queue.js';
import { Process, ProcessGroup, ProcessQueue, type Task } from './process.js';
import type { Scheduler } from './scheduler.js';
import { waitCycle } from './wait-cycle.js';

/** How a process is started. */
export interface SpawnOptions {
  /** Ends together with these in a power cut. Default: the simulator's own group. */
  readonly group?: ProcessGroup;
  /** Does not keep `run()` going. Default false. */
  readonly daemon?: boolean;
  /** A failure stays in `process.error` for whoever joins it, instead of being thrown out of `run()`. Default false. */
  readonly observed?: boolean;
}

/** Limits of the stall detection. */
export interface SimulatorOptions {
  /** Simulated time in which only daemon timers may fire while others wait, ns. Default one hour. */
  readonly stallNs?: number;
  /** Resumptions at one instant that count as a livelock. Default 1,000,000. */
  readonly livelockResumptions?: number;
  /** Events at one instant that count as a livelock. Default 100,000,000. */
  readonly livelockEvents?: number;
}

/** Processes by outcome: `spawned = live + ended + failed + abandoned` at any time. */
export interface ProcessCounts {
  spawned: number;
  live: number;
  ended: number;
  failed: number;
  abandoned: number;
}

/**
 * Simulated time, pending events and processes: one per simulation, shared by every layer of the stack.
 * Nothing is global, so any number of simulators may live side by side.
 */
export class Simulator {
  /** Events fired so far. */
  events = 0;
  /** The process that runs now, or null inside an event. */
  current: Process | null = null;
  /** Decides where the order of what happens is open; null: first come, first served. May change between two runs. */
  scheduler: Scheduler | null = null;
  /** Processes by outcome. */
  readonly processes: ProcessCounts = { spawned: 0, live: 0, ended: 0, failed: 0, abandoned: 0 };
  /** Group of processes spawned without one. */
  readonly group: ProcessGroup = new ProcessGroup('simulator');

  // [now, limit of the current run]: in a typed array because a double stored in a field may be boxed.
  private readonly clock: Float64Array = new Float64Array([0, -1]);
  private readonly queue: EventQueue = new EventQueue();
  private readonly ready: ProcessQueue = new ProcessQueue();
  private readonly live: Set<Process> = new Set();
  private liveForeground = 0;
  private running = false;
  private readonly stallNs: number;
  private readonly livelockResumptions: number;
  private readonly livelockEvents: number;
  private eventsBeforeNow = 0;
  private resumptionsNow = 0;
  private foregroundResumptions = 0;
  private daemonTimers = 0;
  private stallMark = -1;
  private readonly stallSince: Float64Array = new Float64Array(1);

  /** @throws RangeError unless every limit is an integer ≥ 1. */
  constructor(options: SimulatorOptions = {}) {
    const { stallNs = 3_600_000_000_000, livelockResumptions = 1_000_000, livelockEvents = 100_000_000 } = options;
    for (const [name, value] of Object.entries({ stallNs, livelockResumptions, livelockEvents })) {
      if (!Number.isSafeInteger(value) || value < 1)
        throw new RangeError(`${name} must be an integer ≥ 1, found ${value}`);
    }
    this.stallNs = stallNs;
    this.livelockResumptions = livelockResumptions;
    this.livelockEvents = livelockEvents;
  }

  /** Simulated time, integer ns since the start of the simulation. */
  get now(): number {
    return this.clock[0];
  }

  /** Number of events that have not fired yet. */
  get pendingEvents(): number {
    return this.queue.pending;
  }

  /**
   * Calls `target.fire(arg)` at `timeNs`; equal times in order of insertion. No closure, no allocation.
   * @throws RangeError if the time is past or not an integer, or `arg` is not a 32-bit integer.
   */
  at(timeNs: number, target: EventTarget, arg: number): void {
    if (!(timeNs >= this.clock[0]) || Math.floor(timeNs) !== timeNs || timeNs > Number.MAX_SAFE_INTEGER) {
      throw new RangeError(`event time must be an integer of at least ${this.clock[0]} ns (now), found ${timeNs}`);
    }
    if ((arg | 0) !== arg) throw new RangeError(`event argument must be a 32-bit integer, found ${arg}`);
    this.queue.push(timeNs, target, arg);
  }

  /** As `at(now + delayNs, …)`; a small integer that crosses a call is not boxed, so this is the cheaper form. */
  after(delayNs: number, target: EventTarget, arg: number): void {
    this.at(this.clock[0] + delayNs, target, arg);
  }

  /**
   * Starts a task as a process: it is queued and first runs after those that are ready already.
   * @throws SimulationError `ERR_SIM_ABANDONED` if its group has been abandoned.
   */
  spawn(name: string, task: Task<unknown>, options: SpawnOptions = {}): Process {
    const group = options.group ?? this.group;
    if (group.abandoned) {
      throw new SimulationError('ERR_SIM_ABANDONED', `cannot spawn "${name}": group "${group.name}" was abandoned`);
    }
    const process = new Process(this, name, task, group, options.daemon ?? false, options.observed ?? false);
    this.processes.spawned++;
    this.processes.live++;
    this.live.add(process);
    if (!process.daemon) this.liveForeground++;
    this.ready.push(process);
    return process;
  }

  /** For waits and the kernel: queues the process; it is never resumed from inside another's call. */
  makeReady(process: Process): void {
    process.state = 'ready';
    process.wait = null;
    process.timerPending = false;
    process.resumptions = (process.resumptions + 1) | 0;
    this.ready.push(process);
  }

  /**
   * Lets `ns` pass without yielding if nothing else could run meanwhile; otherwise false, and the caller yields a delay.
   * @throws RangeError if `ns` is negative or not an integer.
   */
  tryAdvance(ns: number): boolean {
    if (!(ns >= 0) || Math.floor(ns) !== ns) throw new RangeError(`duration must be an integer ≥ 0 ns, found ${ns}`);
    const then = this.clock[0] + ns;
    if (!this.ready.empty || then > this.clock[1]) return false;
    if (this.queue.settle() && this.queue.times[0] <= then) return false;
    if (ns > 0) {
      this.clock[0] = then;
      this.resumptionsNow = 0;
      // The timer of a lone daemon passes here, without an event.
      if (this.current?.daemon === true) this.checkDaemonStall();
    }
    return true;
  }

  /**
   * Runs until `until` has ended (and throws what it threw), or without it until every non-daemon has ended.
   * @throws SimulationError `ERR_SIM_STALLED`, `ERR_SIM_LIVELOCK`; whatever a process throws that is not observed.
   */
  run(until?: Process): void {
    this.loop(Number.MAX_SAFE_INTEGER, until ?? null, until === undefined);
    if (until?.state === 'failed' && until.observed) throw until.error;
    if (until?.state === 'abandoned') {
      throw new SimulationError('ERR_SIM_ABANDONED', `process "${until.name}" was abandoned before it ended`);
    }
  }

  /** Runs what is due up to and including `timeNs`; afterwards `now` is `timeNs`, unless `stop` was called. */
  runUntil(timeNs: number): void {
    if (!(timeNs >= this.clock[0]) || Math.floor(timeNs) !== timeNs) {
      throw new RangeError(`time must be an integer of at least ${this.clock[0]} ns (now), found ${timeNs}`);
    }
    if (this.loop(timeNs, null, false)) this.advanceTo(timeNs);
  }

  /** Runs until nothing is pending and nobody is ready. Daemons may still wait; others that do are a stall. */
  drain(): void {
    if (this.loop(Number.MAX_SAFE_INTEGER, null, false) && this.liveForeground > 0)
      this.throwStalled('no event is left');
  }

  /** For outside completions: runs what is due without moving the clock; the time of the next event (Infinity: none). */
  pump(): number {
    this.loop(this.clock[0], null, false);
    return this.queue.settle() ? this.queue.times[0] : Number.POSITIVE_INFINITY;
  }

  /** Ends the current `run`, `runUntil`, `drain` or `pump` after the event or process that calls it. */
  stop(): void {
    this.clock[1] = -1;
  }

  /** Power cut: the group's processes never run again, not even their `finally`. Joiners outside the group go on. */
  abandon(group: ProcessGroup): void {
    group.abandoned = true;
    const gone: Process[] = [];
    for (const process of this.live) if (process.group === group) gone.push(process);
    for (const process of gone) {
      if (process.state === 'ready') this.ready.remove(process);
      process.state = 'abandoned';
      process.wait = null;
      this.processes.abandoned++;
      this.retire(process);
    }
    for (const process of gone) process.wakeJoiners();
  }

  /** Tells the livelock detection that real work was done at this instant (I/O on a device that takes no time). */
  noteProgress(): void {
    this.resumptionsNow = 0;
  }

  /** For the kernel: a timer of `process` has fired. Daemon timers alone must not hide a stall. */
  timerFired(process: Process): void {
    if (!process.daemon) return;
    this.daemonTimers++;
    this.checkDaemonStall();
  }

  /** One line per live process: its name, group and what it waits on. */
  describeProcesses(): string {
    const lines: string[] = [];
    for (const process of this.live) {
      const doing = process.wait === null ? process.state : `waits for ${process.wait.describe()}`;
      lines.push(`  ${process.daemon ? 'daemon' : 'process'} "${process.name}" (${process.group.name}): ${doing}`);
    }
    return lines.join('\n');
  }

  /** True: nothing due is left up to the limit; false: it ended for another reason. */
  private loop(limitNs: number, until: Process | null, foreground: boolean): boolean {
    if (this.running) {
      throw new SimulationError('ERR_SIM_REENTRANT', 'the simulator runs already: yield instead of calling run');
    }
    if (hasFinished(until)) return false;
    this.running = true;
    const clock = this.clock;
    clock[1] = limitNs;
    try {
      for (;;) {
        while (!this.ready.empty) {
          if (this.scheduler === null || this.scheduled(this.scheduler)) this.resume(this.ready.shift() as Process);
          else this.fireDue();
          if (clock[1] < 0 || hasFinished(until)) return false;
        }
        if (foreground && this.liveForeground === 0) return false;
        if (!this.queue.settle()) {
          if (foreground || until !== null) this.throwStalled('no event is left');
          return true;
        }
        const time = this.queue.times[0];
        if (time > limitNs) return true;
        if (time > clock[0]) {
          clock[0] = time;
          this.resumptionsNow = 0;
          this.eventsBeforeNow = this.events;
        } else if (this.events - this.eventsBeforeNow >= this.livelockEvents) {
          this.throwLivelock(`${this.livelockEvents} events`);
        }
        if (this.scheduler !== null) this.scheduled(this.scheduler);
        this.fireDue();
        if (clock[1] < 0) return false;
      }
    } finally {
      this.running = false;
      this.current = null;
      clock[1] = -1;
    }
  }

  private fireDue(): void {
    this.events++;
    this.queue.fireFirst();
  }

  /** Puts what the scheduler chooses first in its queue; true: a process. */
  private scheduled(scheduler: Scheduler): boolean {
    const ready = this.ready.list();
    const isDue = this.queue.settle() && this.queue.times[0] === this.clock[0];
    const events = isDue ? this.queue.countFirst() : 0;
    const choice = scheduler.choose(ready, events);
    if (!(choice >= 0 && choice < ready.length + events)) {
      throw new RangeError(`the scheduler chose ${choice} of ${ready.length + events} candidates`);
    }
    if (choice < ready.length) this.ready.bringForward(ready[choice]);
    else this.queue.bringForward(choice - ready.length);
    return choice < ready.length;
  }

  private advanceTo(timeNs: number): void {
    if (timeNs > this.clock[0]) {
      this.clock[0] = timeNs;
      this.resumptionsNow = 0;
    }
  }

  private resume(process: Process): void {
    this.countResumption(process);
    if (!process.daemon) this.foregroundResumptions++;
    this.current = process;
    process.state = 'running';
    const task = process.task;
    try {
      for (;;) {
        const step = task.next();
        // Abandoned by itself or by something it called.
        if (process.state !== 'running') return;
        if (step.done === true) {
          process.value = step.value;
          this.end(process, 'ended');
          return;
        }
        const wait = step.value;
        process.wait = wait;
        process.state = 'waiting';
        process.timedOut = false;
        if (!wait.arm(process)) return;
        process.wait = null;
        process.state = 'running';
        this.countResumption(process);
      }
    } catch (error) {
      this.fail(process, error);
    } finally {
      this.current = null;
    }
  }

  private countResumption(process: Process): void {
    if (++this.resumptionsNow <= this.livelockResumptions) return;
    this.throwLivelock(`${this.livelockResumptions} resumptions, the last of "${process.name}",`);
  }

  /** Nothing but daemon timers for too long, while others wait for something else than the time. */
  private checkDaemonStall(): void {
    const otherWork = this.events - this.daemonTimers + this.foregroundResumptions;
    if (otherWork !== this.stallMark) {
      this.stallMark = otherWork;
      this.stallSince[0] = this.clock[0];
    } else if (this.clock[0] - this.stallSince[0] >= this.stallNs && this.liveForeground > 0) {
      for (const waiting of this.live) if (!waiting.daemon && waiting.timerPending) return;
      this.throwStalled(`only timers of daemons have fired for ${this.stallNs} ns`);
    }
  }

  private end(process: Process, state: 'ended' | 'failed'): void {
    process.state = state;
    this.processes[state]++;
    this.retire(process);
    process.wakeJoiners();
  }

  private fail(process: Process, error: unknown): void {
    if (process.finished) throw error;
    process.error = error;
    this.end(process, 'failed');
    if (!process.observed) throw error;
  }

  private retire(process: Process): void {
    this.processes.live--;
    this.live.delete(process);
    if (!process.daemon) this.liveForeground--;
  }

  private throwLivelock(what: string): never {
    throw new SimulationError(
      'ERR_SIM_LIVELOCK',
      `livelock: ${what} at ${this.clock[0]} ns without time passing; these live:\n${this.describeProcesses()}`,
    );
  }

  private throwStalled(why: string): never {
    throw new SimulationError(
      'ERR_SIM_STALLED',
      `the simulation is stalled at ${this.clock[0]} ns: ${why}, and these wait:\n${this.describeProcesses()}${waitCycle(this.live)}`,
    );
  }
}

function hasFinished(process: Process | null): boolean {
  return process?.finished === true;
}

import type { Process } from './process.js';
import type { RandomStream } from './random.js';

/**
 * Decides who goes on where the order is open: among the processes that are ready and the events that are due at the same
 * instant. Without one (`Simulator.scheduler` null) it is first come, first served, and events wait for ready processes.
 */
export interface Scheduler {
  /**
   * Called before each step, also when there is one candidate only.
   * @param ready processes that are ready, the longest ready first; valid during the call only
   * @param events how many events are due now, in order of insertion
   * @returns index of a process, or `ready.length` plus the index of an event; 0 is what happens without a scheduler
   */
  choose(ready: readonly Process[], events: number): number;
}

/** Every candidate with the same probability. */
export class RandomScheduler implements Scheduler {
  private readonly random: RandomStream;

  constructor(random: RandomStream) {
    this.random = random;
  }

  choose(ready: readonly Process[], events: number): number {
    const candidates = ready.length + events;
    return candidates === 1 ? 0 : this.random.below(candidates);
  }
}

/**
 * Probabilistic concurrency testing: every process has a random priority, the highest that is ready runs, and at
 * `depth − 1` random steps the one that runs falls below all others. A bug that needs `depth` ordered steps is met with a
 * probability of at least 1/(n·k^(depth − 1)) for n processes and k steps. Events come before processes, so that all who
 * may run at an instant compete.
 *
 * Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (ASPLOS 2010), section 2.
 */
export class PctScheduler implements Scheduler {
  private readonly random: RandomStream;
  private readonly priorities: Map<Process, number> = new Map();
  /** Steps at which the running process falls, ascending. */
  private readonly changes: number[];
  private changed = 0;
  private steps = 0;

  /**
   * @param depth of the bugs that are looked for, 1 or more
   * @param steps resumptions of processes that a run has, about
   * @throws RangeError unless both are integers ≥ 1
   */
  constructor(random: RandomStream, depth: number, steps: number) {
    for (const [name, value] of Object.entries({ depth, steps })) {
      if (!Number.isSafeInteger(value) || value < 1)
        throw new RangeError(`${name} is ${value}, expected an integer ≥ 1`);
    }
    this.random = random;
    this.changes = Array.from({ length: depth - 1 }, () => 1 + random.below(steps)).sort((a, b) => a - b);
  }

  choose(ready: readonly Process[], events: number): number {
    if (events > 0) return ready.length + (events === 1 ? 0 : this.random.below(events));
    const chosen = this.highest(ready);
    this.steps++;
    if (this.changes[this.changed] !== this.steps) return chosen;
    while (this.changes[this.changed] === this.steps) {
      // Below every first priority, which is not negative, and below those that fell before.
      this.priorities.set(ready[chosen], -1 - this.changed);
      this.changed++;
    }
    return this.highest(ready);
  }

  private highest(ready: readonly Process[]): number {
    let best = 0;
    for (let at = 0; at < ready.length; at++) {
      if (this.priorityOf(ready[at]) > this.priorityOf(ready[best])) best = at;
    }
    return best;
  }

  private priorityOf(process: Process): number {
    let priority = this.priorities.get(process);
    if (priority === undefined) {
      priority = this.random.nextFloat();
      this.priorities.set(process, priority);
    }
    return priority;
  }
}

/** Does what another says and writes down every decision between two or more candidates. */
export class RecordingScheduler implements Scheduler {
  /** What was chosen, in order. */
  readonly decisions: number[] = [];
  private readonly scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  choose(ready: readonly Process[], events: number): number {
    const choice = this.scheduler.choose(ready, events);
    if (ready.length + events > 1) this.decisions.push(choice);
    return choice;
  }
}

/** Repeats decisions; after the last, and where there are fewer candidates than one demands, the first candidate runs. */
export class ReplayScheduler implements Scheduler {
  private readonly decisions: readonly number[];
  private next = 0;

  constructor(decisions: readonly number[]) {
    this.decisions = decisions;
  }

  choose(ready: readonly Process[], events: number): number {
    const candidates = ready.length + events;
    if (candidates === 1 || this.next === this.decisions.length) return 0;
    const choice = this.decisions[this.next++];
    return choice < candidates ? choice : 0;
  }
}

/**
 * All schedules of a program that is run again and again, depth first: `while (tree.advance()) run(tree)`. With a bound,
 * those that differ from first come, first served in at most so many decisions.
 */
export class ScheduleTree implements Scheduler {
  /** Schedules begun so far. */
  schedules = 0;
  private readonly bound: number;
  /** The path: what is chosen at each decision, and among how many candidates. */
  private readonly choices: number[] = [];
  private readonly widths: number[] = [];
  private depth = 0;
  private deviations = 0;

  /** @param bound decisions that may differ from the first candidate. Default without limit. */
  constructor(bound: number = Number.POSITIVE_INFINITY) {
    this.bound = bound;
  }

  /** Goes to the next schedule; false: all have been run. */
  advance(): boolean {
    // A run that met fewer decisions than the path has must not leave the rest of it behind.
    if (this.schedules > 0) {
      this.choices.length = this.depth;
      this.widths.length = this.depth;
      while (this.choices.length > 0 && !this.widen()) {
        this.choices.pop();
        this.widths.pop();
      }
      if (this.choices.length === 0) return false;
    }
    this.schedules++;
    this.depth = 0;
    this.deviations = 0;
    return true;
  }

  /** What the present schedule has chosen so far, for a `ReplayScheduler`. */
  get decisions(): readonly number[] {
    return this.choices.slice(0, this.depth);
  }

  choose(ready: readonly Process[], events: number): number {
    const candidates = ready.length + events;
    if (candidates === 1) return 0;
    const at = this.depth++;
    if (at === this.choices.length) {
      this.choices.push(0);
      this.widths.push(candidates);
    } else if (this.widths[at] !== candidates) {
      throw new Error(
        `decision ${at} is between ${candidates} now, ${this.widths[at]} before: the run is not repeatable`,
      );
    }
    if (this.choices[at] > 0) this.deviations++;
    return this.choices[at];
  }

  /** The next choice at the last decision of the path; false: it has none. */
  private widen(): boolean {
    const last = this.choices.length - 1;
    const isFirst = this.choices[last] === 0;
    if (isFirst && this.deviations >= this.bound) return false;
    if (this.choices[last] + 1 >= this.widths[last]) {
      if (!isFirst) this.deviations--;
      return false;
    }
    if (isFirst) this.deviations++;
    this.choices[last]++;
    return true;
  }
}

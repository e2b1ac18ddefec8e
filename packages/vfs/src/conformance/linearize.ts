/** What one step of an operation does to a model: the result if it ends the operation, null if another step follows. */
export type Outcome = string | null;

/** What operations of several processes are tried on. */
export interface SteppedModel<Operation> {
  copy(): SteppedModel<Operation>;
  /** The same text for the same state, what processes have found in earlier steps included. */
  key(): string;
  /** What is there in the end. */
  listing(): string;
  /** The next step of the operation that a process is at. */
  step(process: number, operation: Operation): Outcome;
}

/** An operation that was run: when it began and ended (positions in one order), and what it returned. */
export interface Run<Operation> {
  readonly process: number;
  readonly operation: Operation;
  readonly begin: number;
  end: number;
  result: string;
}

/**
 * Whether the operations, each taken apart into its steps between its begin and its end, can be put into an order in which
 * a model returns the same results and ends in the same state. Operations on a path that exists are several steps, because
 * a name may lead elsewhere between look-up and effect, as on Linux.
 */
export function linearizable<Operation>(
  start: SteppedModel<Operation>,
  runs: readonly Run<Operation>[],
  processes: number,
  listing: string,
): boolean {
  const queues: Run<Operation>[][] = Array.from({ length: processes }, () => []);
  for (const run of runs) queues[run.process].push(run);
  const dead = new Set<string>();
  const next = new Array<number>(processes).fill(0);

  function search(model: SteppedModel<Operation>): boolean {
    if (queues.every((queue, at) => next[at] === queue.length)) return model.listing() === listing;
    const key = `${next.join()};${model.key()}`;
    if (dead.has(key)) return false;
    const firstEnd = Math.min(...queues.map((queue, at) => queue[next[at]]?.end ?? Number.POSITIVE_INFINITY));
    for (let process = 0; process < processes; process++) {
      const run = queues[process][next[process]];
      if (run === undefined || run.begin > firstEnd) continue;
      const after = model.copy();
      const result = after.step(process, run.operation);
      if (result !== null && result !== run.result) continue;
      const steps = result === null ? 0 : 1;
      next[process] += steps;
      if (search(after)) return true;
      next[process] -= steps;
    }
    dead.add(key);
    return false;
  }
  return search(start);
}

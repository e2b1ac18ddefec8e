import { type Operation, ReferenceModel } from './reference-model.js';

/** An operation that was run: when it began and ended (positions in one order), and what it returned. */
export interface Run {
  readonly process: number;
  readonly operation: Operation;
  readonly begin: number;
  end: number;
  result: string;
}

/**
 * Whether the operations, each taken apart into at most two steps between its begin and its end, can be put into an order in
 * which a reference model returns the same results and ends in the same state. Operations on a path that exists are two
 * steps, because a name may lead elsewhere between look-up and effect, as on Linux.
 */
export function linearizable(runs: readonly Run[], processes: number, listing: string): boolean {
  const queues: Run[][] = Array.from({ length: processes }, () => []);
  for (const run of runs) queues[run.process].push(run);
  const dead = new Set<string>();
  const next = new Array<number>(processes).fill(0);
  const held = new Array<number>(processes).fill(-1);

  function search(model: ReferenceModel): boolean {
    if (queues.every((queue, at) => next[at] === queue.length)) return model.listing() === listing;
    const key = `${next.join()};${held.join()};${model.key()}`;
    if (dead.has(key)) return false;
    const firstEnd = Math.min(...queues.map((queue, at) => queue[next[at]]?.end ?? Number.POSITIVE_INFINITY));
    for (let process = 0; process < processes; process++) {
      const run = queues[process][next[process]];
      if (run === undefined || run.begin > firstEnd) continue;
      const after = model.copy();
      const before = held[process];
      const result = after.step(process, run.operation, before);
      if (result === null) {
        held[process] = after.found;
        if (search(after)) return true;
        held[process] = before;
      } else if (result === run.result) {
        next[process]++;
        held[process] = -1;
        if (search(after)) return true;
        next[process]--;
        held[process] = before;
      }
    }
    dead.add(key);
    return false;
  }
  return search(new ReferenceModel(processes));
}

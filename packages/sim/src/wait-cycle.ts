import type { Process } from './process.js';

/** Processes that wait for each other in a circle, as a line for the report on a stalled run; empty: none is known. */
export function waitCycle(live: Iterable<Process>): string {
  for (const start of live) {
    const path: Process[] = [];
    let process: Process | null = start;
    while (process !== null && !path.includes(process)) {
      path.push(process);
      process = process.wait?.holder ?? null;
    }
    if (process === null) continue;
    const circle = path.slice(path.indexOf(process));
    const steps = circle.map((one) => `"${one.name}" waits for ${one.wait?.describe()}`);
    return `\n  in a circle: ${steps.join('; ')}`;
  }
  return '';
}

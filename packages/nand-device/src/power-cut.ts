import type { NandArray } from './array.js';
import { FlightKind, type InFlight } from './in-flight.js';

/** What a power cut did, in pages and blocks. */
export interface PowerCut {
  /** Programs and erases that had been issued but had not begun: they never happened. */
  undonePrograms: number;
  undoneErases: number;
  /** Interrupted in the middle. */
  tornPrograms: number;
  tornErases: number;
}

/**
 * Applies a power cut at `nowNs` to the array: what has ended stays, what is in progress is torn, what has not begun is
 * undone, latest first, so that every block is left as the operations before it made it.
 */
export function cutPower(array: NandArray, flight: InFlight, nowNs: number): PowerCut {
  const result: PowerCut = { undonePrograms: 0, undoneErases: 0, tornPrograms: 0, tornErases: 0 };
  const entries: number[] = [];
  for (let die = 0; die < array.geometry.dies; die++) {
    entries.length = 0;
    for (let entry = flight.head[die]; entry !== 0; entry = flight.next[entry]) {
      if (flight.doneNs[entry] > nowNs && flight.kind[entry] !== FlightKind.read) entries.push(entry);
    }
    for (let i = entries.length - 1; i >= 0; i--) cutOne(array, flight, entries[i], nowNs, result);
  }
  array.busyUntilNs.fill(0);
  return result;
}

function cutOne(array: NandArray, flight: InFlight, entry: number, nowNs: number, result: PowerCut): void {
  const address = flight.address[entry];
  const begun = flight.arrayNs[entry] < nowNs;
  if (flight.kind[entry] === FlightKind.program) {
    if (begun) {
      array.tearProgram(address);
      result.tornPrograms++;
    } else {
      array.undoProgram(address, flight.oldNextPage[entry]);
      result.undonePrograms++;
    }
  } else if (begun) {
    array.tearErase(address);
    result.tornErases++;
  } else {
    array.undoErase(address, flight.oldNextPage[entry]);
    result.undoneErases++;
  }
}

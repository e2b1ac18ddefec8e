import type { NandArray } from './array.js';
import { isProgram } from './block-order.js';
import { FlightKind, type InFlight } from './in-flight.js';
import { type Service, Stage } from './service.js';
import { OpKind, TokenState, type Transactions } from './transactions.js';

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
  for (let die = 0; die < array.geometry.dies; die++) {
    const entries = flight.entries(die);
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i];
      if (flight.doneNs(entry) <= nowNs || flight.kind(entry) === FlightKind.read) continue;
      const erase = flight.kind(entry) === FlightKind.erase;
      const begun = flight.arrayNs(entry) < nowNs;
      cutPlane(array, erase, begun, flight.address(entry), flight.undo(entry), result);
    }
  }
  array.busyUntilNs.fill(0);
  return result;
}

/** One page or block that had not ended: torn if it had begun, otherwise undone. */
function cutPlane(
  array: NandArray,
  erase: boolean,
  begun: boolean,
  address: number,
  undo: number,
  result: PowerCut,
): void {
  if (erase && begun) {
    array.tearErase(address);
    result.tornErases++;
  } else if (erase) {
    array.undoErase(address, undo);
    result.undoneErases++;
  } else if (begun) {
    array.tearProgram(address);
    result.tornPrograms++;
  } else {
    array.undoProgram(address, undo);
    result.undonePrograms++;
  }
}

/** As `cutPower`, for a scheduler whose tokens live until their work is done. */
export function cutTransactions(array: NandArray, tokens: Transactions, service: Service, nowNs: number): PowerCut {
  const result: PowerCut = { undonePrograms: 0, undoneErases: 0, tornPrograms: 0, tornErases: 0 };
  const open: number[] = [];
  for (let token = 1; token < tokens.capacity; token++) {
    if (tokens.state[token] === TokenState.free || service.stage[token] === Stage.done) continue;
    const changes = isProgram(tokens.kind[token]) || tokens.kind[token] === OpKind.erase;
    if (changes && tokens.arrayEndNs[token] > nowNs) open.push(token);
  }
  open.sort((a, b) => service.issued[b] - service.issued[a]);
  for (const token of open) {
    const begun = tokens.arrayStartNs[token] < nowNs;
    const erase = tokens.kind[token] === OpKind.erase;
    for (let i = tokens.count[token] - 1; i >= 0; i--) {
      const at = token * tokens.planesPerDie + i;
      cutPlane(array, erase, begun, tokens.address[at], tokens.undo[at], result);
    }
  }
  array.busyUntilNs.fill(0);
  return result;
}

import { InputError } from '@flashstack/sim';
import type { SastShape } from './sast.js';

/** A change of the groups of SAST while the drive is in use. */
export interface SastChange {
  /** Slots that the host has written by then, since the drive was new. */
  readonly after: number;
  readonly shape: SastShape;
}

const KEY = 'ftl.mapping.parameters.schedule';
const ENTRY = /^(\d{1,15}) +(\d{1,15}):(\d{1,15})$/;

function wrong(message: string): InputError {
  return new InputError('ERR_FTL_OPTION', `${KEY}: ${message}`, KEY);
}

/**
 * The changes that a text names, such as `100000 8:2, 300000 1:1`: after so many slots, groups of so many data blocks with so
 * many log blocks. `cap`: see `Sast`.
 * @throws InputError `ERR_FTL_OPTION` for anything else, numbers below 1, slots that do not ascend, or fewer data blocks than
 * the cap.
 */
export function parseSchedule(text: string, cap: number): SastChange[] {
  const changes: SastChange[] = [];
  if (text.trim() === '') return changes;
  for (const entry of text.split(',')) {
    const match = ENTRY.exec(entry.trim());
    if (match === null) {
      throw wrong(
        `found "${entry.trim()}", expected host slots and data blocks : log blocks, such as "100000 8:2, 300000 1:1"`,
      );
    }
    const [after, dataBlocks, logBlocksPerGroup] = match.slice(1).map(Number);
    const before = changes.at(-1)?.after ?? 0;
    if (after <= before) throw wrong(`found ${after} slots after ${before}, expected ascending numbers from 1 on`);
    if (dataBlocks === 0 || logBlocksPerGroup === 0) {
      throw wrong(`found "${entry.trim()}", expected a data block and a log block at least`);
    }
    if (dataBlocks < cap) {
      throw wrong(`found groups of ${dataBlocks} data blocks, expected at least the cap of ${cap}`);
    }
    changes.push({ after, shape: { dataBlocks, logBlocksPerGroup } });
  }
  return changes;
}

/**
 * Refuses groups that no domain can have.
 * @throws InputError `ERR_FTL_OPTION` for more data blocks than a domain has logical blocks.
 */
export function checkSchedule(schedule: readonly SastChange[], logicalBlocks: number): void {
  for (const { after, shape } of schedule) {
    if (shape.dataBlocks <= logicalBlocks) continue;
    throw wrong(
      `found groups of ${shape.dataBlocks} data blocks after ${after} slots, expected at most ${logicalBlocks}: a domain has no ` +
        'more logical blocks, and with all of them it is one group',
    );
  }
}

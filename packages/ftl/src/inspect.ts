import type { NandArray } from '@flashstack/nand-device';
import { BlockState, type BlockTable } from './block-table.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import { UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';

/** The parts of an FTL that are checked against each other. */
export interface InspectTarget {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly stats: FtlStats;
}

/**
 * Checks the invariants of the mapping (specification section 20, items 1–4 and 7) by brute force.
 * @throws FtlError `ERR_FTL_INVARIANT` naming the first one that does not hold.
 */
export function inspect(ftl: InspectTarget): void {
  checkMapping(ftl);
  checkStates(ftl);
  const unexplained = ftl.stats.unexplained();
  if (unexplained !== 0) broken(`${unexplained} programmed slots are not accounted for`);
}

function broken(what: string): never {
  throw new FtlError('ERR_FTL_INVARIANT', what);
}

/** L2P and P2L are inverse; valid counts are those of the map; valid slots are in pages that hold them. */
function checkMapping({ array, table, frontiers }: InspectTarget): void {
  const { geometry } = array;
  const valid = new Int32Array(table.blocks);
  for (let lpn = 0; lpn < frontiers.l2p.length; lpn++) {
    const psn = frontiers.l2p[lpn];
    if (psn === UNMAPPED) continue;
    if (array.lpn[psn] !== lpn) broken(`lpn ${lpn} is mapped to slot ${psn}, whose OOB says ${array.lpn[psn]}`);
    const block = frontiers.blockOf(psn);
    const ppn = geometry.ppnOfPsn(psn);
    const pending = geometry.pageOf(ppn) >= array.nextPage[geometry.blockOf(ppn)];
    if (pending && (frontiers.simple || !frontiers.block.includes(block))) {
      broken(`lpn ${lpn} is mapped to slot ${psn} of block ${block}, which is neither programmed nor collected`);
    }
    valid[block]++;
  }
  for (let block = 0; block < table.blocks; block++) {
    if (valid[block] === table.valid[block]) continue;
    broken(`block ${block} counts ${table.valid[block]} valid slots; ${valid[block]} logical slots point into it`);
  }
}

/** Each block is in one state that fits its contents, and the free pools count right. */
function checkStates({ array, table, frontiers }: InspectTarget): void {
  const free = new Int32Array(table.domains);
  for (let block = 0; block < table.blocks; block++) {
    const state = table.state[block];
    const open = frontiers.block.includes(block);
    if (open !== (state === BlockState.open))
      broken(`block ${block} is ${open ? '' : 'not '}a frontier, but in state ${state}`);
    const empty = state === BlockState.free || state === BlockState.erasing || state === BlockState.bad;
    if (empty && table.valid[block] > 0)
      broken(`block ${block} in state ${state} has ${table.valid[block]} valid slots`);
    if (state === BlockState.free) free[table.domainOf(block)]++;
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      if (state === BlockState.free && array.nextPage[physical] > 0) broken(`free block ${block} is not erased`);
      if (array.bad[physical] !== 0) broken(`block ${block} has the bad member ${physical}`);
    }
    if (!frontiers.simple && frontiers.heldBy[block] < 0)
      broken(`block ${block} is held ${frontiers.heldBy[block]} times`);
  }
  for (let domain = 0; domain < table.domains; domain++) {
    if (free[domain] !== table.freeCount[domain]) {
      broken(`domain ${domain} counts ${table.freeCount[domain]} free blocks, but has ${free[domain]}`);
    }
  }
}

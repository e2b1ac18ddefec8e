import { NandStatus, PADDING_LPN, type Token } from '@flashstack/nand-device';
import { BY_MAP, type Frontiers } from './frontier.js';
import { Done, type FrontierParts } from './frontier-parts.js';
import { UNMAPPED } from './slot-contents.js';

/** A program unit that failed: its slots, the jobs that wait for them (−1: none) and the versions they supersede (−1: none). */
export interface FailedUnit {
  readonly psns: Int32Array;
  readonly jobs: Int32Array;
  readonly older: Int32Array;
}

/**
 * A program of frontier `f` failed: its block is given up, and what is still valid of the unit is written to the frontier
 * that the owner names, after the failure. `ppns`: the pages of the command.
 */
export function reprogram(
  frontiers: Frontiers,
  parts: FrontierParts,
  f: number,
  token: Token,
  unit: FailedUnit,
  ppns: Int32Array,
): void {
  const { array, stats, owner } = parts;
  const { scheduler } = frontiers;
  const block = frontiers.block[f];
  stats.programFailures++;
  let worst = 0;
  for (let i = 1; i < ppns.length; i++) if (array.planeStatus[i] !== NandStatus.ok) worst = i;
  frontiers.close(f);
  owner.blockFailed(block, array.geometry.blockOf(ppns[worst]));
  let after = token;
  const superseded: number[] = [];
  for (let i = 0; i < unit.psns.length; i++) {
    const psn = unit.psns[i];
    const lpn = array.lpn[psn];
    const current = lpn !== PADDING_LPN && frontiers.l2p[lpn] === psn;
    const to = owner.rescueFrontier(f, block);
    if (current && to >= 0) {
      stats.reprogrammed++;
      // The units of the other block may be smaller: each of them waits for the failure, and for what the unit waited for.
      if (after === 0 && frontiers.collected(to) === 0) after = scheduler.fence();
      // What it supersedes is the version before: the failed one is worthless.
      frontiers.supersedes = unit.older[i];
      frontiers.append(to, lpn, array.origin[psn], psn, unit.jobs[i], after);
      frontiers.supersedes = BY_MAP;
      after = 0;
    } else {
      if (current) {
        frontiers.invalidate(psn);
        frontiers.l2p[lpn] = UNMAPPED;
        owner.slotStranded(lpn, unit.jobs[i]);
      }
      // Stranded slots need no protection, since nothing is erased any more.
      else if (unit.older[i] >= 0) owner.successorFailed(lpn, frontiers.blockOf(unit.older[i]));
      if (unit.jobs[i] >= 0) superseded.push(unit.jobs[i]);
    }
    // Only now, since the new copy holds the same block.
    if (unit.older[i] >= 0 && !frontiers.simple) frontiers.unhold(frontiers.blockOf(unit.older[i]));
  }
  if (after !== 0) scheduler.drop(after);
  // Jobs of slots that were superseded meanwhile end when everything issued so far is durable.
  for (const job of superseded) scheduler.then(scheduler.fence(), owner.completions, (job << 3) | Done.job);
}

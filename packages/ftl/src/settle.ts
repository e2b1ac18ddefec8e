import type { Frontiers } from './frontier.js';

/** Pads frontier `f` until nothing is pending in it and no page with data is at risk from a later program. */
export function settle(frontiers: Frontiers, f: number): void {
  if (frontiers.simple) return;
  while (frontiers.block[f] >= 0 && (frontiers.fill[f] > 0 || frontiers.isExposed(f))) frontiers.pad(f);
}

/** The same for the first `perDomain` frontiers of each domain. */
export function settleAll(frontiers: Frontiers, perDomain: number): void {
  if (frontiers.simple) return;
  for (let f = 0; f < frontiers.block.length; f++) if (f % frontiers.perDomain < perDomain) settle(frontiers, f);
}

/** Pads as many units as it takes until nothing that supersedes data of `block` could vanish any more. */
export function releaseHolds(frontiers: Frontiers, block: number): void {
  for (let f = 0; f < frontiers.block.length && frontiers.heldBy[block] > 0; f++) {
    while (frontiers.block[f] >= 0 && frontiers.holds(f, block)) frontiers.pad(f);
  }
}

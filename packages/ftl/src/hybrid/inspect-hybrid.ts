import { BlockState } from '../block-table.js';
import { FtlError } from '../errors.js';
import { inspect } from '../inspect.js';
import { UNMAPPED } from '../slot-contents.js';
import type { HybridFtl } from './hybrid-ftl.js';
import { Role } from './placed-frontiers.js';

/**
 * Checks by brute force what `inspect` does, and the tables of the scheme: block map and log map name the newest version of
 * every slot, data blocks hold each offset at its place, and log blocks and free blocks are as many as they may be.
 * @throws FtlError `ERR_FTL_INVARIANT` naming the first thing that does not hold.
 */
export function inspectHybrid(ftl: HybridFtl): void {
  const { layout } = ftl;
  const { domain, lbn, offset } = layout;
  inspect(ftl);
  checkTables(ftl);
  checkDataBlocks(ftl);
  checkLogBlocks(ftl);
  checkFreeBlocks(ftl);
  const wrong = ftl.scheme.broken();
  if (wrong !== null) broken(wrong);
  // A drive that was looked at is the same drive, also in an image of it.
  Object.assign(layout, { domain, lbn, offset });
}

function broken(what: string): never {
  throw new FtlError('ERR_FTL_INVARIANT', what);
}

/** The tables of the scheme answer for each slot what the map of the simulation says. */
function checkTables(ftl: HybridFtl): void {
  const { frontiers, layout, map } = ftl;
  let logged = 0;
  for (let lpn = 0; lpn < ftl.logicalSlots; lpn++) {
    const psn = frontiers.l2p[lpn];
    const found = ftl.lookup(lpn);
    if (found !== psn) broken(`the tables find lpn ${lpn} in slot ${found}, but it is in slot ${psn}`);
    layout.locate(lpn);
    const { lbn, offset } = layout;
    if (layout.lpnAt(lbn, offset) !== lpn) broken(`lpn ${lpn} is not at offset ${offset} of logical block ${lbn}`);
    if (psn === UNMAPPED) {
      if (map.get(layout.keyOf(lpn)) >= 0) broken(`lpn ${lpn} is in the log map, but not mapped`);
      continue;
    }
    const role = frontiers.role[frontiers.blockOf(psn)];
    if (role !== Role.data) logged++;
    if (role === Role.none || role === Role.meta) broken(`lpn ${lpn} is in a block of role ${role}`);
  }
  if (map.size !== logged) broken(`the log map has ${map.size} entries, ${logged} slots are in log blocks`);
}

/** Each data block belongs to one logical block and holds off at off; the write pointer is where it can be written. */
function checkDataBlocks({ table, data, layout, frontiers, array }: HybridFtl): void {
  const { l2p, role } = frontiers;
  for (let block = 0; block < table.blocks; block++) {
    const lbn = data.lbnOf[block];
    if (lbn >= 0 !== (role[block] === Role.data))
      broken(`block ${block} of role ${role[block]} has logical block ${lbn}`);
    if (lbn < 0) continue;
    if (data.blockOf[lbn] !== block) broken(`block ${block} is of logical block ${lbn}, whose data block is another`);
    for (let at = 0; at < layout.slotsPerBlock; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn < l2p.length && l2p[lpn] === psn && layout.lpnAt(lbn, at) !== lpn) {
        broken(`data block ${block} of logical block ${lbn} holds lpn ${lpn} at offset ${at}`);
      }
    }
    const next = data.writePointer[block];
    if (table.state[block] === BlockState.open || next === layout.slotsPerBlock) continue;
    const ppn = array.geometry.ppnOfPsn(layout.psnAt(block, next));
    if (array.geometry.pageOf(ppn) !== array.nextPage[array.geometry.blockOf(ppn)]) {
      broken(`data block ${block} cannot go on at ${next}`);
    }
  }
  data.blockOf.forEach((block, lbn) => {
    if (block >= 0 && data.lbnOf[block] !== lbn) broken(`logical block ${lbn} has data block ${block} of another`);
  });
}

function checkLogBlocks({ table, logs, frontiers }: HybridFtl): void {
  const used = new Int32Array(table.domains);
  for (let log = 0; log < logs.block.length; log++) {
    const block = logs.block[log];
    if (block < 0) continue;
    const domain = table.domainOf(block);
    used[domain]++;
    if (domain !== Math.floor(log / logs.perDomain)) broken(`log block ${block} counts in another domain`);
    if (logs.logOf[block] !== log || frontiers.role[block] !== Role.log) broken(`block ${block} is no log block`);
  }
  for (let domain = 0; domain < table.domains; domain++) {
    if (used[domain] !== logs.used[domain] || used[domain] > logs.perDomain) {
      broken(
        `domain ${domain} has ${used[domain]} log blocks, counts ${logs.used[domain]}, may have ${logs.perDomain}`,
      );
    }
  }
}

/** As long as nothing has failed, there is a block for the next full merge, free or about to be. */
function checkFreeBlocks({ table, eraser, stats, upkeep }: HybridFtl): void {
  if (stats.programFailures + stats.eraseFailures + stats.retired > 0 || upkeep.hasWork || upkeep.readOnly) return;
  for (let domain = 0; domain < table.domains; domain++) {
    if (table.freeCount[domain] + eraser.erasing[domain] < 1) broken(`domain ${domain} has no block left for a merge`);
  }
}

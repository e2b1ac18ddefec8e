import type { NandArray } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';
import type { TrimMap } from '../trim-map.js';
import type { HybridLayout } from './layout.js';
import { metaBlocks } from './meta-area.js';
import type { HybridSpec } from './scheme.js';
import { failureReserve } from './space.js';

/**
 * Log blocks of a domain: as many as the scheme asks for, or three quarters of the spare ones.
 * @throws InputError `ERR_FTL_OVERPROVISIONING` or `ERR_FTL_LOG_BLOCKS` saying how many there are and what would do.
 */
export function chooseLogBlocks(
  spec: HybridSpec,
  layout: HybridLayout,
  table: BlockTable,
  trimMap: TrimMap,
  array: NandArray,
): number {
  const { logicalBlocks, slotsPerBlock, domains } = layout;
  // The domain with the fewest spare blocks decides, since slots are spread evenly.
  let spare = Infinity;
  let kept = 0;
  let whole = 0;
  for (let domain = 0; domain < domains; domain++) {
    const blocks = wholeBlocks(table, domain);
    const meta = metaBlocks(domain, table, trimMap, array, layout.unit);
    const reserve = 1 + failureReserve(array) + (meta === 0 ? 0 : meta + 1);
    if (blocks - logicalBlocks - reserve >= spare) continue;
    spare = blocks - logicalBlocks - reserve;
    kept = reserve;
    whole = blocks;
  }
  const least = Math.max(spec.leastLogBlocks, spec.logBlocks);
  const wanted = spec.logBlocks > 0 ? spec.logBlocks : Math.max(least, Math.floor((3 * spare) / 4));
  if (spec.logBlocks > 0 && spec.logBlocks < spec.leastLogBlocks) throw tooFew(spec);
  if (wanted <= spare) return wanted;
  const fits = Math.max(0, whole - kept - least) * slotsPerBlock * domains;
  const physical = whole * slotsPerBlock * domains;
  const blocks = spec.name === 'block' ? 'replacement blocks' : 'log blocks';
  const parameter = parameterOf(spec);
  const canBeFewer = parameter === 'schedule' ? spare > 0 : spec.logBlocks > 0 && spare >= spec.leastLogBlocks;
  const fewer = canBeFewer ? `at most ${spare} ${blocks}${parameter === 'schedule' ? ' a group' : ''}` : '';
  const smaller =
    fits === 0
      ? ''
      : `at most ${fits} logical slots (over-provisioning of at least ${((100 * (physical - fits)) / fits).toFixed(2)} %)`;
  const ways = [fewer, smaller].filter((way) => way !== '');
  const remedy =
    ways.length === 0
      ? 'No capacity is small enough for that on this device: use smaller blocks or more of them'
      : `Use ${ways.join(', or ')}`;
  const key = parameter === '' ? 'ftl.logicalSlots' : `ftl.mapping.parameters.${parameter}`;
  throw new InputError(
    parameter === '' ? 'ERR_FTL_OVERPROVISIONING' : 'ERR_FTL_LOG_BLOCKS',
    `${key}: ${spec.name} needs ${least} ${blocks} in each of ${domains} domains, found ${Math.max(0, spare)} spare blocks: of ${whole} blocks ` +
      `without bad members, ${logicalBlocks} hold the logical slots, and ${kept} are kept for merges, failures and trims. ${remedy}`,
    key,
  );
}

/** The parameter that says how many log blocks there must be; none if it is the scheme. */
function parameterOf(spec: HybridSpec): string {
  if (spec.logBlocks > 0) return spec.name === 'block' ? 'replacementBlocks' : 'logBlocks';
  return spec.leastFrom ?? '';
}

/** The error for fewer log blocks than the scheme, or another of its parameters, asks for. */
function tooFew({ name, logBlocks, leastLogBlocks, leastFrom }: HybridSpec): InputError {
  const key = `ftl.mapping.parameters.${leastFrom ?? 'logBlocks'}`;
  const message =
    leastFrom === undefined
      ? `found ${logBlocks}, but ${name} needs at least ${leastLogBlocks}. Use at least that`
      : `found groups of ${leastLogBlocks} log blocks, but there are ${logBlocks} (logBlocks). Use at most ${logBlocks} log ` +
        `blocks a group, or logBlocks of at least ${leastLogBlocks}`;
  return new InputError('ERR_FTL_LOG_BLOCKS', `${key}: ${message}`, key);
}

/** Allocation blocks of a domain that are not bad. */
export function wholeBlocks(table: BlockTable, domain: number): number {
  let count = 0;
  const end = (domain + 1) * table.blocksPerDomain;
  for (let block = domain * table.blocksPerDomain; block < end; block++) if (table.capacity[block] > 0) count++;
  return count;
}

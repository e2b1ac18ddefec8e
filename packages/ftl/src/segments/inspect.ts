import { PADDING_LPN } from '@flashstack/nand-device';
import { BlockState } from '../block-table.js';
import { FtlError } from '../errors.js';
import type { PageMapFtl } from '../page-map.js';
import { type SegmentArea, SegmentFlag } from './segment-area.js';

/** The parts of an FTL that are checked against each other. */
export interface SegmentInspectTarget {
  readonly area: SegmentArea;
  readonly store: PageMapFtl;
}

function broken(what: string): never {
  throw new FtlError('ERR_FTL_INVARIANT', what);
}

/**
 * Checks by brute force that groups belong to one segment each, that every physical block of the area has one place, and
 * that what a segment holds lies where its offset says; then the page map beside it.
 */
export function inspectSegments(ftl: SegmentInspectTarget): void {
  const { area } = ftl;
  checkBlocks(area);
  const owner = new Int32Array(area.table.blocks).fill(-1);
  for (let segment = 0; segment < area.layout.segments; segment++) {
    const group = area.group[segment];
    if (group < 0) {
      if (area.pointer[segment] !== 0) broken(`segment ${segment} has ${area.pointer[segment]} slots, but no group`);
      continue;
    }
    if (owner[group] >= 0) broken(`group ${group} belongs to segments ${owner[group]} and ${segment}`);
    owner[group] = segment;
    checkSegment(area, segment);
  }
  for (let group = 0; group < area.table.blocks; group++) {
    const state = area.table.state[group];
    const used = state === BlockState.open || state === BlockState.closed;
    if (used !== owner[group] >= 0) broken(`group ${group} in state ${state} belongs to segment ${owner[group]}`);
    if (area.table.valid[group] !== (used ? area.pointer[owner[group]] : 0)) broken(`group ${group} miscounts`);
  }
  ftl.store.inspect();
}

/** Every block has one place: in a group, among the spares, or on the way there. */
function checkBlocks(area: SegmentArea): void {
  const { table, blocks } = area;
  const { array } = area.parts;
  const seen = new Uint8Array(array.geometry.blocks);
  const see = (physical: number, where: string): void => {
    if (!blocks.owns(physical)) broken(`block ${physical} of ${where} is not of the area`);
    if (seen[physical] !== 0) broken(`block ${physical} of ${where} is in two places`);
    seen[physical] = 1;
  };
  for (let group = 0; group < table.blocks; group++) {
    if (table.state[group] === BlockState.bad) continue;
    for (let member = 0; member < table.members; member++) {
      const physical = blocks.physical(group, member);
      see(physical, `group ${group}`);
      if (table.blockOfPhysical[physical] !== group) broken(`block ${physical} is not known to be of group ${group}`);
      const unit = area.layout.unitOf(table.domainOf(group), member);
      if (array.geometry.unitOfBlock(physical) !== unit)
        broken(`block ${physical} of group ${group} is on another unit`);
      if (table.state[group] === BlockState.free && !blocks.isErased(physical)) {
        broken(`block ${physical} of the free group ${group} is not erased`);
      }
    }
  }
  for (const spares of blocks.spares) {
    for (const physical of spares) {
      see(physical, 'the spares');
      if (!blocks.isErased(physical) || array.bad[physical] !== 0) broken(`spare block ${physical} cannot be used`);
    }
  }
}

function checkSegment(area: SegmentArea, segment: number): void {
  const { layout } = area;
  const { array } = area.parts;
  const damaged = (area.flags[segment] & (SegmentFlag.damaged | SegmentFlag.frozen)) !== 0;
  const issued = area.issuedOf(segment);
  if (area.pointer[segment] > layout.capacityOf(segment)) broken(`segment ${segment} holds more than it can`);
  for (let offset = 0; offset < area.pointer[segment]; offset++) {
    const psn = area.contentOf(segment, offset);
    const lpn = layout.start(segment) + offset;
    if (array.lpn[psn] !== lpn) {
      const found = array.lpn[psn] === PADDING_LPN ? 'padding' : array.lpn[psn];
      broken(`slot ${offset} of segment ${segment} is in slot ${psn}, whose OOB says ${found} instead of ${lpn}`);
    }
    if (damaged) continue;
    const ppn = array.geometry.ppnOfPsn(psn);
    const programmed = array.geometry.pageOf(ppn) < array.nextPage[array.geometry.blockOf(ppn)];
    if (programmed !== offset < issued) {
      broken(`slot ${offset} of segment ${segment} is ${programmed ? '' : 'not '}programmed, of ${issued} issued`);
    }
  }
}

import { type BlockDevice, BlockFlag, BlockOp, type BlockRequest } from './contract.js';
import { type ZoneCapability, ZoneOp } from './zones.js';

const KNOWN_FLAGS = 63;

/**
 * Throws for a malformed request; every device calls it first in `submit`.
 * @throws RangeError for blocks outside the device, a zero length or a payload of the wrong size; TypeError for an
 * unknown operation or flag, a flag or payload where none belongs, or a zone operation without zones.
 */
export function validateRequest(device: BlockDevice, request: BlockRequest): void {
  const { op, block, count, flags, data, tags } = request;
  if (op !== BlockOp.read && op !== BlockOp.write) validateOther(device, request);
  if (op === BlockOp.flush) return;
  const end = block + count;
  if (!Number.isSafeInteger(end) || !Number.isSafeInteger(count) || block < 0 || count < 1 || end > device.blockCount) {
    throw outOfRange(device, request);
  }
  if (flags !== 0) validateFlags(op, flags);
  if (data !== null || tags !== null) validatePayload(device, request);
}

/** Apart from the check, so that the engine does not make strings of the numbers of requests that are in range. */
function outOfRange(device: BlockDevice, { block, count }: BlockRequest): RangeError {
  if (!Number.isSafeInteger(block) || !Number.isSafeInteger(count) || block < 0 || count < 1) {
    return new RangeError(`request for block ${block}, count ${count}: expected a block ≥ 0 and a count ≥ 1`);
  }
  return new RangeError(`blocks ${block}–${block + count - 1} are beyond the device of ${device.blockCount} blocks`);
}

function validatePayload(device: BlockDevice, { count, data, tags }: BlockRequest): void {
  if (data !== null && data.length !== count * device.blockBytes) {
    throw new RangeError(`data holds ${data.length} bytes, expected ${count} × ${device.blockBytes}`);
  }
  if (tags !== null) {
    if (data !== null) throw new TypeError('a request has data or tags, not both');
    if (tags.length !== count) throw new RangeError(`${tags.length} tags for ${count} blocks`);
  }
}

function validateOther(device: BlockDevice, request: BlockRequest): void {
  const { op, count, flags } = request;
  if (op === ZoneOp.append) {
    validateAppend(zonesFor(device, op), request);
    return;
  }
  const zoneCommand = op >= ZoneOp.open && op <= ZoneOp.offline && Number.isSafeInteger(op);
  if (!zoneCommand && op !== BlockOp.flush && op !== BlockOp.discard && op !== BlockOp.writeZeroes) {
    throw new TypeError(`unknown operation ${op}`);
  }
  if (request.data !== null || request.tags !== null) {
    throw new TypeError('only reads, writes and appends have a payload');
  }
  if (zoneCommand) validateZones(zonesFor(device, op), request);
  if (op === BlockOp.flush) {
    if (count !== 0) throw new RangeError(`a flush has no blocks, found a count of ${count}`);
    validateFlags(op, flags);
  }
}

function zonesFor(device: BlockDevice, op: number): ZoneCapability {
  const zones = device.zones ?? null;
  if (zones === null) throw new TypeError(`operation ${op} is for zones, and the device has none`);
  return zones;
}

function validateAppend(zones: ZoneCapability, { block, count }: BlockRequest): void {
  const { zoneBlocks, zoneCapacityBlocks, maxAppendBlocks = 0 } = zones;
  if (block % zoneBlocks !== 0) {
    throw new RangeError(
      `an append names the first block of its zone, a multiple of ${zoneBlocks}, found ${block}: the device places it`,
    );
  }
  if (count > zoneCapacityBlocks) {
    throw new RangeError(`an append of ${count} blocks exceeds the zone, which takes ${zoneCapacityBlocks}`);
  }
  if (maxAppendBlocks > 0 && count > maxAppendBlocks) {
    throw new RangeError(`an append of ${count} blocks, expected at most ${maxAppendBlocks}: append in parts`);
  }
}

function validateZones({ zoneBlocks }: ZoneCapability, { block, count }: BlockRequest): void {
  if (block % zoneBlocks !== 0 || count % zoneBlocks !== 0) {
    throw new RangeError(
      `a zone command for block ${block}, count ${count}: expected whole zones, multiples of ${zoneBlocks}`,
    );
  }
}

function validateFlags(op: number, flags: number): void {
  if ((flags & ~KNOWN_FLAGS) !== 0 || !Number.isSafeInteger(flags)) throw new TypeError(`unknown flags ${flags}`);
  if (op !== BlockOp.write && op !== ZoneOp.append && (flags & (BlockFlag.fua | BlockFlag.preflush)) !== 0) {
    throw new TypeError('FUA and PREFLUSH are for writes and appends only');
  }
  if (op !== BlockOp.read && (flags & BlockFlag.ahead) !== 0) throw new TypeError('reading ahead is for reads only');
}

/** What a request asks of a device with zones, besides `BlockOp`. */
export const ZoneOp = {
  /** A write at the write pointer of a zone. `block` is the start of the zone; `placed` says where it went. */
  append: 5,
  /**
   * Opens a zone explicitly. This and what follows names whole zones: the start of the first, and the blocks of all.
   * One zone in the wrong state is refused; of several, those are affected that the command can change.
   */
  open: 6,
  /** Closes an open zone. */
  close: 7,
  /** Makes a zone full, whatever has been written to it. */
  finish: 8,
  /** Makes a zone empty: its blocks read as zero. */
  reset: 9,
  /** Gives a zone up that is read only. */
  offline: 10,
} as const;

/** State of a zone (NVMe zoned namespaces). */
export const ZoneState = {
  empty: 0,
  /** Opened by a write; the device closes it when it needs room for another. */
  implicitlyOpen: 1,
  /** Opened by `ZoneOp.open`; stays open until it is closed, finished, reset or full. */
  explicitlyOpen: 2,
  /** Partly written, or opened once and closed again. */
  closed: 3,
  full: 4,
  /** The device takes no more writes and no reset: a part of it has failed. */
  readOnly: 5,
  /** The device has lost it. */
  offline: 6,
} as const;

/** Name of a state for messages, such as `implicitlyOpen`. */
export function zoneStateName(state: number): string {
  for (const [name, value] of Object.entries(ZoneState)) if (value === state) return name;
  return `zone state ${state}`;
}

/**
 * Zones of a device: `zoneCount` ranges of `zoneBlocks` blocks each, of which the first `zoneCapacityBlocks` can be
 * written, in order and once after each reset.
 *
 * Zone rules are applied in order of submission, not of completion: a write or append moves the write pointer when it
 * is submitted, so any number of them may be in flight to one zone, and of a reset and writes around it the last wins.
 * A request that is refused changes nothing. Blocks at the write pointer and beyond read as zero; a read may cross zones.
 *
 * A power cut leaves of each zone what was written first, at least all that was durable: what a flush or FUA covers, and
 * zone commands that had completed. Open zones are closed by it, and those that nothing is left of are empty.
 */
export interface ZoneCapability {
  readonly zoneCount: number;
  /** Distance between the starts of zones, blocks. */
  readonly zoneBlocks: number;
  /** Blocks of a zone that can be written, at most `zoneBlocks`. */
  readonly zoneCapacityBlocks: number;
  /** Most zones open at a time, 0: any number. */
  readonly maxOpen: number;
  /** Most zones open or closed at a time, 0: any number. */
  readonly maxActive: number;
  /** Most blocks of an append; absent or 0: a whole zone. */
  readonly maxAppendBlocks?: number;
  /** A `ZoneState`. @throws RangeError for a zone that does not exist. */
  stateOf(zone: number): number;
  /**
   * Block at which the next write must start; for a full zone the end of its capacity.
   * @throws RangeError for a zone that does not exist.
   */
  writePointerOf(zone: number): number;
}

/** What there is to know about one zone. All zones are of the type that must be written in order. */
export interface ZoneReport {
  /** Number of the zone. */
  readonly zone: number;
  /** A `ZoneState`. */
  readonly state: number;
  /** First block. */
  readonly start: number;
  /** Blocks up to the next zone. */
  readonly blocks: number;
  /** Blocks that can be written. */
  readonly capacityBlocks: number;
  /** Block at which the next write must start; of a full zone the end of its capacity. */
  readonly writePointer: number;
}

/** The report of one zone, as a new object. @throws RangeError for a zone that does not exist. */
export function reportZone(zones: ZoneCapability, zone: number): ZoneReport {
  return {
    zone,
    state: zones.stateOf(zone),
    start: zone * zones.zoneBlocks,
    blocks: zones.zoneBlocks,
    capacityBlocks: zones.zoneCapacityBlocks,
    writePointer: zones.writePointerOf(zone),
  };
}

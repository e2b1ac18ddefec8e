import { InputError } from '@flashstack/sim';
import { BlockOp, type BlockRequest, BlockStatus } from './contract.js';
import { type ZoneCapability, ZoneOp, ZoneState, zoneStateName } from './zones.js';

/** Shape and limits of the zones of a device. */
export interface ZoneTableOptions {
  readonly zoneCount: number;
  /** Distance between the starts of zones, blocks. */
  readonly zoneBlocks: number;
  /** Blocks of a zone that can be written. Default: all of them. */
  readonly zoneCapacityBlocks?: number;
  /** Most zones open at a time. Default 0: any number. */
  readonly maxOpen?: number;
  /** Most zones open or closed at a time. Default 0: any number. */
  readonly maxActive?: number;
  /** Most blocks of an append. Default 0: a whole zone. */
  readonly maxAppendBlocks?: number;
}

const { empty, implicitlyOpen, explicitlyOpen, closed, full, readOnly, offline } = ZoneState;
const STATES = 7;
/** The command does not lead anywhere from that state. */
const NO = -1;
/** State after a command, by command from `ZoneOp.open` on and present state. */
const NEXT: Int8Array = Int8Array.of(
  ...[explicitlyOpen, explicitlyOpen, explicitlyOpen, explicitlyOpen, NO, NO, NO], // open
  ...[NO, closed, closed, closed, NO, NO, NO], // close
  ...[full, full, full, full, full, NO, NO], // finish
  ...[empty, empty, empty, empty, empty, NO, NO], // reset
  ...[NO, NO, NO, NO, NO, offline, offline], // offline
);
/** States, as bits, that a command to several zones changes, by command from `ZoneOp.open` on. */
const CHANGED_OF_SEVERAL: Uint8Array = Uint8Array.of(
  1 << closed,
  (1 << implicitlyOpen) | (1 << explicitlyOpen),
  (1 << implicitlyOpen) | (1 << explicitlyOpen) | (1 << closed),
  (1 << implicitlyOpen) | (1 << explicitlyOpen) | (1 << closed) | (1 << full),
  1 << readOnly,
);

/**
 * States and write pointers of zones, and the rules of zoned NVMe namespaces. Knows neither time nor contents: a device
 * asks `admit` about each request as it is submitted, and carries out what is admitted.
 *
 * If a zone has to be opened and as many are open as may be, the implicitly opened zone that has been open longest is
 * closed.
 */
export class ZoneTable implements ZoneCapability {
  readonly zoneCount: number;
  readonly zoneBlocks: number;
  readonly zoneCapacityBlocks: number;
  readonly maxOpen: number;
  readonly maxActive: number;
  readonly maxAppendBlocks: number;
  private readonly states: Uint8Array;
  /** Blocks below the write pointer. */
  private readonly written: Float64Array;
  /** Number of zones in each state. */
  private readonly counts: Int32Array = new Int32Array(STATES);
  /** Implicitly opened zones in the order in which they were opened; −1 at the ends. */
  private readonly after: Int32Array;
  private readonly before: Int32Array;
  private oldest = -1;
  private newest = -1;

  /** @throws InputError `ERR_ZONES` for a shape or limits that are impossible, naming the option. */
  constructor(options: ZoneTableOptions) {
    const {
      zoneCount,
      zoneBlocks,
      zoneCapacityBlocks = zoneBlocks,
      maxOpen = 0,
      maxActive = 0,
      maxAppendBlocks = 0,
    } = options;
    checkZones({ zoneCount, zoneBlocks, zoneCapacityBlocks, maxOpen, maxActive, maxAppendBlocks });
    this.zoneCount = zoneCount;
    this.zoneBlocks = zoneBlocks;
    this.zoneCapacityBlocks = zoneCapacityBlocks;
    this.maxOpen = maxOpen;
    this.maxActive = maxActive;
    this.maxAppendBlocks = maxAppendBlocks;
    this.states = new Uint8Array(zoneCount);
    this.written = new Float64Array(zoneCount);
    this.after = new Int32Array(zoneCount).fill(-1);
    this.before = new Int32Array(zoneCount).fill(-1);
    this.counts[empty] = zoneCount;
  }

  /** Zones open at the moment, implicitly or explicitly. */
  get openZones(): number {
    return this.counts[implicitlyOpen] + this.counts[explicitlyOpen];
  }

  /** Zones open or closed at the moment. */
  get activeZones(): number {
    return this.openZones + this.counts[closed];
  }

  stateOf(zone: number): number {
    this.checkZone(zone);
    return this.states[zone];
  }

  writePointerOf(zone: number): number {
    this.checkZone(zone);
    return zone * this.zoneBlocks + this.written[zone];
  }

  /**
   * Applies the zone rules to a valid request: moves the write pointer, changes states, gives an append its `placed`.
   * Returns the `BlockStatus` of a request that is refused, and then nothing has changed; `ok` for one to carry out.
   * A zone that was filled is full at once, though its writes may be in flight.
   */
  admit(request: BlockRequest): number {
    const { op, block, count } = request;
    switch (op) {
      case BlockOp.read:
        return this.counts[offline] === 0 ? BlockStatus.ok : this.read(block, count);
      case BlockOp.write:
      case BlockOp.writeZeroes: {
        const zone = Math.floor(block / this.zoneBlocks);
        return this.write(zone, block - zone * this.zoneBlocks, count);
      }
      case BlockOp.flush:
      case BlockOp.discard:
        return BlockStatus.ok;
      case ZoneOp.append: {
        const zone = Math.floor(block / this.zoneBlocks);
        const at = this.written[zone];
        const status = this.write(zone, at, count);
        if (status === BlockStatus.ok) request.placed = block + at;
        return status;
      }
      default: {
        const zone = Math.floor(block / this.zoneBlocks);
        return count === this.zoneBlocks ? this.command(op, zone) : this.commandSeveral(op, zone, count);
      }
    }
  }

  /**
   * For the device itself: puts a zone into a state with so many blocks written (a full zone counts as written to its
   * capacity), after a failure or a power cut. Only commands and writes open zones.
   * @throws RangeError if the state does not fit the blocks, is open, or makes more zones active than may be.
   */
  set(zone: number, state: number, writtenBlocks: number): void {
    this.checkZone(zone);
    const most = state === empty ? 0 : state === closed ? this.zoneCapacityBlocks - 1 : this.zoneCapacityBlocks;
    const possible = state === empty || state === closed || state === full || state === readOnly || state === offline;
    if (!possible || !Number.isSafeInteger(writtenBlocks) || writtenBlocks < 0 || writtenBlocks > most) {
      throw new RangeError(`zone ${zone} cannot be ${zoneStateName(state)} with ${writtenBlocks} blocks written`);
    }
    if (state === closed && this.states[zone] !== closed && !this.isOpen(zone) && !this.mayActivate()) {
      throw new RangeError(`zone ${zone} cannot be closed: ${this.activeZones} of ${this.maxActive} zones are active`);
    }
    this.enter(zone, state);
    this.written[zone] = state === full ? this.zoneCapacityBlocks : writtenBlocks;
  }

  /** Power has been lost and is back: open zones are closed, and zones that nothing was written to are empty. */
  powerCut(): void {
    for (let zone = 0; zone < this.zoneCount; zone++) {
      if (this.isOpen(zone) || this.states[zone] === closed)
        this.enter(zone, this.written[zone] === 0 ? empty : closed);
    }
  }

  private checkZone(zone: number): void {
    if (!Number.isSafeInteger(zone) || zone < 0 || zone >= this.zoneCount) {
      throw new RangeError(`zone ${zone} does not exist: there are ${this.zoneCount} zones, from 0`);
    }
  }

  private isOpen(zone: number): boolean {
    return this.states[zone] === implicitlyOpen || this.states[zone] === explicitlyOpen;
  }

  private mayActivate(): boolean {
    return this.maxActive === 0 || this.activeZones < this.maxActive;
  }

  private read(block: number, count: number): number {
    const last = Math.floor((block + count - 1) / this.zoneBlocks);
    for (let zone = Math.floor(block / this.zoneBlocks); zone <= last; zone++) {
      if (this.states[zone] === offline) return BlockStatus.zoneOffline;
    }
    return BlockStatus.ok;
  }

  private write(zone: number, at: number, count: number): number {
    const state = this.states[zone];
    if (state === full) return BlockStatus.zoneFull;
    if (state === readOnly) return BlockStatus.zoneReadOnly;
    if (state === offline) return BlockStatus.zoneOffline;
    if (at !== this.written[zone]) return BlockStatus.zoneInvalidWrite;
    if (at + count > this.zoneCapacityBlocks) return BlockStatus.zoneBoundary;
    if (state === empty || state === closed) {
      const refused = this.refusesToOpen(state, 1);
      if (refused !== BlockStatus.ok) return refused;
      this.enter(zone, implicitlyOpen);
      this.closeSurplus();
    }
    this.written[zone] = at + count;
    if (at + count === this.zoneCapacityBlocks) this.enter(zone, full);
    return BlockStatus.ok;
  }

  private command(op: number, zone: number): number {
    const state = this.states[zone];
    const next = NEXT[(op - ZoneOp.open) * STATES + state];
    if (next === NO) return BlockStatus.zoneInvalidTransition;
    if (op === ZoneOp.open && (state === empty || state === closed)) {
      const refused = this.refusesToOpen(state, 1);
      if (refused !== BlockStatus.ok) return refused;
    }
    this.change(zone, next);
    this.closeSurplus();
    return BlockStatus.ok;
  }

  private commandSeveral(op: number, first: number, blocks: number): number {
    const end = first + blocks / this.zoneBlocks;
    const changed = CHANGED_OF_SEVERAL[op - ZoneOp.open];
    if (op === ZoneOp.open) {
      let opening = 0;
      for (let zone = first; zone < end; zone++) if (this.states[zone] === closed) opening++;
      const refused = this.refusesToOpen(closed, opening);
      if (refused !== BlockStatus.ok) return refused;
    }
    for (let zone = first; zone < end; zone++) {
      const state = this.states[zone];
      if (((changed >> state) & 1) === 1) this.change(zone, NEXT[(op - ZoneOp.open) * STATES + state]);
    }
    // Only now, so that a zone closed to make room is not opened by the same command.
    this.closeSurplus();
    return BlockStatus.ok;
  }

  /** Why so many zones of one state, empty or closed, cannot be opened; `ok` if they can. */
  private refusesToOpen(state: number, zones: number): number {
    if (state === empty && !this.mayActivate()) return BlockStatus.tooManyActiveZones;
    // The others that are open can be closed.
    const tooMany = this.maxOpen > 0 && zones > 0 && this.counts[explicitlyOpen] + zones > this.maxOpen;
    return tooMany ? BlockStatus.tooManyOpenZones : BlockStatus.ok;
  }

  private closeSurplus(): void {
    while (this.maxOpen > 0 && this.openZones > this.maxOpen) this.enter(this.oldest, closed);
  }

  private change(zone: number, state: number): void {
    this.enter(zone, state);
    if (state === empty) this.written[zone] = 0;
    else if (state === full) this.written[zone] = this.zoneCapacityBlocks;
  }

  private enter(zone: number, state: number): void {
    const from = this.states[zone];
    if (from === state) return;
    if (from === implicitlyOpen) this.unlink(zone);
    else if (state === implicitlyOpen) this.linkNewest(zone);
    this.counts[from]--;
    this.counts[state]++;
    this.states[zone] = state;
  }

  private linkNewest(zone: number): void {
    this.before[zone] = this.newest;
    this.after[zone] = -1;
    if (this.newest < 0) this.oldest = zone;
    else this.after[this.newest] = zone;
    this.newest = zone;
  }

  private unlink(zone: number): void {
    const before = this.before[zone];
    const after = this.after[zone];
    if (before < 0) this.oldest = after;
    else this.after[before] = after;
    if (after < 0) this.newest = before;
    else this.before[after] = before;
  }
}

function checkZones(options: Required<ZoneTableOptions>): void {
  const { zoneCount, zoneBlocks, zoneCapacityBlocks, maxOpen, maxActive, maxAppendBlocks } = options;
  const wrong = (key: string, found: number, expected: string): InputError =>
    new InputError('ERR_ZONES', `${key} is ${found}, expected ${expected}.`, key);
  for (const [key, value] of Object.entries({ zoneCount, zoneBlocks, zoneCapacityBlocks })) {
    if (!Number.isSafeInteger(value) || value < 1) throw wrong(key, value, 'an integer ≥ 1');
  }
  for (const [key, value] of Object.entries({ maxOpen, maxActive, maxAppendBlocks })) {
    if (!Number.isSafeInteger(value) || value < 0) throw wrong(key, value, 'an integer ≥ 0, where 0 is any number');
  }
  if (maxAppendBlocks > zoneCapacityBlocks) {
    throw wrong('maxAppendBlocks', maxAppendBlocks, `at most zoneCapacityBlocks, ${zoneCapacityBlocks}, or 0 for that`);
  }
  if (zoneCount > 2 ** 31 - 1) throw wrong('zoneCount', zoneCount, 'less than 2³¹ zones');
  if (!Number.isSafeInteger(zoneCount * zoneBlocks)) {
    throw wrong('zoneBlocks', zoneBlocks, `a size with which ${zoneCount} zones have less than 2⁵³ blocks`);
  }
  if (zoneCapacityBlocks > zoneBlocks) {
    throw wrong('zoneCapacityBlocks', zoneCapacityBlocks, `at most zoneBlocks, ${zoneBlocks}`);
  }
  if (maxActive > 0 && maxOpen > maxActive) {
    throw wrong('maxOpen', maxOpen, `at most maxActive, ${maxActive}, because an open zone is active`);
  }
}

import type { CrashDevice } from './crash-device.js';
import type { AppliedModel } from './crash-model.js';
import { NO_ROW, PossibleBlocks } from './possible-blocks.js';
import { blockIdentity } from './version-pool.js';

/** Of a torn block: what it holds apart from what is in flight. */
const WHOLE = -1;

/** An open unit, for people. */
export interface OpenUnit {
  readonly block: number;
  /** Sector of the block, −1: all of it. */
  readonly sector: number;
  /** Request that wrote each alternative, −1: it was there before. */
  readonly rows: readonly number[];
}

/**
 * What a cut leaves open: units (a block, or a sector of a torn one) with two alternatives or more, of which the first needs
 * nothing of what is open to be kept. One of each is chosen at any time, and the identity of the image that they make follows.
 */
export class OpenUnits {
  /** Number of units. */
  count = 0;
  /** Halves of the identity of the chosen image. */
  low = 0;
  high = 0;
  /** Per unit: how many alternatives, which is chosen. */
  readonly counts: number[] = [];
  readonly chosen: number[] = [];
  /** Per unit: the alternative that was submitted last, and the request that wrote it. */
  readonly lasts: number[] = [];
  readonly rows: number[] = [];
  private readonly places: number[] = [];
  private readonly sectors: number[] = [];
  private readonly firsts: number[] = [];
  // Per alternative of a unit.
  private alternatives = 0;
  private readonly entries: number[] = [];
  private readonly lows: number[] = [];
  private readonly highs: number[] = [];
  // Per block of `possible`.
  private readonly unitOfPlace: number[] = [];
  private readonly tornOfPlace: boolean[] = [];
  private readonly placeLow: number[] = [];
  private readonly placeHigh: number[] = [];
  /** Per sector of a torn block: its unit, −1: it is as the rest. */
  private unitOfSector: Int32Array = new Int32Array(0);
  private readonly mix: Int32Array;
  private readonly device: CrashDevice;
  private readonly possible: PossibleBlocks;

  constructor(device: CrashDevice) {
    this.device = device;
    this.possible = new PossibleBlocks(device);
    this.mix = new Int32Array(device.pool.sectors);
  }

  /** Looks at the record of the device anew. */
  prepare(model: AppliedModel): void {
    this.possible.prepare(model);
  }

  /** Finds out what is open at a cut, in the case that the model is set to. The first alternative of each unit is chosen. */
  find(cut: number, model: AppliedModel): void {
    const { possible } = this;
    possible.find(cut, model);
    this.count = 0;
    this.alternatives = 0;
    this.low = 0;
    this.high = 0;
    const sectors = possible.count * this.mix.length;
    if (model.tears && this.unitOfSector.length < sectors) this.unitOfSector = new Int32Array(2 * sectors);
    for (let place = 0; place < possible.count; place++) this.addPlace(place);
  }

  /** Chooses an alternative of a unit. */
  choose(unit: number, alternative: number): void {
    const before = this.chosen[unit];
    if (before === alternative) return;
    this.chosen[unit] = alternative;
    const place = this.places[unit];
    if (this.tornOfPlace[place]) {
      this.low ^= this.placeLow[place];
      this.high ^= this.placeHigh[place];
      this.sumTorn(place);
      return;
    }
    const first = this.firsts[unit];
    this.low ^= this.lows[first + before] ^ this.lows[first + alternative];
    this.high ^= this.highs[first + before] ^ this.highs[first + alternative];
  }

  /** Position at which the chosen image becomes impossible. */
  impossibleAt(cut: number): number {
    const { possible } = this;
    let until = possible.until;
    for (let place = 0; place < possible.count; place++) {
      if (this.tornOfPlace[place] && this.isMixed(place)) return cut + 1;
      until = Math.min(until, possible.untils[this.entryOf(place)]);
    }
    return until;
  }

  /** Gives a device that has just begun the blocks of the chosen image. */
  open(into: CrashDevice): void {
    const { possible, mix } = this;
    for (let place = 0; place < possible.count; place++) {
      let version = possible.versions[this.entryOf(place)];
      if (this.tornOfPlace[place] && this.isMixed(place)) {
        this.mixOf(place);
        version = into.pool.addMixed(mix, 0);
      }
      into.start(possible.blocks[place], version);
    }
  }

  /** A unit, for people. */
  describe(unit: number): OpenUnit {
    const { possible } = this;
    const rows = Array.from({ length: this.counts[unit] }, (_, at) => {
      const entry = this.entries[this.firsts[unit] + at];
      return entry === WHOLE ? NO_ROW : possible.rows[entry];
    });
    return { block: possible.blocks[this.places[unit]], sector: this.sectors[unit], rows };
  }

  /** A block with one alternative is certain; more make a unit. */
  private addPlace(place: number): void {
    const { possible } = this;
    const head = possible.heads[place];
    this.unitOfPlace[place] = -1;
    this.tornOfPlace[place] = false;
    const first = this.alternatives;
    let last = 0;
    let row = NO_ROW;
    for (let entry = head; entry >= 0; entry = possible.next[entry]) {
      if (possible.torn[entry] === 1) {
        this.tornOfPlace[place] = true;
        continue;
      }
      last = this.addAlternative(first, entry, place) - first;
      row = possible.rows[entry];
    }
    const count = this.alternatives - first;
    if (count > 1) this.unitOfPlace[place] = this.addUnit(place, WHOLE, first, count, last, row);
    if (this.tornOfPlace[place]) {
      this.addSectors(place, count);
      this.sumTorn(place);
    } else {
      this.low ^= this.lows[first];
      this.high ^= this.highs[first];
    }
  }

  /** The alternative of these contents, a new one if there is none yet. */
  private addAlternative(first: number, entry: number, place: number): number {
    const { device, possible } = this;
    const version = possible.versions[entry];
    for (let at = first; at < this.alternatives; at++) {
      const known = this.entries[at];
      if (!device.pool.same(possible.versions[known], version)) continue;
      possible.untils[known] = Math.max(possible.untils[known], possible.untils[entry]);
      return at;
    }
    const index = this.alternatives++;
    this.entries[index] = entry;
    this.lows[index] = device.difference(possible.blocks[place], version, 0);
    this.highs[index] = device.difference(possible.blocks[place], version, 1);
    return index;
  }

  private addSectors(place: number, wholes: number): void {
    const { device, possible } = this;
    const head = possible.versions[possible.heads[place]];
    for (let sector = 0; sector < this.mix.length; sector++) {
      const first = this.alternatives;
      let row = NO_ROW;
      let last = 0;
      this.entries[this.alternatives++] = WHOLE;
      for (let entry = possible.heads[place]; entry >= 0; entry = possible.next[entry]) {
        if (possible.torn[entry] === 0) continue;
        const version = possible.versions[entry];
        last = 0;
        row = possible.rows[entry];
        if (wholes === 1 && device.pool.sameSector(head, version, sector)) continue;
        last = this.alternatives - first;
        this.entries[this.alternatives++] = entry;
      }
      const count = this.alternatives - first;
      const unit = count > 1 ? this.addUnit(place, sector, first, count, last, row) : -1;
      this.unitOfSector[place * this.mix.length + sector] = unit;
    }
  }

  private addUnit(place: number, sector: number, first: number, count: number, last: number, row: number): number {
    const unit = this.count++;
    this.places[unit] = place;
    this.sectors[unit] = sector;
    this.firsts[unit] = first;
    this.counts[unit] = count;
    this.chosen[unit] = 0;
    this.lasts[unit] = last;
    this.rows[unit] = row;
    return unit;
  }

  /** The chosen alternative of a block, apart from what is torn. */
  private entryOf(place: number): number {
    const unit = this.unitOfPlace[place];
    return unit < 0 ? this.possible.heads[place] : this.entries[this.firsts[unit] + this.chosen[unit]];
  }

  private isMixed(place: number): boolean {
    for (let sector = 0; sector < this.mix.length; sector++) {
      const unit = this.unitOfSector[place * this.mix.length + sector];
      if (unit >= 0 && this.chosen[unit] > 0) return true;
    }
    return false;
  }

  /** Versions of the sectors of a torn block. */
  private mixOf(place: number): void {
    const { possible } = this;
    const whole = possible.versions[this.entryOf(place)];
    for (let sector = 0; sector < this.mix.length; sector++) {
      const unit = this.unitOfSector[place * this.mix.length + sector];
      const entry = unit < 0 ? WHOLE : this.entries[this.firsts[unit] + this.chosen[unit]];
      this.mix[sector] = entry === WHOLE ? whole : possible.versions[entry];
    }
  }

  /** Adds a torn block to the identity. */
  private sumTorn(place: number): void {
    const { device, possible } = this;
    const block = possible.blocks[place];
    const before = device.base.versions[block];
    this.mixOf(place);
    const low = blockIdentity(block, device.pool.mixedHalf(this.mix, 0, 0), 0);
    const high = blockIdentity(block, device.pool.mixedHalf(this.mix, 0, 1), 1);
    this.placeLow[place] = low ^ blockIdentity(block, device.pool.half(before, 0), 0);
    this.placeHigh[place] = high ^ blockIdentity(block, device.pool.half(before, 1), 1);
    this.low ^= this.placeLow[place];
    this.high ^= this.placeHigh[place];
  }
}

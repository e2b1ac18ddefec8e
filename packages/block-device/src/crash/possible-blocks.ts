import { BlockOp } from '../contract.js';
import type { CrashDevice } from './crash-device.js';
import { PENDING } from './crash-log.js';
import { type AppliedModel, Fate } from './crash-model.js';
import { enlarged, UNREADABLE } from './version-pool.js';

/** Row of what was there before any recorded request. */
export const NO_ROW = -1;
/** Parts of a block that a shorn write may have, in eighths. */
const SHORN = [3, 7];

/** What each block that the record tells of may hold after a cut: lists of alternatives, in order of submission. */
export class PossibleBlocks {
  /** Blocks of which something is known. */
  count = 0;
  blocks: Int32Array = new Int32Array(64);
  /** First alternative of each block, which needs nothing of what is open to be kept. */
  heads: Int32Array = new Int32Array(64);
  private tails: Int32Array = new Int32Array(64);
  // Per alternative.
  private alternatives = 0;
  versions: Int32Array = new Int32Array(64);
  /** Request that wrote it. */
  rows: Int32Array = new Int32Array(64);
  /** Position at which it becomes impossible. */
  untils: Int32Array = new Int32Array(64);
  /** 1: of a write in flight, each sector of which is kept or lost by itself. */
  torn: Uint8Array = new Uint8Array(64);
  /** Next alternative of the same block, −1: none. */
  next: Int32Array = new Int32Array(64);
  /** Position from which on no image of this cut is possible, because of requests behind it. */
  until: number = PENDING;
  private readonly device: CrashDevice;
  private readonly placeOf: Int32Array;
  /** Per version of the record, and of the beginning per block: position at which it becomes impossible. */
  private versionUntil: Int32Array = new Int32Array(64);
  private readonly startUntil: Int32Array;
  private firstVersion = 0;
  private readonly mix: Int32Array;

  constructor(device: CrashDevice) {
    this.device = device;
    this.placeOf = new Int32Array(device.blockCount).fill(-1);
    this.startUntil = new Int32Array(device.blockCount);
    this.mix = new Int32Array(device.pool.sectors);
  }

  /** Looks at the record anew: finds out how long each version is possible. */
  prepare(model: AppliedModel): void {
    const { log, pool } = this.device;
    this.startUntil.fill(PENDING);
    this.firstVersion = log.length === 0 ? 0 : log.versions[0];
    const versions = pool.count - this.firstVersion;
    if (this.versionUntil.length < versions) this.versionUntil = new Int32Array(2 * versions);
    for (let row = log.length - 1; row >= 0; row--) {
      const discards = log.ops[row] === BlockOp.discard;
      const durable = discards ? PENDING : model.durableAt(row);
      for (let at = 0; at < log.counts[row]; at++) {
        const block = log.blocks[row] + at;
        const until = discards ? this.discardUntil(model, row, block) : this.startUntil[block];
        this.versionUntil[log.versions[row] + at - this.firstVersion] = until;
        this.startUntil[block] = Math.min(this.startUntil[block], durable);
      }
    }
  }

  /** Finds out what is possible at a cut, in the case that the model is set to. */
  find(cut: number, model: AppliedModel): void {
    for (let place = 0; place < this.count; place++) this.placeOf[this.blocks[place]] = -1;
    this.count = 0;
    this.alternatives = 0;
    this.until = PENDING;
    const { device } = this;
    const { log, startBlocks, startVersions } = device;
    for (let at = 0; at < device.startCount; at++) this.placeFor(startBlocks[at], startVersions[at]);
    for (let row = 0; row < log.length; row++) {
      const fate = log.issued[row] > cut ? Fate.absent : model.fate(row);
      if (fate !== Fate.absent) this.apply(row, fate, model, cut);
      else if (log.ops[row] !== BlockOp.discard && log.counts[row] > 0) {
        this.until = Math.min(this.until, model.durableAt(row));
      }
    }
  }

  private apply(row: number, fate: number, model: AppliedModel, cut: number): void {
    const { log, base } = this.device;
    const discards = log.ops[row] === BlockOp.discard;
    const flying = log.done[row] > cut;
    for (let at = 0; at < log.counts[row]; at++) {
      const block = log.blocks[row] + at;
      const version = log.versions[row] + at;
      const until = this.versionUntil[version - this.firstVersion];
      const place = this.placeFor(block, base.versions[block]);
      if (fate === Fate.present && !discards) {
        this.replace(place, row, version, until);
        continue;
      }
      if (model.breaks && flying && !discards) this.append(place, row, UNREADABLE, cut + 1, 0);
      if (model.shears && !discards) this.shear(place, row, version, cut);
      this.append(place, row, version, until, model.tears && flying && !discards ? 1 : 0);
    }
  }

  /** The block holds this version, or what a discard that is not ordered with it leaves. */
  private replace(place: number, row: number, version: number, until: number): void {
    const { log } = this.device;
    let old = this.heads[place];
    this.heads[place] = -1;
    this.append(place, row, version, until, 0);
    for (; old >= 0; old = this.next[old]) {
      const of = this.rows[old];
      if (of === NO_ROW || log.ops[of] !== BlockOp.discard || log.done[of] < log.issued[row]) continue;
      this.append(place, of, this.versions[old], this.untils[old], 0);
    }
  }

  /** A write may have stopped in the middle of the block: over what it began with, and over the write before. */
  private shear(place: number, row: number, version: number, cut: number): void {
    const { pool } = this.device;
    const head = this.versions[this.heads[place]];
    const last = this.versions[this.tails[place]];
    for (const old of last === head ? [head] : [head, last]) {
      for (const eighths of SHORN) {
        const kept = Math.floor((pool.sectors * eighths) / 8);
        for (let sector = 0; sector < pool.sectors; sector++) this.mix[sector] = sector < kept ? version : old;
        this.append(place, row, pool.addMixed(this.mix, 0), cut + 1, 0);
      }
    }
  }

  private placeFor(block: number, version: number): number {
    const known = this.placeOf[block];
    if (known >= 0) return known;
    const place = this.count++;
    if (place === this.blocks.length) {
      for (const name of ['blocks', 'heads', 'tails'] as const) {
        this[name] = enlarged(this[name], new Int32Array(place * 2));
      }
    }
    this.placeOf[block] = place;
    this.blocks[place] = block;
    this.heads[place] = -1;
    this.append(place, NO_ROW, version, this.startUntil[block], 0);
    return place;
  }

  private append(place: number, row: number, version: number, until: number, torn: number): void {
    const index = this.alternatives++;
    if (index === this.versions.length) this.grow();
    this.versions[index] = version;
    this.rows[index] = row;
    this.untils[index] = until;
    this.torn[index] = torn;
    this.next[index] = -1;
    if (this.heads[place] < 0) this.heads[place] = index;
    else this.next[this.tails[place]] = index;
    this.tails[place] = index;
  }

  private grow(): void {
    const size = this.versions.length * 2;
    for (const name of ['versions', 'rows', 'untils', 'next'] as const) {
      this[name] = enlarged(this[name], new Int32Array(size));
    }
    this.torn = enlarged(this.torn, new Uint8Array(size));
  }

  /** A discard may come late: only a durable write that was issued after its completion puts an end to it. */
  private discardUntil(model: AppliedModel, row: number, block: number): number {
    const { log } = this.device;
    let until: number = PENDING;
    for (let later = row + 1; later < log.length; later++) {
      if (log.ops[later] === BlockOp.discard || log.issued[later] < log.done[row]) continue;
      const at = block - log.blocks[later];
      if (at >= 0 && at < log.counts[later]) until = Math.min(until, model.durableAt(later));
    }
    return until;
  }
}

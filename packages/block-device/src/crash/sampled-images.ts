import type { RandomStream } from '@flashstack/sim';
import { BlockFlag } from '../contract.js';
import { Origin } from '../origin.js';
import type { CrashLog } from './crash-log.js';
import type { OpenUnits } from './open-units.js';

/** Units of which all pairs are tried. */
const PAIRED_UNITS = 64;
/** Units like a commit, and origins, of which all combinations are tried. */
const SPECIAL_UNITS = 4;
const SPECIAL_ORIGINS = 5;
/** How often a unit is kept in a random image. */
const KEPT = [0.1, 0.5, 0.9];

/** How many images are made of what a cut leaves open. */
export interface ImageLimits {
  /** All combinations up to so many. Default 4096, as of twelve units. */
  readonly combinations?: number;
  /** Random ones otherwise, besides those that are made systematically. Default 256. */
  readonly draws?: number;
  /** About so many of all of these, by chance. Default without limit. */
  readonly most?: number;
}

/**
 * Chooses one image after the other of units that are too many for all combinations: nothing, all, each missing, each alone,
 * prefixes, pairs of metadata, by origin, what is like a commit with all combinations of the rest by origin, random ones.
 */
export class SampledImages {
  private readonly units: OpenUnits;
  private readonly log: CrashLog;
  private readonly random: RandomStream;
  private readonly limits: Required<ImageLimits>;
  private share = 1;

  constructor(units: OpenUnits, log: CrashLog, random: RandomStream, limits: Required<ImageLimits>) {
    this.units = units;
    this.log = log;
    this.random = random;
    this.limits = limits;
  }

  *choose(): Generator<void, void, void> {
    const { units } = this;
    this.share = Math.min(1, this.limits.most / (8 * units.count + this.limits.draws));
    this.all(false);
    yield;
    this.all(true);
    yield;
    yield* this.single();
    yield* this.prefixes((a, b) => units.rows[a] - units.rows[b]);
    yield* this.prefixes((a, b) => this.log.done[units.rows[a]] - this.log.done[units.rows[b]]);
    yield* this.byOrigin();
    yield* this.likeCommits();
    yield* this.pairs();
    yield* this.randomly();
  }

  private all(kept: boolean): void {
    for (let unit = 0; unit < this.units.count; unit++) this.keep(unit, kept);
  }

  private keep(unit: number, kept: boolean): void {
    this.units.choose(unit, kept ? this.units.lasts[unit] : 0);
  }

  /** True for so many that the limit is about kept. */
  private take(): boolean {
    return this.share === 1 || this.random.nextFloat() < this.share;
  }

  /** Each alone and each missing, and whatever else it may be. */
  private *single(): Generator<void, void, void> {
    const { units } = this;
    for (const others of [false, true]) {
      for (let unit = 0; unit < units.count; unit++) {
        for (let alternative = 0; alternative < units.counts[unit]; alternative++) {
          if (alternative === (others ? units.lasts[unit] : 0) || !this.take()) continue;
          this.all(others);
          units.choose(unit, alternative);
          yield;
        }
      }
    }
  }

  private *prefixes(order: (a: number, b: number) => number): Generator<void, void, void> {
    const ordered = Array.from({ length: this.units.count }, (_, unit) => unit).sort((a, b) => order(a, b) || a - b);
    this.all(false);
    for (const unit of ordered) {
      this.keep(unit, true);
      if (this.take()) yield;
    }
  }

  /** Only what one origin wrote, and all but that. */
  private *byOrigin(): Generator<void, void, void> {
    const { units } = this;
    for (const origin of this.origins(0)) {
      for (const kept of [true, false]) {
        if (!this.take()) continue;
        for (let unit = 0; unit < units.count; unit++) this.keep(unit, (this.originOf(unit) === origin) === kept);
        yield;
      }
    }
  }

  /** The units that look like a commit, and the last two, in all combinations; the rest by origin in all combinations. */
  private *likeCommits(): Generator<void, void, void> {
    const { units } = this;
    const special = Array.from({ length: units.count }, (_, unit) => unit)
      .sort((a, b) => Number(this.isCommit(b)) - Number(this.isCommit(a)) || units.rows[b] - units.rows[a] || b - a)
      .filter((unit, at) => at < 2 || this.isCommit(unit))
      .slice(0, SPECIAL_UNITS);
    const origins = this.origins(0).slice(0, SPECIAL_ORIGINS);
    for (let rest = 0; rest < 1 << origins.length; rest++) {
      for (let mask = 0; mask < 1 << special.length; mask++) {
        if (!this.take()) continue;
        for (let unit = 0; unit < units.count; unit++) {
          const of = origins.indexOf(this.originOf(unit));
          this.keep(unit, of < 0 || (rest & (1 << of)) !== 0);
        }
        for (const [at, unit] of special.entries()) this.keep(unit, (mask & (1 << at)) !== 0);
        yield;
      }
    }
  }

  /** Two units of metadata alone, and two missing. */
  private *pairs(): Generator<void, void, void> {
    const { units } = this;
    const metadata: number[] = [];
    for (let unit = 0; unit < units.count; unit++) if (this.originOf(unit) !== Origin.fileData) metadata.push(unit);
    if (metadata.length > PAIRED_UNITS) return;
    for (const kept of [true, false]) {
      for (const [at, first] of metadata.entries()) {
        for (const second of metadata.slice(at + 1)) {
          if (!this.take()) continue;
          this.all(!kept);
          this.keep(first, kept);
          this.keep(second, kept);
          yield;
        }
      }
    }
  }

  private *randomly(): Generator<void, void, void> {
    const { units, random } = this;
    for (let image = 0; image < this.limits.draws; image++) {
      if (!this.take()) continue;
      const kept = KEPT[image % KEPT.length];
      for (let unit = 0; unit < units.count; unit++) {
        const any = random.nextFloat() < kept;
        const others = units.counts[unit] - 1;
        units.choose(unit, any ? 1 + (others === 1 ? 0 : random.below(others)) : 0);
      }
      yield;
    }
  }

  private originOf(unit: number): number {
    const row = this.units.rows[unit];
    return row < 0 ? Origin.unknown : this.log.origins[row];
  }

  private isCommit(unit: number): boolean {
    const row = this.units.rows[unit];
    return row >= 0 && ((this.log.flags[row] & BlockFlag.fua) !== 0 || this.log.origins[row] === Origin.superblock);
  }

  /** Origins of the units from this one on, each once. */
  private origins(from: number): number[] {
    const origins = new Set<number>();
    for (let unit = from; unit < this.units.count; unit++) origins.add(this.originOf(unit));
    return [...origins].sort((a, b) => a - b);
  }
}

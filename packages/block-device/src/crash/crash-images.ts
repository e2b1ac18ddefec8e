import { InputError, RandomSource, type RandomStream } from '@flashstack/sim';
import type { CrashDevice } from './crash-device.js';
import { PENDING } from './crash-log.js';
import { AppliedModel, type CrashModel } from './crash-model.js';
import { type OpenUnit, OpenUnits } from './open-units.js';
import { type ImageLimits, SampledImages } from './sampled-images.js';

/** How images are made. */
export interface CrashImagesOptions extends ImageLimits {
  /** Default `volatile`. */
  readonly model?: CrashModel;
  /** For images that are drawn. Default: a stream of seed 1. */
  readonly random?: RandomStream;
}

/** One image among those of a record, so that it can be made again from an equal record. */
export interface ImageChoice {
  /** Position of the power cut that it is made of. */
  readonly cut: number;
  /** Case of the model at that cut. */
  readonly case: number;
  /** Chosen alternative of each open unit. */
  readonly chosen: readonly number[];
}

/**
 * All that a power cut could leave of a device, one image after the other: call `begin` and then `next` until it is false.
 * Cuts are just before something becomes impossible, from the last to the first, so that the first time that an image comes
 * is at the last moment at which it is possible. The same image may come again: see `low` and `high`.
 */
export class CrashImages {
  /** Images so far, equal ones counted each time. */
  tried = 0;
  /** What is open at the present cut. */
  private readonly units: OpenUnits;
  private readonly device: CrashDevice;
  private readonly model: AppliedModel;
  private readonly limits: Required<ImageLimits>;
  private random: RandomStream;
  private cuts: number[] = [];
  private cutIndex = 0;
  private case = 0;
  private cases = 0;
  /** Null: all combinations. */
  private sample: Generator<void, void, void> | null = null;
  private fresh = false;
  /** Versions of the pool that belong to the record and what is open. */
  private mark = 0;

  /** @throws InputError `ERR_UNKNOWN_NAME`, `ERR_CRASH_MODEL`, `ERR_CRASH_LIMIT` */
  constructor(device: CrashDevice, options: CrashImagesOptions = {}) {
    const { combinations = 4096, draws = 256, most = Number.POSITIVE_INFINITY } = options;
    for (const [key, value, least] of [
      ['combinations', combinations, 1],
      ['draws', draws, 0],
      ['most', most, 1],
    ] as const) {
      if (value >= least && (Number.isSafeInteger(value) || value === Number.POSITIVE_INFINITY)) continue;
      throw new InputError('ERR_CRASH_LIMIT', `${key} is ${value}, expected an integer of at least ${least}.`, key);
    }
    this.device = device;
    this.limits = { combinations: Math.min(combinations, most), draws, most };
    this.model = new AppliedModel(options.model ?? 'volatile', device.log);
    this.units = new OpenUnits(device);
    this.random = options.random ?? new RandomSource(1).stream('crash images');
  }

  /** Halves of the identity of the present image. */
  get low(): number {
    return this.units.low;
  }

  get high(): number {
    return this.units.high;
  }

  /**
   * The record is as it is now: begins with the last cut. What was opened of earlier images is given up.
   * @param random for images that are drawn, from here on.
   */
  begin(random: RandomStream = this.random): void {
    this.random = random;
    this.look();
    this.tried = 0;
    this.cuts = this.model.cuts(this.device.position);
    this.cutIndex = this.cuts.length;
    this.case = 0;
    this.cases = 0;
    this.sample = null;
    this.fresh = false;
  }

  /** Goes on to the next image; false: there are no more. */
  next(): boolean {
    for (;;) {
      if (this.cases > 0 && (this.sample === null ? this.count() : this.sample.next().done !== true)) {
        this.tried++;
        return true;
      }
      if (!this.nextCase()) return false;
    }
  }

  /** Position of the power cut that the present image is made of. */
  get cut(): number {
    return this.cuts[this.cutIndex];
  }

  /** Last position at which power may have been cut for the present image: it is to be judged there. */
  get lastCut(): number {
    if (!this.model.independent) return this.cut;
    const until = this.units.impossibleAt(this.cut);
    return until === PENDING ? this.device.position : until - 1;
  }

  /** Number of units that are open at the present cut. */
  get openUnits(): number {
    return this.units.count;
  }

  /** An open unit, for people. */
  unit(index: number): OpenUnit {
    if (!(index >= 0 && index < this.units.count)) throw new RangeError(`${this.units.count} units, found ${index}`);
    return this.units.describe(index);
  }

  /** The alternative of a unit that was submitted last. */
  lastOf(index: number): number {
    return this.units.lasts[index];
  }

  /** What the present image is, to be chosen again. */
  get choice(): ImageChoice {
    return { cut: this.cut, case: this.case, chosen: this.units.chosen.slice(0, this.units.count) };
  }

  /** Makes an image the present one. @throws InputError `ERR_CRASH_CHOICE` if the record has no such image */
  choose(choice: ImageChoice): void {
    this.look();
    this.cuts = [choice.cut];
    this.cutIndex = 0;
    const cases = this.model.at(choice.cut);
    const { units } = this;
    if (choice.case < cases) {
      this.case = choice.case;
      this.find();
    }
    const fits = choice.case < cases && choice.chosen.length === units.count;
    if (!fits || choice.chosen.some((alternative, unit) => !(alternative >= 0 && alternative < units.counts[unit]))) {
      const message = `an image of ${choice.chosen.length} open units at ${choice.cut}: the record has ${units.count}.`;
      throw new InputError('ERR_CRASH_CHOICE', `${message} It is of another record.`, 'chosen');
    }
    for (const [unit, alternative] of choice.chosen.entries()) units.choose(unit, alternative);
  }

  /** Makes a successor of the device hold the present image, with an empty record. */
  open(into: CrashDevice): void {
    if (into.pool !== this.device.pool || into === this.device) throw new Error('expected a successor of the device');
    into.begin(this.mark);
    this.units.open(into);
    into.started();
  }

  private look(): void {
    this.device.seal();
    this.model.prepare();
    this.units.prepare(this.model);
  }

  private find(): void {
    this.device.seal();
    this.model.case(this.case);
    this.units.find(this.cuts[this.cutIndex], this.model);
    this.mark = this.device.pool.count;
  }

  private nextCase(): boolean {
    while (++this.case >= this.cases) {
      if (this.cutIndex === 0) return false;
      const before = this.cuts[this.cutIndex];
      this.cutIndex--;
      if (this.cuts[this.cutIndex] === before) continue;
      this.cases = this.model.at(this.cuts[this.cutIndex]);
      this.case = -1;
    }
    this.find();
    let combinations = 1;
    for (let unit = 0; unit < this.units.count && combinations <= this.limits.combinations; unit++) {
      combinations *= this.units.counts[unit];
    }
    const { units, random, limits, device } = this;
    this.sample =
      combinations <= limits.combinations ? null : new SampledImages(units, device.log, random, limits).choose();
    this.fresh = true;
    return true;
  }

  /** The next combination of alternatives, as a number counts up. */
  private count(): boolean {
    if (this.fresh) {
      this.fresh = false;
      return true;
    }
    const { units } = this;
    for (let unit = 0; unit < units.count; unit++) {
      if (units.chosen[unit] + 1 < units.counts[unit]) {
        units.choose(unit, units.chosen[unit] + 1);
        return true;
      }
      units.choose(unit, 0);
    }
    return false;
  }
}

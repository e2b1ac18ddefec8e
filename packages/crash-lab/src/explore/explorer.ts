import {
  CrashImages,
  type CrashImagesOptions,
  type CrashModel,
  IdentitySet,
  type ImageChoice,
  type ImageLimits,
} from '@flashstack/block-device/crash';
import { InputError, mix32, RandomSource, type RandomStream } from '@flashstack/sim';
import type { History } from '../judge/history.js';
import { Judge } from '../judge/judge.js';
import type { Violation } from '../judge/violation.js';
import type { CrashSubject } from '../subject.js';
import type { Workload } from '../workload/workload.js';
import type { CrashCase } from './crash-case.js';
import { BaseVolume, Machine } from './machine.js';
import { findUnusable, isTree, recover, rulesOn, treeOf } from './recovery.js';
import { CrashResult } from './result.js';
import { type RunSettings, runWorkload } from './run-workload.js';

/** How an explorer goes about it. */
export interface ExplorerOptions extends ImageLimits {
  /** Default 1. With the same seed the same images are drawn of a workload, whatever else is explored. */
  readonly seed?: number;
  /** Default `volatile`. */
  readonly model?: CrashModel;
  /** Requests overlap and complete in any order. Default false: each is done before the next. */
  readonly overlap?: boolean;
  /** One of so many workloads is followed by an unmount, which is cut too; 0: none. Default 8. */
  readonly unmounts?: number;
  /** Power cuts in a row: 2 for cuts during recovery, 3 for cuts during the recovery from those. Default 2. */
  readonly depth?: number;
  /** One of so many images is cut again during its recovery. Default 20. */
  readonly again?: number;
  /** Whether everything can be used (R1) is tried with one of so many recovered states. Default 8. */
  readonly uses?: number;
  /** A workload ends with the first violation of this rule, and others do not count. Default: all of all rules count. */
  readonly first?: string;
}

/** A volume and the images of its levels. */
interface Volume {
  readonly base: BaseVolume;
  readonly images: readonly CrashImages[];
}

/** Identities that a set for one workload may grow to before it is made anew. */
const SMALL = 5000;

/**
 * Runs workloads on a file system, cuts the power wherever it matters, recovers from everything that may be left, and judges
 * what is found. What it finds of a workload depends on nothing but that workload and the options, so that workloads can be
 * split among any number of explorers.
 */
export class Explorer {
  readonly result: CrashResult = new CrashResult();
  private readonly subject: CrashSubject;
  private readonly options: Required<Omit<ExplorerOptions, keyof ImageLimits>>;
  private readonly limits: CrashImagesOptions;
  private readonly volumes: Map<string, Volume> = new Map();
  // Of the present workload.
  private workload: Workload = { base: '', processes: [], seed: 0 };
  private settings: RunSettings = { overlap: false, unmount: false };
  private judge: Judge | null = null;
  private positions: Float64Array = new Float64Array(0);
  /** Images by level; recovered states with what is allowed for them. */
  private seen: IdentitySet = new IdentitySet();
  private nested: IdentitySet = new IdentitySet();
  private pairs: IdentitySet = new IdentitySet();
  /** What is wrong with pairs of which something is. */
  private readonly wrong: Map<string, Violation> = new Map();
  private readonly chosen: ImageChoice[] = [];
  private found: CrashCase | null = null;
  private stopped = false;

  /** @throws InputError `ERR_EXPLORER`, `ERR_CRASH_LIMIT`, `ERR_UNKNOWN_NAME` */
  constructor(subject: CrashSubject, options: ExplorerOptions = {}) {
    this.subject = subject;
    const {
      seed = 1,
      model = 'volatile',
      overlap = false,
      unmounts = 8,
      depth = 2,
      again = 20,
      uses = 8,
      first = '',
    } = options;
    for (const [key, value, least] of [
      ['seed', seed, 0],
      ['unmounts', unmounts, 0],
      ['depth', depth, 1],
      ['again', again, 1],
      ['uses', uses, 1],
    ] as const) {
      if (Number.isSafeInteger(value) && value >= least && (key !== 'depth' || value <= 3)) continue;
      const most = key === 'depth' ? ' and at most 3' : '';
      throw new InputError('ERR_EXPLORER', `${key} is ${value}, expected an integer of at least ${least}${most}.`, key);
    }
    this.options = { seed, model, overlap, unmounts, depth, again, uses, first };
    const { combinations, draws, most } = options;
    this.limits = {
      model,
      ...(combinations === undefined ? {} : { combinations }),
      ...(draws === undefined ? {} : { draws }),
      ...(most === undefined ? {} : { most }),
    };
  }

  /** Runs one workload and judges all images of it; the first case that it found, or null. @throws InputError `ERR_BASE_STATE` */
  explore(workload: Workload): CrashCase | null {
    const { options, result } = this;
    const volume = this.volumeOf(workload.base);
    const random = new RandomSource(options.seed).stream(JSON.stringify(workload));
    this.begin(workload, random);
    result.counts.workloads++;
    let history: History;
    try {
      history = runWorkload(this.subject, volume.base.device, workload, this.settings);
    } catch (error) {
      // Whatever a file system throws is what is looked for.
      const text = `the workload ends with ${(error as Error).name}: ${(error as Error).message}`;
      this.lose({ rule: 'R12', path: '', text });
      return this.found;
    }
    this.judge = new Judge(history, rulesOn(this.subject, options.model));
    this.positions = Float64Array.from(history.events.flatMap(({ begin, end }) => [begin, end])).sort();
    this.cutAll(volume, 0, -1, random);
    return this.found;
  }

  private begin(workload: Workload, random: RandomStream): void {
    const { overlap, unmounts } = this.options;
    this.workload = workload;
    this.settings = { overlap, unmount: unmounts > 0 && random.below(unmounts) === 0 };
    this.seen = emptied(this.seen);
    this.nested = emptied(this.nested);
    this.pairs = emptied(this.pairs);
    this.wrong.clear();
    this.chosen.length = 0;
    this.found = null;
    this.stopped = false;
  }

  private volumeOf(base: string): Volume {
    const known = this.volumes.get(base);
    if (known !== undefined) return known;
    const volume = new BaseVolume(this.subject, base, this.options.depth);
    const images = volume.levels.map((device) => new CrashImages(device, this.limits));
    const made = { base: volume, images };
    this.volumes.set(base, made);
    return made;
  }

  /** All power cuts of the record of a level. `cut`: where the history ended; −1: this is the level of the workload. */
  private cutAll(volume: Volume, level: number, cut: number, random: RandomStream): void {
    const { counts } = this.result;
    const images = volume.images[level];
    const { depth, again, seed } = this.options;
    for (images.begin(random); !this.stopped && images.next(); ) {
      counts.tried++;
      const { low, high } = images;
      const known = level === 0 ? !this.seen.add(low, high) : !this.nested.add(low ^ mix32(this.classOf(cut)), high);
      if (known) continue;
      this.result.images.add(low, high);
      this.chosen[level] = images.choice;
      this.chosen.length = level + 1;
      const at = level === 0 ? images.lastCut : cut;
      images.open(volume.base.levels[level + 1]);
      this.judgeImage(volume, level + 1, at);
      if (level + 1 >= depth || mix32(low ^ mix32(high ^ seed)) % again !== 0) continue;
      images.open(volume.base.levels[level + 1]);
      const machine = recover(this.subject, volume.base.levels[level + 1]);
      if (!(machine instanceof Machine)) continue;
      machine.host.cutPower();
      this.cutAll(volume, level + 1, at, random);
    }
  }

  /** Recovers the image of a level, whose history ended at a position, and judges it unless an equal one was judged. */
  private judgeImage(volume: Volume, level: number, cut: number): void {
    const { counts, states } = this.result;
    const device = volume.base.levels[level];
    counts.recovered++;
    if (level === 2) counts.second++;
    if (level === 3) counts.third++;
    const machine = recover(this.subject, device);
    if (!(machine instanceof Machine)) {
      this.lose(machine);
      return;
    }
    const [low, high] = [device.identity(0), device.identity(1)];
    const mixed = low ^ mix32(this.classOf(cut));
    states.add(low, high);
    if (!this.pairs.add(mixed, high)) {
      const violation = this.wrong.size === 0 ? undefined : this.wrong.get(`${mixed},${high}`);
      if (violation !== undefined) this.lose(violation);
      return;
    }
    const violation = this.findViolation(
      device,
      machine,
      cut,
      mix32(low ^ mix32(high ^ this.options.seed)) % this.options.uses === 0,
    );
    if (violation === null) return;
    this.wrong.set(`${mixed},${high}`, violation);
    this.lose(violation);
  }

  private findViolation(
    device: Volume['base']['device'],
    machine: Machine,
    cut: number,
    use: boolean,
  ): Violation | null {
    this.result.counts.judged++;
    const tree = treeOf(machine);
    if (!isTree(tree)) return tree;
    const violations = (this.judge as Judge).judge(cut, tree);
    if (use) violations.push(...findUnusable(this.subject, device, machine, tree));
    return violations[0] ?? null;
  }

  private lose(violation: Violation): void {
    const { subject, workload, settings, options } = this;
    if (options.first !== '' && violation.rule !== options.first) return;
    const found: CrashCase = {
      subject: subject.name,
      workload,
      model: options.model,
      ...settings,
      images: [...this.chosen],
      violation,
    };
    this.result.add(found);
    this.found ??= found;
    this.stopped = options.first !== '';
  }

  /** Number of beginnings and ends of operations up to a position: what is allowed depends on nothing else. */
  private classOf(cut: number): number {
    const { positions } = this;
    let low = 0;
    let high = positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (positions[middle] <= cut) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}

function emptied(set: IdentitySet): IdentitySet {
  if (set.size > SMALL) return new IdentitySet();
  set.clear();
  return set;
}

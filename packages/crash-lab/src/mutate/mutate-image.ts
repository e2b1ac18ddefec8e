import { InputError, RandomSource } from '@flashstack/sim';
import type { ImageMap } from '@flashstack/vfs';
import type { CrashSubject } from '../subject.js';
import { exercise, type MutantEnd, type MutantOutcome } from './exercise.js';
import { applyMutations, type Mutation, Mutator, sortOf } from './mutator.js';
import { type DeviceBudget, OverlayDevice } from './overlay-device.js';

const OUTCOMES: readonly MutantOutcome[] = [
  'unnoticed',
  'complaint',
  'error',
  'refused',
  'vague',
  'endless',
  'exception',
];
const FAILURES: ReadonlySet<MutantOutcome> = new Set<MutantOutcome>(['vague', 'endless', 'exception']);
/** Requests of a mutant, and how often it may move all of its image. */
const DEFAULT_REQUESTS = 100_000;
const DEFAULT_PASSES = 64;

/** How many images are damaged, and by what chance. */
export interface MutationOptions {
  /** Default 1. */
  readonly seed?: number;
  /** What one mutant may ask of its device. Default 100,000 requests and 64 times the bytes of the image. */
  readonly budget?: Partial<DeviceBudget>;
}

/** A damaged image that the file system did not deal with as it should. */
export interface FailedMutant {
  readonly number: number;
  readonly end: MutantEnd;
  /** What was changed: the one change that is enough, or all if no single one is. */
  readonly mutations: readonly string[];
}

/** What became of damaged images. */
export interface MutationReport {
  readonly mutants: number;
  readonly outcomes: Readonly<Record<MutantOutcome, number>>;
  /** Outcomes by sort of the structure that the first change is in; `image`: its end. */
  readonly byStructure: ReadonlyMap<string, Readonly<Record<MutantOutcome, number>>>;
  readonly failures: readonly FailedMutant[];
}

/** Damages one image by what its format says of it, and uses what is left. Mutants depend on seed and number alone. */
export class ImageMutation {
  private readonly subject: CrashSubject;
  private readonly device: OverlayDevice;
  private readonly map: ImageMap;
  private readonly mutator: Mutator;
  private readonly random: RandomSource;
  private readonly words: RegExp;

  /**
   * @param image a sound volume of the subject, whole blocks of 4 KiB.
   * @throws InputError `ERR_IMAGE_FORMAT` if the file system does not tell its format, FsError for an image of another one
   */
  constructor(subject: CrashSubject, image: Uint8Array, options: MutationOptions = {}) {
    const format = subject.scheme.image;
    if (format === undefined) {
      const message = `${subject.name} does not say what lies where in its images, expected a scheme with "image".`;
      throw new InputError('ERR_IMAGE_FORMAT', message, 'fs');
    }
    const { requests = DEFAULT_REQUESTS, bytes = DEFAULT_PASSES * image.length } = options.budget ?? {};
    this.subject = subject;
    this.device = new OverlayDevice(image, { requests, bytes });
    this.map = format.map(this.device);
    this.mutator = new Mutator(new OverlayDevice(image, { requests, bytes }), this.map);
    this.random = new RandomSource(options.seed ?? 1);
    const sorts = new Set(this.map.structures.map(({ name }) => sortOf(name)));
    this.words = new RegExp(`\\b(${[...sorts, 'block', 'device'].join('|')})`, 'i');
  }

  /** The changes of a mutant. */
  mutations(number: number): Mutation[] {
    return this.mutator.draw(this.random.stream(`mutant ${number}`));
  }

  /** Makes an image with these changes, and uses it. */
  run(mutations: readonly Mutation[]): MutantEnd {
    this.device.reset();
    applyMutations(this.device, this.map, mutations);
    return exercise(this.subject, this.device, this.words);
  }

  /** Runs mutants `first` … `first + count − 1`. */
  runMany(first: number, count: number): MutationReport {
    const outcomes = counts();
    const byStructure = new Map<string, Record<MutantOutcome, number>>();
    const failures: FailedMutant[] = [];
    for (let number = first; number < first + count; number++) {
      const mutations = this.mutations(number);
      const end = this.run(mutations);
      outcomes[end.outcome]++;
      const sort = mutations[0].structure;
      const row = byStructure.get(sort) ?? counts();
      byStructure.set(sort, row);
      row[end.outcome]++;
      if (FAILURES.has(end.outcome)) failures.push(this.minimised(number, mutations, end));
    }
    return { mutants: count, outcomes, byStructure, failures };
  }

  private minimised(number: number, mutations: readonly Mutation[], end: MutantEnd): FailedMutant {
    for (const mutation of mutations) {
      const alone = this.run([mutation]);
      if (alone.outcome === end.outcome) return { number, end: alone, mutations: [mutation.text] };
    }
    return { number, end, mutations: mutations.map(({ text }) => text) };
  }
}

function counts(): Record<MutantOutcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<MutantOutcome, number>;
}

import type { RandomStream } from '@flashstack/sim';
import type { ImageBytes, ImageField, ImageMap, ImageStructure } from '@flashstack/vfs';
import { decodeField, encodeField, mostOf, readField } from './field-value.js';
import type { OverlayDevice } from './overlay-device.js';

/** One change of an image, as a plain value. */
export interface Mutation {
  /** What is changed, from what into what. */
  readonly text: string;
  /** Sort of the structure, `image` for its end. */
  readonly structure: string;
  readonly writes: readonly { readonly at: number; readonly bytes: Uint8Array }[];
  /** Number of the structure whose checksums are made right afterwards, −1: none. */
  readonly sealed: number;
  /** Blocks of 4 KiB after which the image ends; absent: it stays as long as it is. */
  readonly blocks?: number;
}

/** Draws changes of one image by what its format says of it. */
export class Mutator {
  private readonly image: ImageBytes;
  private readonly map: ImageMap;
  /** Numbers of structures by sort. */
  private readonly sorts: (readonly number[])[];
  /** Values of fields that lead somewhere, by kind. */
  private readonly targets: Map<string, readonly number[]> = new Map();

  /** @param image sound, and the same as long as the mutator is in use. */
  constructor(image: ImageBytes, map: ImageMap) {
    this.image = image;
    this.map = map;
    const sorts = new Map<string, number[]>();
    const targets = new Map<string, Set<number>>([
      ['pointer', new Set()],
      ['inode', new Set()],
    ]);
    for (const [number, { name, fields }] of map.structures.entries()) {
      const sort = sortOf(name);
      sorts.set(sort, [...(sorts.get(sort) ?? []), number]);
      for (const field of fields) targets.get(field.kind)?.add(readField(image, field));
    }
    this.sorts = [...sorts.values()];
    for (const [kind, values] of targets) this.targets.set(kind, [...values]);
  }

  /** One to three changes. Checksums are right again after half of them. */
  draw(random: RandomStream): Mutation[] {
    const sealed = random.below(2) === 0;
    return Array.from({ length: 1 + random.below(3) }, () => this.one(random, sealed));
  }

  private one(random: RandomStream, sealed: boolean): Mutation {
    const kind = random.below(40);
    if (kind === 0) return this.truncation(random);
    if (kind < 5) return this.blocks(random, sealed, kind);
    const number = pick(random, pick(random, this.sorts));
    const structure = this.map.structures[number];
    const seal = sealed ? number : -1;
    if (kind < 12 || structure.fields.length === 0) return this.flip(random, structure, seal);
    return this.field(random, structure, seal);
  }

  private truncation(random: RandomStream): Mutation {
    const all = this.image.length / 4096;
    const blocks = 1 + random.below(all - 1);
    const text = `the image ends after ${blocks} of ${all} blocks of 4 KiB`;
    return { text, structure: 'image', writes: [], sealed: -1, blocks };
  }

  /** A block of one structure becomes zero, or that of another one, or both change places. */
  private blocks(random: RandomStream, sealed: boolean, kind: number): Mutation {
    const { blockBytes, structures } = this.map;
    const numbers = [pick(random, pick(random, this.sorts)), pick(random, pick(random, this.sorts))];
    const [here, there] = numbers.map((number) => Math.floor(structures[number].at / blockBytes));
    const seal = sealed ? numbers[0] : -1;
    const { name } = structures[numbers[0]];
    const structure = sortOf(name);
    const write = (block: number, bytes: Uint8Array) => ({ at: block * blockBytes, bytes });
    if (kind < 3) {
      const writes = [write(here, new Uint8Array(blockBytes))];
      return { text: `block ${here} (${name}) is zero`, structure, writes, sealed: seal };
    }
    const [one, other] = [here, there].map((block) => this.image.read(block * blockBytes, blockBytes));
    const what = `block ${here} (${name}) ${kind === 3 ? 'becomes a copy of' : 'changes places with'} block ${there}`;
    const writes = kind === 3 ? [write(here, other)] : [write(here, other), write(there, one)];
    return { text: `${what} (${structures[numbers[1]].name})`, structure, writes, sealed: seal };
  }

  private flip(random: RandomStream, { name, at, length }: ImageStructure, sealed: number): Mutation {
    const offset = random.below(length);
    const before = this.image.read(at + offset, 1)[0];
    const after = random.below(2) === 0 ? before ^ (1 << random.below(8)) : random.below(256);
    const text = `${name}, byte ${offset}: ${before} → ${after}`;
    const writes = [{ at: at + offset, bytes: Uint8Array.of(after) }];
    return { text: text + ending(sealed), structure: sortOf(name), writes, sealed };
  }

  private field(random: RandomStream, structure: ImageStructure, sealed: number): Mutation {
    const field = pick(random, structure.fields);
    const before = readField(this.image, field);
    const bytes = encodeField(field, this.value(random, field, before));
    const after = decodeField(bytes, field);
    const text = `${structure.name}, ${field.name}: ${before} → ${after}${ending(sealed)}`;
    return { text, structure: sortOf(structure.name), writes: [{ at: field.at, bytes }], sealed };
  }

  private value(random: RandomStream, field: ImageField, before: number): number {
    const { blockBytes } = this.map;
    const most = mostOf(field);
    const targets = this.targets.get(field.kind) ?? [];
    if (targets.length > 0 && random.below(2) === 0) return pick(random, targets);
    const values = [
      0,
      1,
      most,
      field.encoding === 'float' ? Number.NaN : most - 1,
      before + 1,
      Math.max(0, before - 1),
      field.encoding === 'float' ? -1 : (most + 1) / 2,
      Math.floor(field.at / blockBytes),
      Math.floor(this.image.length / blockBytes),
      random.below(2 ** 31),
      before * 2,
      blockBytes,
    ];
    return pick(random, values);
  }
}

/** Carries changes out on the image that they were drawn for, which is as it was then. */
export function applyMutations(device: OverlayDevice, map: ImageMap, mutations: readonly Mutation[]): void {
  for (const { writes } of mutations) for (const { at, bytes } of writes) device.write(at, bytes);
  for (const { sealed } of mutations) if (sealed >= 0) map.fixChecksums(device, map.structures[sealed]);
  for (const { blocks } of mutations) if (blocks !== undefined) device.truncate(blocks);
}

/** The sort of a structure: the first word of its name. */
export function sortOf(name: string): string {
  return name.split(' ', 1)[0];
}

function ending(sealed: number): string {
  return sealed < 0 ? '' : ', checksums right';
}

function pick<T>(random: RandomStream, values: readonly T[]): T {
  return values[random.below(values.length)];
}

import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, it } from 'vitest';
import { BaseImage, CrashDevice, CrashImages, type CrashImagesOptions, IdentitySet } from '../src/crash/index.js';
import { BlockFlag, BlockOp, MemoryDevice, Origin, type RequestFields, submitAndWait } from '../src/index.js';

const { fua, preflush } = BlockFlag;
const simulator = new Simulator();

function block(value: number): Uint8Array {
  return Uint8Array.from({ length: 4096 }, (_, at) => (at * 7 + value) & 0xff);
}

function device(...requests: Partial<RequestFields>[]): CrashDevice {
  const made = new CrashDevice(BaseImage.blank(1024));
  for (const fields of requests) submitAndWait(simulator, made, { op: BlockOp.write, count: 1, ...fields });
  return made;
}

const write = (at: number, value: number, flags = 0, origin: number = Origin.fileData): Partial<RequestFields> => {
  return { block: at, data: block(value), flags, origin };
};
const flush = { op: BlockOp.flush, count: 0 };

function counts(of: CrashDevice, options: CrashImagesOptions = {}): { tried: number; unique: number } {
  const images = new CrashImages(of, options);
  const unique = new IdentitySet();
  for (images.begin(); images.next(); ) unique.add(images.low, images.high);
  return { tried: images.tried, unique: unique.size };
}

function read(of: CrashDevice, at: number): Uint8Array {
  const data = new Uint8Array(4096);
  expect(submitAndWait(simulator, of, { op: BlockOp.read, block: at, count: 1, data })).toBe(0);
  return data;
}

describe('CrashDevice', () => {
  it('writes down the order of submissions, completions and marks', () => {
    const one = device(write(3, 1));
    expect(one.tick()).toBe(3);
    submitAndWait(simulator, one, { ...flush, op: BlockOp.flush });
    expect(one.at(0)).toMatchObject({ op: BlockOp.write, block: 3, origin: Origin.fileData, issued: 1, done: 2 });
    expect(one.at(1)).toMatchObject({ op: BlockOp.flush, issued: 4, done: 5 });
    expect(one.position).toBe(5);
    expect(() => one.at(2)).toThrow(RangeError);
  });

  it('stands on a copy of another device, begins anew, and freezes what it holds', () => {
    const memory = new MemoryDevice({ blockCount: 700 });
    submitAndWait(simulator, memory, { op: BlockOp.write, block: 300, count: 1, data: block(5) });
    submitAndWait(simulator, memory, { op: BlockOp.write, block: 301, count: 1, tags: Uint32Array.of(77) });
    const one = new CrashDevice(BaseImage.of(simulator, memory));
    expect(read(one, 300)).toEqual(block(5));
    expect([one.identity(0), one.identity(1)]).toEqual([0, 0]);
    submitAndWait(simulator, one, { op: BlockOp.write, block: 300, count: 1, data: block(6) });
    const changed = [one.identity(0), one.identity(1)];
    const frozen = new CrashDevice(one.freeze());
    one.reset();
    expect(read(one, 300)).toEqual(block(5));
    expect(one.length).toBe(0);
    submitAndWait(simulator, one, { op: BlockOp.write, block: 300, count: 1, data: block(6) });
    expect([one.identity(0), one.identity(1)]).toEqual(changed);
    expect(read(frozen, 300)).toEqual(block(6));
    const tags = new Uint32Array(1);
    submitAndWait(simulator, frozen, { op: BlockOp.read, block: 301, count: 1, tags });
    expect(tags[0]).toBe(77);
  });

  it('refuses writes while an image of it is in use', () => {
    const one = device(write(1, 1));
    const images = new CrashImages(one);
    images.begin();
    images.next();
    const after = one.successor();
    images.open(after);
    const late = { op: BlockOp.write, block: 1, count: 1 };
    expect(() => submitAndWait(simulator, one, late)).toThrow('an image of a power cut is in use');
    submitAndWait(simulator, after, late);
    one.reset();
    submitAndWait(simulator, one, late);
    expect(() => images.open(new CrashDevice(one.base))).toThrow('successor');
  });
});

describe('CrashImages', () => {
  it('makes all combinations of n blocks: 2^n, and one less before each flush', () => {
    for (const n of [0, 1, 2, 5, 12]) {
      const writes = Array.from({ length: n }, (_, at) => write(at, at + 1));
      expect(counts(device(...writes))).toEqual({ tried: 2 ** n, unique: 2 ** n });
      // Two rounds: all combinations of the first before its flush, all of the second after it; one is in both.
      const again = Array.from({ length: n }, (_, at) => write(at, at + 101));
      const both = counts(device(...writes, flush, ...again));
      expect(both).toEqual({ tried: 2 * 2 ** n, unique: 2 ** (n + 1) - 1 });
    }
  });

  it('takes k versions of a block for k + 1 possibilities, equal contents for one', () => {
    expect(counts(device(write(0, 1), write(0, 2), write(0, 3), write(1, 1))).unique).toBe(8);
    expect(counts(device(write(0, 1), write(0, 2), write(0, 1))).unique).toBe(3);
    expect(counts(device(write(0, 1), flush, write(0, 1))).unique).toBe(2);
  });

  it('a durable write leaves those before it open', () => {
    // Block 1 is certain after its FUA write, block 0 never; before it either may be there.
    expect(counts(device(write(0, 1), write(1, 1, fua))).unique).toBe(4);
    // With a flush in front of it, block 1 is only there together with block 0.
    expect(counts(device(write(0, 1), write(1, 1, fua | preflush)))).toEqual({ tried: 5, unique: 3 });
    const lying = counts(device(write(0, 1), write(1, 1, fua | preflush)), { model: 'lying(1)' });
    expect(lying.unique).toBe(4);
    expect(counts(device(write(0, 1), flush, write(1, 1, fua | preflush))).unique).toBe(3);
    expect(counts(device(write(0, 1), flush, write(1, 1, fua | preflush)), { model: 'lying(2)' }).unique).toBe(4);
  });

  it('a shorn write has its first three or seven sectors', () => {
    const images = new CrashImages(device(write(0, 1)), { model: 'shorn' });
    const after = device();
    expect(counts(device(write(0, 1)), { model: 'shorn' }).unique).toBe(4);
    expect(after.length).toBe(0);
    const one = device(write(0, 1));
    const shorn = new CrashImages(one, { model: 'shorn' });
    const next = one.successor();
    const kept: number[] = [];
    for (shorn.begin(); shorn.next(); ) {
      shorn.open(next);
      const data = read(next, 0);
      const full = block(1);
      const same = data.findIndex((byte, at) => byte !== full[at]);
      kept.push(same < 0 ? 4096 : same);
    }
    expect(kept.sort((a, b) => a - b)).toEqual([0, 1536, 3584, 4096]);
    expect(images.tried).toBe(0);
  });

  it('each sector of a write in flight is lost or kept by itself, and no sector that does not change', () => {
    const data = block(1).fill(0, 3 * 512);
    const torn = counts(device({ block: 0, data, flags: fua }), { model: 'torn' });
    // Three sectors differ from zeroes.
    expect(torn.unique).toBe(8);
  });

  it('an image is chosen again, and recovery is cut in turn', () => {
    const make = (): CrashDevice => device(write(0, 1), write(1, 1), flush, write(2, 1));
    const first = make();
    const images = new CrashImages(first);
    const after = first.successor();
    const second = new CrashImages(after);
    const third = after.successor();
    const seen = new Map<string, string>();
    for (images.begin(); images.next(); ) {
      images.open(after);
      submitAndWait(simulator, after, { op: BlockOp.write, block: 9, count: 1, data: block(9) });
      submitAndWait(simulator, after, { op: BlockOp.write, block: 0, count: 1, data: block(8), flags: fua });
      const before = [images.low, images.high].join();
      for (second.begin(); second.next(); ) {
        second.open(third);
        seen.set(JSON.stringify([images.choice, second.choice]), [third.identity(0), third.identity(1)].join());
      }
      expect([images.low, images.high].join()).toBe(before);
    }
    expect(seen.size).toBeGreaterThan(20);
    for (const [key, identity] of seen) {
      const again = make();
      const [choice, deeper] = JSON.parse(key);
      const chosen = new CrashImages(again);
      const next = again.successor();
      chosen.choose(choice);
      chosen.open(next);
      submitAndWait(simulator, next, { op: BlockOp.write, block: 9, count: 1, data: block(9) });
      submitAndWait(simulator, next, { op: BlockOp.write, block: 0, count: 1, data: block(8), flags: fua });
      const inner = new CrashImages(next);
      const last = next.successor();
      inner.choose(deeper);
      inner.open(last);
      expect([last.identity(0), last.identity(1)].join()).toBe(identity);
    }
    expect(() => images.choose({ cut: 5, case: 0, chosen: [0, 0, 0, 0, 0] })).toThrow('another record');
  });

  it('too many units: nothing, all, each alone and missing, prefixes, by origin, pairs, and random ones', () => {
    const n = 20;
    const writes = Array.from({ length: n }, (_, at) => write(at, at + 1, 0, at < 10 ? Origin.journal : Origin.node));
    const images = new CrashImages(device(...writes), { draws: 50 });
    const sets = new Set<string>();
    for (images.begin(); images.next(); ) sets.add(images.choice.chosen.join(''));
    const row = (kept: (at: number) => boolean): string =>
      Array.from({ length: n }, (_, at) => (kept(at) ? 1 : 0)).join('');
    for (let unit = 0; unit < n; unit++) {
      expect(sets).toContain(row((at) => at === unit));
      expect(sets).toContain(row((at) => at !== unit));
      expect(sets).toContain(row((at) => at <= unit));
      expect(sets).toContain(row((at) => at === unit || at === (unit + 7) % n));
      expect(sets).toContain(row((at) => at !== unit && at !== (unit + 7) % n));
    }
    for (const half of [row((at) => at < 10), row((at) => at >= 10), row(() => false), row(() => true)]) {
      expect(sets).toContain(half);
    }
    // Alone, missing, prefixes, pairs, origins, the last two with combinations of the rest, and 50 drawn ones.
    expect(images.tried).toBe(2 + 2 * n + 2 * n + 2 * ((n * (n - 1)) / 2) + 4 + 16 + 50);
  });

  it('keeps to about so many as it is told, the same ones for a seed', () => {
    const writes = Array.from({ length: 60 }, (_, at) => write(at, at + 1));
    const made = (seed: number): string => {
      const random = new RandomSource(seed).stream('images');
      const images = new CrashImages(device(...writes), { most: 40, random });
      const all: string[] = [];
      for (images.begin(); images.next(); ) all.push(images.choice.chosen.join(''));
      expect(all.length).toBeGreaterThan(15);
      expect(all.length).toBeLessThan(120);
      return all.join();
    };
    expect(made(1)).toBe(made(1));
    expect(made(1)).not.toBe(made(2));
  });

  it('refuses models and limits that make no sense', () => {
    const fails = (options: object, code: string): void => {
      expect(() => new CrashImages(device(), options as CrashImagesOptions)).toThrow(expect.objectContaining({ code }));
    };
    fails({ model: 'volatil' }, 'ERR_UNKNOWN_NAME');
    fails({ model: 'lying(0)' }, 'ERR_CRASH_MODEL');
    fails({ combinations: 0 }, 'ERR_CRASH_LIMIT');
    fails({ draws: 1.5 }, 'ERR_CRASH_LIMIT');
  });
});

describe('IdentitySet', () => {
  it('agrees with a set of texts', () => {
    const random = new RandomSource(3).stream('identities');
    const sets = [new IdentitySet(), new IdentitySet(5000)];
    const texts = [new Set<string>(), new Set<string>()];
    for (let step = 0; step < 6000; step++) {
      const which = random.below(2);
      const pair = [random.below(90) - 45, random.below(90) - 45] as const;
      expect(sets[which].has(...pair)).toBe(texts[which].has(pair.join()));
      expect(sets[which].add(...pair)).toBe(!texts[which].has(pair.join()));
      texts[which].add(pair.join());
    }
    expect(sets.map((set) => set.size)).toEqual(texts.map((set) => set.size));
    const backwards = new IdentitySet();
    for (const set of [...sets].reverse()) backwards.addAll(set);
    sets[0].addAll(sets[1]);
    expect(sets[0].toArray()).toEqual(backwards.toArray());
    const all = new Set([...texts[0], ...texts[1]]);
    expect(sets[0].size).toBe(all.size);
    const words = sets[0].toArray();
    expect(words.length).toBe(2 * all.size);
    for (let at = 0; at < words.length; at += 2) expect(all).toContain([words[at], words[at + 1]].join());
    sets[0].clear();
    expect(sets[0].size).toBe(0);
    expect(sets[0].has(0, 0)).toBe(false);
  });
});

import { BlockOp, BlockRequest, BlockStatus, type IoOwner, ZoneOp } from '@flashstack/block-device';
import type { SegmentView } from '@flashstack/ftl';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { bufferedDrive, plainDrive, protectedDrive, smallNand, wideDrive } from './small-drives.js';

const full = process.env.CI !== undefined;
const seeds = full ? 40 : 3;

function drive(base: SsdConfig, kind: 'segment' | 'disaggregate' | 'zoned'): SsdConfig {
  const geometry = { ...base.nand.geometry, blocksPerPlane: 26 };
  const segmentBytes = geometry.pageBytes * smallNand.geometry.pagesPerBlock * 8;
  const parameters = {
    segment: {},
    disaggregate: { superblockBytes: segmentBytes, metaBytes: 40 * 4096, overwrite: false },
    zoned: {
      placement: 'rotating',
      zoneUnits: 4,
      zoneBytes: segmentBytes / 2,
      zoneCapacity: segmentBytes / 2 - 5 * 4096,
    },
  }[kind];
  const meta = kind === 'disaggregate' ? 40 * 4096 : 0;
  return {
    ...base,
    name: `${base.name} ${kind}`,
    capacityBytes: 6 * segmentBytes + meta,
    nand: { ...base.nand, geometry },
    ftl: { mapping: { name: kind, parameters } },
  };
}

/** What a segment holds: tags by block since its last release, how many of them a flush covers, and the life before. */
interface Life {
  tags: number[];
  completed: number;
  flushed: number;
  releaseFlushed: boolean;
  before: readonly number[];
}

/** Appends to random segments, releases full ones, and knows what must be there after a power cut. */
class Appender implements IoOwner {
  failed = 0;
  private readonly ssd: Ssd;
  private readonly view: SegmentView;
  private readonly random: RandomStream;
  private readonly slotBlocks: number;
  private readonly lives: Life[];
  private readonly done: Map<BlockRequest, () => void> = new Map();
  private left = 0;
  private tag = 0;

  constructor(ssd: Ssd, random: RandomStream) {
    this.ssd = ssd;
    this.view = ssd.flash.ftl.segments as SegmentView;
    this.random = random;
    this.slotBlocks = ssd.config.nand.geometry.slotBytes / ssd.blockBytes;
    this.lives = Array.from({ length: this.view.count }, () => this.newLife([]));
  }

  start(requests: number, depth: number): void {
    this.left = requests;
    for (let i = 0; i < depth; i++) this.send();
  }

  ioDone(request: BlockRequest): void {
    const done = this.done.get(request);
    this.done.delete(request);
    if (request.status !== BlockStatus.ok) this.failed++;
    done?.();
    this.send();
  }

  private newLife(before: readonly number[]): Life {
    return { tags: [], completed: 0, flushed: 0, releaseFlushed: before.length === 0, before };
  }

  private submit(op: number, block: number, count: number, tags: Uint32Array | null, done: () => void): void {
    const request = new BlockRequest(this);
    Object.assign(request, { op, block, count, tags });
    this.done.set(request, done);
    this.ssd.submit(request);
  }

  private send(): void {
    if (this.left-- <= 0) return;
    const segment = this.random.below(this.view.count);
    const life = this.lives[segment];
    const capacity = this.view.capacityOf(segment) * this.slotBlocks;
    const start = (this.view.first + segment * this.view.stride) * this.slotBlocks;
    if (this.random.below(12) === 0) this.flush();
    else if (life.tags.length < capacity) {
      const count = Math.min((1 + this.random.below(9)) * this.slotBlocks, capacity - life.tags.length);
      const tags = Uint32Array.from({ length: count }, () => ++this.tag);
      const at = life.tags.length;
      life.tags.push(...tags);
      // Completions may come in any order: a flush covers what has completed without a gap.
      this.submit(BlockOp.write, start + at, count, tags, () => {
        life.completed = this.covered(life, at, count);
      });
    } else {
      this.lives[segment] = this.newLife(life.tags);
      const zoned = this.ssd.zones !== null;
      const count = zoned ? this.view.stride * this.slotBlocks : capacity;
      this.submit(zoned ? ZoneOp.reset : BlockOp.discard, start, count, null, () => {});
    }
  }

  private readonly gaps: Map<Life, Set<number>> = new Map();

  private covered(life: Life, at: number, count: number): number {
    const ends = this.gaps.get(life) ?? new Set<number>();
    this.gaps.set(life, ends);
    for (let block = at; block < at + count; block++) ends.add(block);
    let end = life.completed;
    while (ends.delete(end)) end++;
    return end;
  }

  private flush(): void {
    const covers = this.lives.map((life) => ({ life, completed: life.completed }));
    this.submit(BlockOp.flush, 0, 0, null, () => {
      for (const { life, completed } of covers) {
        life.flushed = Math.max(life.flushed, completed);
        if (completed > 0) life.releaseFlushed = true;
      }
    });
  }

  /** Reads everything; after a power cut each segment may end anywhere behind what was flushed. */
  verify(simulator: Simulator, cut: boolean): void {
    if (cut) this.done.clear();
    this.left = 0;
    for (const [segment, life] of this.lives.entries()) {
      const capacity = this.view.capacityOf(segment) * this.slotBlocks;
      const start = (this.view.first + segment * this.view.stride) * this.slotBlocks;
      const tags = new Uint32Array(capacity).fill(0xffff_ffff);
      this.submit(BlockOp.read, start, capacity, tags, () => {});
      while (this.done.size > 0) simulator.runUntil(simulator.now + 1_000_000);
      let length = tags.indexOf(0);
      if (length < 0) length = capacity;
      const found = [...tags.subarray(0, length)];
      const isRunOf = (all: readonly number[]): boolean => found.every((tag, i) => tag === all[i]);
      expect(tags.subarray(length).every((tag) => tag === 0)).toBe(true);
      if (!cut) expect(found).toEqual(life.tags);
      else if (life.releaseFlushed || !isRunOf(life.before) || length === 0) {
        expect(isRunOf(life.tags)).toBe(true);
        expect(length).toBeGreaterThanOrEqual(life.flushed);
      }
      if (!cut) continue;
      const next = this.newLife([]);
      Object.assign(next, { tags: found, completed: length, flushed: length });
      this.lives[segment] = next;
    }
    this.gaps.clear();
  }
}

for (const base of [plainDrive, bufferedDrive, wideDrive, protectedDrive]) {
  for (const kind of ['segment', 'disaggregate', 'zoned'] as const) {
    const config = drive(base, kind);
    test(`${config.name}: writes in flight stay in order, and flushed ones survive power cuts`, () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const simulator = new Simulator();
        const random = new RandomSource(seed);
        const ssd = new Ssd(simulator, config, { seed });
        const appender = new Appender(ssd, random.stream('appender'));
        const moments = random.stream('cuts');
        for (let cut = 0; cut < 3; cut++) {
          appender.start(300, 1 + moments.below(24));
          simulator.runUntil(simulator.now + 1 + moments.below(60_000_000));
          ssd.powerCut();
          ssd.powerOn();
          appender.verify(simulator, true);
          ssd.flash.ftl.inspect();
        }
        appender.start(400, 16);
        while (simulator.pendingEvents > 0) simulator.runUntil(simulator.now + 1_000_000_000);
        appender.verify(simulator, false);
        expect(appender.failed).toBe(0);
        ssd.assertDrained();
      }
    });
  }
}

describe('a drive with segments', () => {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, drive(plainDrive, 'segment'));
  const run = (op: number, block: number, count: number): number => {
    const request = new BlockRequest({ ioDone() {} });
    Object.assign(request, { op, block, count });
    ssd.submit(request);
    while (simulator.pendingEvents > 0) simulator.runUntil(simulator.now + 1_000_000);
    return request.status;
  };

  test('refuses writes elsewhere than at the pointer, of parts of slots, and beyond the end', () => {
    expect(run(BlockOp.write, 8, 8)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(BlockOp.write, 0, 4)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(BlockOp.write, 0, 16)).toBe(BlockStatus.ok);
    expect(run(BlockOp.write, 0, 8)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(BlockOp.writeZeroes, 16, 8)).toBe(BlockStatus.ok);
    expect(run(BlockOp.discard, 0, 8)).toBe(BlockStatus.ok);
    expect(run(BlockOp.write, 0, 8)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(BlockOp.discard, 0, 128 * 8)).toBe(BlockStatus.ok);
    expect(run(BlockOp.write, 0, 128 * 8)).toBe(BlockStatus.ok);
    expect(run(BlockOp.write, 0, 8)).toBe(BlockStatus.zoneFull);
    ssd.assertDrained();
  });

  test('is filled, but has no steady state', () => {
    expect(() => ssd.precondition('steady')).toThrow(/written in order only.*Use "fill"/);
    expect(ssd.precondition('fill')).toBe('written');
    expect(run(BlockOp.write, 0, 8)).toBe(BlockStatus.zoneFull);
    expect(ssd.flash.ftl.segments?.pointerOf(0)).toBe(128);
  });
});

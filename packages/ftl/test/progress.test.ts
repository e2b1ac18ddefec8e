import { TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type BlockTable, type FtlOptions, PageMapFtl, type VictimPolicy, victimKinds } from '../src/index.js';
import { bed, CountingClient, full, nandArray, type Shape, write } from './support.js';

/** Small devices in the structures of real ones: pages of one slot; multi-plane MLC with paired pages; TLC word lines. */
const devices: readonly { readonly name: string; readonly domain: 'unit' | 'die'; readonly shape: Shape }[] = [
  { name: 'plane by plane', domain: 'unit', shape: { channels: 2, planes: 2, blocksPerPlane: 24, pagesPerBlock: 32 } },
  {
    name: 'paired MLC pages',
    domain: 'die',
    shape: { ways: 2, planes: 2, blocksPerPlane: 24, pagesPerBlock: 32, pageBytes: 8192, cellBits: 2 },
  },
  {
    name: 'TLC word lines',
    domain: 'die',
    shape: {
      ...{ ways: 2, planes: 2, blocksPerPlane: 24, pagesPerBlock: 24 },
      ...{ pageBytes: 16384, cellBits: 3, programUnit: 'wordline' },
    },
  },
];

/** As many logical slots as the device may have with these options. */
function largest(shape: Shape, options: Omit<FtlOptions, 'logicalSlots'>): number {
  try {
    bed(shape, { ...options, logicalSlots: nandArray(shape).geometry.slots });
  } catch (error) {
    return Number(/at most (\d+) logical slots/.exec((error as Error).message)?.[1]);
  }
  throw new Error('a device without reserve');
}

/** Overwrites of a few slots on a drive full of data that stays: whoever collects old blocks gains nothing from them. */
function* hotSpot(slots: number, writes: number, seed: number): Generator<number> {
  for (let lpn = 0; lpn < slots; lpn++) yield lpn;
  const random = new RandomSource(seed).stream('writes');
  const hot = Math.max(1, Math.floor(slots * 0.02));
  for (let i = 0; i < writes; i++)
    yield random.below(50) === 0 ? random.below(slots) : (slots >> 1) + random.below(hot);
}

/** Runs on the timeline scheduler with up to 32 writes in flight. */
function onTimeline(shape: Shape, options: FtlOptions, writes: Iterable<number>): PageMapFtl {
  const simulator = new Simulator();
  const array = nandArray(shape);
  const client = new CountingClient();
  const scheduler = new TimelineScheduler(array, simulator);
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(1), options });
  let issued = 0;
  for (const lpn of writes) {
    ftl.write(lpn, 1, 0, 0, issued++ % 64);
    if (issued % 32 === 0) ftl.flush(64);
    while (issued - client.done > 32 && simulator.pendingEvents > 0) simulator.runUntil(simulator.now + 100_000);
  }
  return ftl;
}

describe.each(devices)('every victim policy makes progress: $name', ({ domain, shape }) => {
  const writes = full ? 8_000 : 3_000;
  for (const { name } of victimKinds) {
    test.each(['separate', 'mixed'] as const)(`${name}, placement %s`, (placement) => {
      const options = { domain, victim: name, placement } as const;
      const logicalSlots = largest(shape, options);
      const on = bed(shape, { ...options, logicalSlots });
      for (const lpn of hotSpot(logicalSlots, writes, 1)) write(on, lpn);
      on.ftl.inspect();
      expect(on.ftl.stats.host).toBe(logicalSlots + writes);
      const timed = onTimeline(shape, { ...options, logicalSlots }, hotSpot(logicalSlots, writes, 2));
      timed.inspect();
    });
  }
});

/** Chooses the closed block with the most valid slots: by itself it gains nothing as long as any block is full. */
class Fullest implements VictimPolicy {
  private blocks!: BlockTable;
  private readonly candidates: Set<number> = new Set();

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
  }

  closed(block: number): void {
    this.candidates.add(block);
  }

  invalidated(): void {}

  removed(block: number): void {
    this.candidates.delete(block);
  }

  choose(domain: number): number {
    const { valid } = this.blocks;
    const mine = [...this.candidates].filter((block) => this.blocks.domainOf(block) === domain);
    return mine.sort((a, b) => valid[b] - valid[a] || a - b)[0] ?? -1;
  }

  reset(): void {
    this.candidates.clear();
  }
}

describe('a policy that gains nothing', () => {
  const shape: Shape = { blocksPerPlane: 20, pagesPerBlock: 16 };

  test('is overruled after a round of blocks, and it is told how often', () => {
    const on = bed(shape, { logicalSlots: 200, victim: new Fullest() });
    for (const lpn of hotSpot(200, 2_000, 1)) write(on, lpn);
    on.ftl.inspect();
    const { overruled, runs, victimValidity } = on.ftl.stats;
    const fruitless = victimValidity[victimValidity.length - 1];
    expect(overruled).toBeGreaterThan(0);
    expect(fruitless).toBeGreaterThan(0);
    // Between two victims that gain something there are at most as many full ones as the domain has blocks.
    expect(fruitless).toBeLessThanOrEqual((runs[0] - fruitless + 1) * 20);
  });

  test('no good policy is overruled where there is room', () => {
    for (const victim of ['greedy', 'fifo', 'd-choices', 'cost-benefit']) {
      const on = bed(shape, { logicalSlots: 200, victim });
      const writes = new RandomSource(1).stream('writes');
      for (let i = 0; i < 4_000; i++) write(on, writes.below(200));
      expect(on.ftl.stats.runs[0]).toBeGreaterThan(100);
      expect(on.ftl.stats.overruled).toBe(0);
    }
  });

  test('is refused if it chooses a block that is not closed', () => {
    const policy = new Fullest();
    policy.choose = () => 19;
    const on = bed(shape, { logicalSlots: 200, victim: policy, freeOrder: 'fifo' });
    expect(() => {
      for (const lpn of hotSpot(200, 500, 1)) write(on, lpn);
    }).toThrow(/chose block 19, which is no closed block of domain 0/);
  });
});

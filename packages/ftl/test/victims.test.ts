import { RandomSource } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockState, BlockTable, diesInOrder, type VictimPolicy, victimKinds } from '../src/index.js';
import { bed, full, nandArray, write } from './support.js';

const BLOCKS = 12;
const SLOTS = 8;

/** Drives a policy and a plain list of candidates with the same random events, and compares every choice. */
function agree(
  name: string,
  parameters: Record<string, number | string>,
  best: (table: BlockTable, candidates: number[]) => number,
): void {
  const event = fc.record({ kind: fc.nat(9), pick: fc.nat(1000) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      const array = nandArray({ channels: 2, blocksPerPlane: BLOCKS, pagesPerBlock: SLOTS });
      const table = new BlockTable(array, 'unit', diesInOrder(array.geometry, 'CWDP'), true);
      const kind = victimKinds.find((other) => other.name === name);
      const policy = (kind as (typeof victimKinds)[number]).create({
        ...Object.fromEntries((kind?.parameters ?? []).map((parameter) => [parameter.name, parameter.default])),
        ...parameters,
      });
      policy.attach(table, new RandomSource(1).stream('victim'));
      const candidates: number[][] = [[], []];
      for (const { kind: what, pick } of events) {
        const domain = pick % 2;
        const mine = candidates[domain];
        table.clock += 1 + (pick % 3);
        if (what < 4 && table.freeCount[domain] > 0) {
          const block = table.open(domain, 'fifo', 0);
          table.valid[block] = pick % (SLOTS + 1);
          table.close(block);
          policy.closed(block);
          mine.push(block);
        } else if (what < 8 && mine.length > 0) {
          const block = mine[pick % mine.length];
          if (table.valid[block] === 0) continue;
          table.valid[block]--;
          table.lastInvalid[block] = table.clock;
          policy.invalidated(block);
        } else if (mine.length > 0) {
          const block = what === 8 ? policy.choose(domain) : mine[pick % mine.length];
          policy.removed(block);
          mine.splice(mine.indexOf(block), 1);
          table.eraseCount[block]++;
          table.state[block] = BlockState.free;
          table.release(block);
        }
        for (const d of [0, 1])
          expect(policy.choose(d)).toBe(candidates[d].length === 0 ? -1 : best(table, candidates[d]));
      }
    }),
    { numRuns: full ? 1000 : 60 },
  );
}

/** The candidate with the smallest key, ties by order of closing. */
function smallest(table: BlockTable, candidates: number[], key: (block: number) => number): number {
  return [...candidates].sort((a, b) => key(a) - key(b) || table.closedSeq[a] - table.closedSeq[b] || a - b)[0];
}

describe('policies choose what a plain search over all candidates would', () => {
  test('greedy', () => agree('greedy', {}, (table, all) => smallest(table, all, (b) => table.valid[b])));
  test('fifo', () => agree('fifo', {}, (table, all) => smallest(table, all, () => 0)));
  test('windowed greedy', () => {
    agree('windowed-greedy', { window: 0.25 }, (table, all) => {
      const oldest = [...all].sort((a, b) => table.closedSeq[a] - table.closedSeq[b]).slice(0, 3);
      return smallest(table, oldest, (b) => table.valid[b]);
    });
  });
  test('cost-benefit by age of invalidation', () => {
    agree('cost-benefit', {}, (table, all) =>
      smallest(table, all, (b) => {
        const u = table.valid[b] / SLOTS;
        return u === 0 ? -Infinity : -((table.clock - table.lastInvalid[b]) * (1 - u)) / (2 * u);
      }),
    );
  });
  for (const form of ['flash', 'lfs']) {
    test(`cost-benefit by age of closing, scan and buckets, ${form}`, () => {
      const best = (table: BlockTable, all: number[]): number =>
        smallest(table, all, (b) => {
          const u = table.valid[b] / SLOTS;
          const age = table.closings + 1 - table.closedSeq[b];
          if (u === 0) return -Infinity;
          return form === 'flash' ? -(age * (1 - u)) / (2 * u) : -(age * (1 - u)) / (1 + u);
        });
      agree('cost-benefit', { form, age: 'close' }, best);
      agree('cost-benefit-buckets', { form }, best);
    });
  }
  test('cost-age-times', () => {
    agree('cost-age-times', {}, (table, all) => {
      const most = Math.max(1, ...all.map((b) => table.eraseCount[b]));
      return smallest(table, all, (b) => {
        const u = table.valid[b] / SLOTS;
        const age = 1 + Math.floor(Math.log2(1 + table.clock - table.lastInvalid[b]));
        return u === 1 ? Number.MAX_VALUE : ((u / (1 - u)) * (1 + table.eraseCount[b] / most)) / age;
      });
    });
  });
});

test('random policies draw evenly, and d-choices prefers emptier blocks', () => {
  const array = nandArray({ blocksPerPlane: 10, pagesPerBlock: SLOTS });
  const counts = new Map<string, number[]>();
  for (const name of ['random', 'd-choices', 'random-threshold']) {
    const table = new BlockTable(array, 'unit', diesInOrder(array.geometry, 'CWDP'), false);
    const kind = victimKinds.find((other) => other.name === name) as (typeof victimKinds)[number];
    const policy = kind.create({ d: 2, invalidShare: 0.5 });
    policy.attach(table, new RandomSource(5).stream('victim'));
    for (let i = 0; i < 8; i++) {
      const block = table.open(0, 'fifo', 0);
      table.valid[block] = i;
      table.close(block);
      policy.closed(block);
    }
    const drawn = new Array<number>(8).fill(0);
    for (let i = 0; i < 8000; i++) drawn[policy.choose(0)]++;
    counts.set(name, drawn);
  }
  for (const count of counts.get('random') as number[]) expect(Math.abs(count - 1000)).toBeLessThan(120);
  const better = counts.get('d-choices') as number[];
  // The best of two drawn with replacement is block i with probability (2·(8 − i) − 1)/64.
  for (let i = 0; i < 8; i++) expect(Math.abs(better[i] - (8000 * (15 - 2 * i)) / 64)).toBeLessThan(150);
  const enough = counts.get('random-threshold') as number[];
  // Blocks that are too full are taken only if as many draws as there are candidates found none that is not.
  const tooFull = enough.slice(5).reduce((a, b) => a + b, 0);
  expect(tooFull).toBeLessThan(8000 * 2 * (3 / 8) ** 8);
  for (let i = 0; i <= 4; i++) expect(Math.abs(enough[i] - 1600)).toBeLessThan(150);
});

test('a policy of the user is used like any other, and its mistakes are named', () => {
  class Oldest implements VictimPolicy {
    private readonly candidates: number[] = [];
    attach(): void {}
    closed(block: number): void {
      this.candidates.push(block);
    }
    invalidated(): void {}
    removed(block: number): void {
      this.candidates.splice(this.candidates.indexOf(block), 1);
    }
    choose(): number {
      return this.pick(this.candidates);
    }
    protected pick(candidates: readonly number[]): number {
      return candidates[0] ?? -1;
    }
    reset(): void {
      this.candidates.length = 0;
    }
  }
  const on = bed({ blocksPerPlane: 20, pagesPerBlock: 16 }, { logicalSlots: 120, victim: new Oldest() });
  for (let i = 0; i < 2000; i++) write(on, (i * 37) % 120);
  on.ftl.inspect();
  expect(on.ftl.stats.runs[0]).toBeGreaterThan(50);
  class Broken extends Oldest {
    protected override pick(): number {
      return 3;
    }
  }
  const broken = bed({ blocksPerPlane: 20, pagesPerBlock: 16 }, { logicalSlots: 120, victim: new Broken() });
  expect(() => {
    for (let i = 0; i < 2000; i++) write(broken, (i * 37) % 120);
  }).toThrow(/chose block 3, which is no closed block/);
});

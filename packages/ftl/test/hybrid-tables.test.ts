import { RandomSource } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { diesInOrder, unitsInOrder } from '../src/allocation.js';
import { BlockTable, type DomainKind } from '../src/block-table.js';
import { HotWindow } from '../src/hybrid/hot-window.js';
import { HybridLayout } from '../src/hybrid/layout.js';
import { LogMap } from '../src/hybrid/log-map.js';
import { nandArray, type Shape } from './support.js';

describe('log map', () => {
  test.each([1, 100, 5000])('does what a map does, made for %i entries', (entries) => {
    const random = new RandomSource(entries).stream('keys');
    const map = new LogMap(entries);
    const shadow = new Map<number, number>();
    for (let i = 0; i < 60_000; i++) {
      // Runs of neighbours, as in logical blocks, and single keys.
      const key = random.below(2) === 0 ? random.below(600) : random.below(2_000_000_000);
      if (random.below(3) > 0) {
        map.set(key, i);
        shadow.set(key, i);
      } else {
        const victim = random.below(2) === 0 ? key : [...shadow.keys()][0];
        if (victim === undefined) continue;
        map.delete(victim);
        shadow.delete(victim);
      }
      if (i % 5000 === 0) for (const [known, value] of shadow) expect(map.get(known)).toBe(value);
    }
    expect(map.size).toBe(shadow.size);
    for (const [known, value] of shadow) expect(map.get(known)).toBe(value);
    for (let key = 0; key < 600; key++) expect(map.get(key)).toBe(shadow.get(key) ?? -1);
    map.clear();
    expect(map.get(1)).toBe(-1);
  });
});

test('the hot window holds the last writes of its domain, each as often as it was written', () => {
  const window = new HotWindow(2, 8);
  const random = new RandomSource(3).stream('writes');
  const last: number[] = [];
  for (let i = 0; i < 2000; i++) {
    const lpn = random.below(20);
    window.add(1, lpn);
    last.push(lpn);
    if (last.length > 8) last.shift();
    for (let other = 0; other < 20; other++) expect(window.has(other)).toBe(last.includes(other));
  }
});

const shapes: readonly (Shape & { readonly domain: DomainKind })[] = [
  { domain: 'unit', channels: 3, planes: 2, blocksPerPlane: 12, pagesPerBlock: 6 },
  { domain: 'unit', channels: 4, blocksPerPlane: 16, pagesPerBlock: 8, pageBytes: 16384 },
  { domain: 'die', ways: 2, planes: 4, blocksPerPlane: 12, pagesPerBlock: 6, cellBits: 3, programUnit: 'wordline' },
  { domain: 'superblock', channels: 2, planes: 2, blocksPerPlane: 12, pagesPerBlock: 10, pageBytes: 8192 },
];

describe.each(shapes)('layout of $domain blocks, $channels channels, $planes planes', ({ domain, ...shape }) => {
  const array = nandArray(shape);
  const { geometry } = array;
  const dies = diesInOrder(geometry, 'CWDP');
  const table = new BlockTable(array, domain, dies, false, true);
  const order = { unit: unitsInOrder(geometry, 'CWDP'), die: dies, superblock: Int32Array.of(0) }[domain];
  const planes = Math.min(table.members, geometry.planes);
  const unit = planes * geometry.programPages * geometry.slotsPerPage;
  const layout = new HybridLayout(table, geometry, unit, order, Math.floor(geometry.slots * 0.6) + 1);

  test('every slot has a place of its own in a logical block', () => {
    const seen = new Set<number>();
    for (let lpn = 0; lpn < layout.logicalSlots; lpn++) {
      layout.locate(lpn);
      expect(layout.offset).toBeLessThan(layout.slotsPerBlock);
      expect(layout.domainOf(layout.lbn)).toBe(layout.domain);
      expect(layout.lpnAt(layout.lbn, layout.offset)).toBe(lpn);
      seen.add(layout.keyOf(lpn));
    }
    expect(seen.size).toBe(layout.logicalSlots);
    expect(Math.max(...seen)).toBeLessThan(layout.logicalBlocks * layout.domains * layout.slotsPerBlock);
  });

  test('neighbours in program units go to all domains in turn', () => {
    for (let chunk = 0; chunk < 2 * layout.domains; chunk++) {
      layout.locate(chunk * unit);
      expect(layout.domain).toBe(order[chunk % layout.domains]);
    }
  });

  test('positions of a block are its physical slots, in ascending pages of each member', () => {
    for (const block of [0, table.blocks - 1]) {
      const seen = new Set<number>();
      const next = new Map<number, number>();
      for (let at = 0; at < layout.slotsPerBlock; at++) {
        const psn = layout.psnAt(block, at);
        const physical = geometry.blockOf(geometry.ppnOfPsn(psn));
        expect(table.blockOfPhysical[physical]).toBe(block);
        const page = geometry.pageOf(geometry.ppnOfPsn(psn));
        expect(page).toBeGreaterThanOrEqual((next.get(physical) ?? 0) - geometry.programPages);
        next.set(physical, page);
        seen.add(psn);
      }
      expect(seen.size).toBe(layout.slotsPerBlock);
    }
  });
});

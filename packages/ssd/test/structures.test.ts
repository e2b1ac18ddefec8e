import { RandomSource } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContentPool } from '../src/content-pool.js';
import { PHASES, PhaseProfile, phaseNames } from '../src/index.js';
import { RangeLocks } from '../src/range-locks.js';
import { RequestTable } from '../src/request-table.js';
import { EntryState, WriteBuffer } from '../src/write-buffer.js';

const full = process.env.CI !== undefined;
const numRuns = full ? 1000 : 100;

describe('phases by latency class', () => {
  test('the slowest share agrees with sorting all requests', () => {
    const latency = fc.oneof(
      fc.nat(40),
      fc.nat(1_000_000),
      fc.integer({ min: 2 ** 31 - 10, max: 2 ** 31 + 10 }),
      fc.nat(2 ** 40),
    );
    fc.assert(
      fc.property(
        fc.array(latency, { minLength: 1, maxLength: 300 }),
        fc.constantFrom(1, 0.5, 0.1, 0.001),
        (all, share) => {
          const profile = new PhaseProfile();
          // All of a request's time in one phase, chosen by its latency class so that a class holds one phase only.
          const rows = all.map((ns) => ({ ns, phase: Math.floor(Math.log2(ns + 1)) % PHASES }));
          for (const { ns, phase } of rows) {
            const phases = new Float64Array(PHASES + 3);
            phases[3 + phase] = ns;
            profile.record(ns, phases, 3);
          }
          expect(profile.count).toBe(all.length);
          rows.sort((a, b) => b.ns - a.ns);
          const wanted = all.length * share;
          let exact = 0;
          for (let i = 0; i < wanted; i++) exact += rows[i].ns * Math.min(1, wanted - i);
          const found = Object.values(profile.slowest(share)).reduce((sum, ns) => sum + ns, 0) * wanted;
          // Classes are 1/16 of an octave wide: only the one on the border is shared in proportion.
          expect(found).toBeLessThanOrEqual(exact + 1e-6 * exact);
          expect(found).toBeGreaterThanOrEqual(exact / (1 + 1 / 16) - 1e-6 * exact);
          if (share !== 1) return;
          for (const [phase, name] of phaseNames.entries()) {
            const sum = rows.reduce((total, row) => total + (row.phase === phase ? row.ns : 0), 0);
            expect(profile.slowest(1)[name]).toBeCloseTo(sum / all.length, 3);
          }
        },
      ),
      { numRuns },
    );
  });

  test('are zero when nothing was recorded, or after a reset', () => {
    const profile = new PhaseProfile();
    profile.record(5, new Float64Array(PHASES).fill(1), 0);
    profile.reset();
    expect(profile.count).toBe(0);
    expect(Object.values(profile.slowest(0.001))).toEqual(new Array(PHASES).fill(0));
  });
});

describe('the write buffer as a data structure', () => {
  test('agrees with a list of entries', () => {
    for (let seed = 1; seed <= numRuns / 4; seed++) {
      const random = new RandomSource(seed).stream('buffer');
      const capacity = 1 + random.below(200);
      const buffer = new WriteBuffer(capacity);
      let model: { entry: number; lpn: number; state: number; found: boolean }[] = [];
      for (let step = 0; step < 600; step++) {
        const lpn = random.below(60);
        const present = model.find((item) => item.found && item.lpn === lpn);
        expect(buffer.find(lpn)).toBe(present === undefined ? -1 : present.entry);
        const pick = model.length === 0 ? null : model[random.below(model.length)];
        const action = random.below(6);
        if (action < 3) {
          if (present !== undefined && present.state !== EntryState.issued) continue;
          const entry = buffer.insert(lpn, 1, 0, 0, 0);
          expect(entry === -1).toBe(model.length >= capacity);
          if (entry === -1) continue;
          if (present !== undefined) {
            buffer.forget(present.entry);
            present.found = false;
          }
          model.push({ entry, lpn, state: EntryState.dirty, found: true });
        } else if (pick !== null && action === 3 && pick.state === EntryState.dirty) {
          if (random.below(2) === 0) {
            buffer.startFill(pick.entry);
            pick.state = EntryState.filling;
          } else {
            buffer.issue(pick.entry);
            pick.state = EntryState.issued;
          }
        } else if (pick !== null && action === 4 && pick.state === EntryState.filling) {
          if (random.below(2) === 0) {
            buffer.issue(pick.entry);
            pick.state = EntryState.issued;
          } else {
            buffer.doom(pick.entry);
            buffer.dropFilling(pick.entry);
            pick.state = EntryState.dropped;
            pick.found = false;
          }
        } else if (pick !== null && action === 5) {
          buffer.free(pick.entry);
          model = model.filter((item) => item !== pick);
        }
        const count = (state: number): number => model.filter((item) => item.state === state).length;
        expect(buffer.used).toBe(model.length);
        expect(buffer.dirty).toBe(count(EntryState.dirty));
        expect(buffer.filling).toBe(count(EntryState.filling));
        expect(buffer.issued).toBe(count(EntryState.issued));
        expect(buffer.head).toBe(model.find((item) => item.state === EntryState.dirty)?.entry ?? -1);
      }
    }
  });
});

describe('range locks', () => {
  test('hold back exactly what overlaps something earlier', () => {
    for (let seed = 1; seed <= numRuns / 2; seed++) {
      const random = new RandomSource(seed).stream('locks');
      const table = new RequestTable();
      const locks = new RangeLocks(table);
      let model: { h: number; from: number; to: number; held: boolean }[] = [];
      for (let step = 0; step < 200; step++) {
        if (model.length < 20 && random.below(2) === 0) {
          const h = table.acquire();
          // Mostly short, some over many regions; far apart addresses share a counter.
          table.lpn[h] = random.below(100) + 32 * 4096 * random.below(2);
          table.slots[h] = random.below(20) === 0 ? 5000 : 1 + random.below(8);
          const from = table.lpn[h];
          const to = from + table.slots[h];
          const held = model.some((other) => other.from < to && from < other.to);
          expect(locks.enter(h)).toBe(!held);
          model.push({ h, from, to, held });
        } else {
          const runnable = model.filter((item) => !item.held);
          if (runnable.length === 0) continue;
          const { h } = runnable[random.below(runnable.length)];
          locks.leave(h);
          table.release(h);
          model = model.filter((item) => item.h !== h);
          for (const [at, item] of model.entries()) {
            if (!item.held) continue;
            const blocked = model.slice(0, at).some((other) => other.from < item.to && item.from < other.to);
            if (blocked) continue;
            expect(locks.nextRunnable()).toBe(item.h);
            item.held = false;
          }
          expect(locks.nextRunnable()).toBe(-1);
        }
        expect(locks.held).toBe(model.filter((item) => item.held).length);
      }
    }
  });
});

test('range locks stay fast with many requests in flight, far apart, on one slot and over everything', () => {
  // A search of all requests in flight at every end would take minutes here.
  const table = new RequestTable();
  const locks = new RangeLocks(table);
  const waiting: number[] = [];
  const total = 60_000;
  for (let i = 0; i < total; i++) {
    const h = table.acquire();
    table.lpn[h] = i % 3 === 0 ? 7 : (i * 37) % 1_000_003;
    table.slots[h] = i % 20_000 === 19_999 ? 1_000_003 : 1;
    if (locks.enter(h)) waiting.push(h);
  }
  let done = 0;
  for (let at = 0; at < waiting.length; at++) {
    locks.leave(waiting[at]);
    table.release(waiting[at]);
    done++;
    for (let next = locks.nextRunnable(); next >= 0; next = locks.nextRunnable()) waiting.push(next);
  }
  expect(done).toBe(total);
  expect(locks.held).toBe(0);
});

describe('content records', () => {
  test('agree with plain arrays, mixed of tags and bytes, and none is lost or freed too early', () => {
    for (let seed = 1; seed <= numRuns / 4; seed++) {
      const random = new RandomSource(seed).stream('pool');
      const pool = new ContentPool(16, 4);
      const model = new Map<number, { bytes: Uint8Array; refs: number }>();
      for (let step = 0; step < 300; step++) {
        const ids = [...model.keys()];
        const id = ids.length === 0 ? 0 : ids[random.below(ids.length)];
        const action = random.below(6);
        if (id === 0 || action === 0) {
          model.set(pool.acquire(), { bytes: new Uint8Array(64), refs: 1 });
          continue;
        }
        const record = model.get(id) as { bytes: Uint8Array; refs: number };
        const block = random.below(4);
        if (action === 1) {
          const tag = random.nextU32();
          pool.setTag(id, block, tag);
          const view = new DataView(record.bytes.buffer);
          for (let at = 0; at < 16; at += 4) view.setUint32(block * 16 + at, tag, true);
        } else if (action === 2) {
          const source = Uint8Array.from({ length: 32 }, () => random.below(256));
          pool.setBytes(id, block, source, 7);
          record.bytes.set(source.subarray(7, 23), block * 16);
        } else if (action === 3) {
          const other = ids[random.below(ids.length)];
          const mask = random.below(16);
          pool.overlay(id, other, mask);
          const from = (model.get(other) as { bytes: Uint8Array }).bytes.slice();
          for (let b = 0; b < 4; b++) if (mask & (1 << b)) record.bytes.set(from.subarray(b * 16, b * 16 + 16), b * 16);
        } else if (action === 4) {
          pool.retain(id);
          record.refs++;
        } else {
          pool.release(id);
          if (--record.refs === 0) model.delete(id);
        }
        expect(pool.live).toBe(model.size);
        if (step % 20 !== 0) continue;
        for (const [each, { bytes }] of model) {
          const found = new Uint8Array(64);
          for (let b = 0; b < 4; b++) pool.copyBytes(each, b, found, b * 16);
          if (found.some((byte, at) => byte !== bytes[at])) throw new Error(`record ${each} differs in step ${step}`);
        }
      }
    }
  });
});

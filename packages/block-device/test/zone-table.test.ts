import { InputError } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ModelAnswer, ZoneModel, type ZoneShape } from '../src/conformance/zone-model.js';
import {
  BlockOp,
  BlockRequest,
  BlockStatus,
  blockStatusName,
  reportZone,
  ZonedMemoryDevice,
  ZoneOp,
  ZoneState,
  ZoneTable,
  zoneStateName,
} from '../src/index.js';

const owner = { ioDone() {} };
const shape: ZoneShape = { zoneCount: 4, zoneBlocks: 16, zoneCapacityBlocks: 12, maxOpen: 2, maxActive: 3 };

function ask(table: ZoneTable, op: number, block: number, count: number): ModelAnswer {
  const request = Object.assign(new BlockRequest(owner), { op, block, count });
  const status = table.admit(request);
  return { status, placed: request.placed };
}

/** Any shape that is possible, small enough for limits to bite. */
const shapes: fc.Arbitrary<ZoneShape> = fc
  .record({ zoneCount: fc.integer({ min: 1, max: 9 }), zoneBlocks: fc.integer({ min: 1, max: 12 }) })
  .chain(({ zoneCount, zoneBlocks }) =>
    fc.tuple(fc.integer({ min: 1, max: zoneBlocks }), fc.nat(5), fc.nat(5)).map(([zoneCapacityBlocks, a, b]) => {
      const maxActive = b === 0 ? 0 : Math.max(a, b);
      return { zoneCount, zoneBlocks, zoneCapacityBlocks, maxOpen: a, maxActive };
    }),
  );

/** One step: a number for the kind of request, one for the zone, one for blocks, one for zones. */
const steps = fc.array(fc.tuple(fc.nat(13), fc.nat(8), fc.nat(30), fc.nat(8)), { minLength: 1, maxLength: 120 });

/** Puts a zone of table and model where a failure would. */
function fail(table: ZoneTable, model: ZoneModel, zone: number, name: 'readOnly' | 'offline'): void {
  const start = zone * table.zoneBlocks;
  table.set(zone, ZoneState[name], table.writePointerOf(zone) - start);
  model.zones[zone].state = name;
}

function powerCut(table: ZoneTable, model: ZoneModel): void {
  table.powerCut();
  for (const zone of model.zones) {
    if (!['implicitlyOpen', 'explicitlyOpen', 'closed'].includes(zone.state)) continue;
    zone.state = zone.pointer === 0 ? 'empty' : 'closed';
  }
}

function step(table: ZoneTable, model: ZoneModel, [kind, z, blocks, several]: [number, number, number, number]): void {
  const { zoneCount, zoneBlocks, zoneCapacityBlocks } = table;
  const zone = z % zoneCount;
  const start = zone * zoneBlocks;
  let op: number = ZoneOp.append;
  let block = start;
  let count = 1 + (blocks % zoneCapacityBlocks);
  if (kind <= 1) {
    op = kind === 0 ? BlockOp.write : BlockOp.writeZeroes;
    // One in four anywhere in the zone, the others at the pointer; the pointer may be the start of the next zone.
    block = several % 4 === 0 ? start + (blocks % zoneBlocks) : Math.min(model.pointerOf(zone), start + zoneBlocks - 1);
    count = Math.min(count, zoneCount * zoneBlocks - block);
  } else if (kind === 2) {
    op = BlockOp.read;
    count = 1 + (blocks % (zoneCount * zoneBlocks - start));
  } else if (kind <= 8) {
    op = ZoneOp.open + Math.min(kind - 3, 4);
    count = (several < 6 ? 1 : 1 + (blocks % (zoneCount - zone))) * zoneBlocks;
  } else if (kind === 9 && several === 0) {
    fail(table, model, zone, blocks % 2 === 0 ? 'readOnly' : 'offline');
    return;
  } else if (kind === 9 && several === 1) {
    powerCut(table, model);
    return;
  }
  const words = Array.from({ length: count }, () => 1);
  const found = ask(table, op, block, count);
  const expected = model.run(op, block, count, words);
  // Spelt out, because an `expect` for each of a hundred thousand steps takes long.
  if (found.status !== expected.status || found.placed !== expected.placed) expect(found).toEqual(expected);
}

/** States, pointers, zones open and active, of the table. */
function described(table: ZoneTable): string {
  const zones = Array.from({ length: table.zoneCount }, (_, zone) => zone);
  const each = zones.map((zone) => `${zoneStateName(table.stateOf(zone))} ${table.writePointerOf(zone)}`);
  return `${each}; ${table.openZones} open, ${table.activeZones} active`;
}

/** The same of the model. */
function expected(model: ZoneModel): string {
  const each = model.zones.map((zone, at) => `${zone.state} ${model.pointerOf(at)}`);
  const open = model.zones.filter((zone) => zone.state.endsWith('Open')).length;
  const closed = model.zones.filter((zone) => zone.state === 'closed').length;
  return `${each}; ${open} open, ${open + closed} active`;
}

describe('zone table', () => {
  it('agrees with a plain model of the rules, for any shape', () => {
    fc.assert(
      fc.property(shapes, steps, (anyShape, sequence) => {
        const table = new ZoneTable(anyShape);
        const model = new ZoneModel(anyShape);
        for (const one of sequence) {
          step(table, model, one);
          if (described(table) !== expected(model)) expect(described(table)).toBe(expected(model));
          const { maxOpen, maxActive, openZones, activeZones } = table;
          if (maxOpen > 0 && openZones > maxOpen) expect.fail(`${openZones} of ${maxOpen} zones are open`);
          if (maxActive > 0 && activeZones > maxActive) expect.fail(`${activeZones} of ${maxActive} zones are active`);
        }
      }),
      { numRuns: 1500, seed: 17 },
    );
  });

  it('closes the implicitly opened zone that has been open longest, not the one written least recently', () => {
    const table = new ZoneTable({ ...shape, maxActive: 0 });
    ask(table, ZoneOp.append, 16, 1);
    ask(table, ZoneOp.append, 0, 1);
    ask(table, ZoneOp.append, 16, 1);
    expect(ask(table, ZoneOp.open, 32, 16).status).toBe(BlockStatus.ok);
    expect([0, 1, 2].map((zone) => zoneStateName(table.stateOf(zone)))).toEqual([
      'implicitlyOpen',
      'closed',
      'explicitlyOpen',
    ]);
  });

  it('opens several zones at the expense of others, but not those closed for it', () => {
    const table = new ZoneTable({ ...shape, maxActive: 0 });
    ask(table, ZoneOp.append, 0, 1);
    ask(table, ZoneOp.append, 32, 1);
    ask(table, ZoneOp.close, 0, 16);
    ask(table, ZoneOp.append, 48, 1);
    // Zone 0 is closed, 2 and 3 are open: opening all closed zones opens zone 0 and closes zone 2.
    expect(ask(table, ZoneOp.open, 0, 64).status).toBe(BlockStatus.ok);
    expect([0, 1, 2, 3].map((zone) => zoneStateName(table.stateOf(zone)))).toEqual([
      'explicitlyOpen',
      'empty',
      'closed',
      'implicitlyOpen',
    ]);
  });

  it('lets a device put zones where failures and recovery leave them, within the limits', () => {
    const table = new ZoneTable(shape);
    for (const zone of [0, 1, 2]) table.set(zone, ZoneState.closed, 3 + zone);
    expect(table.writePointerOf(2)).toBe(37);
    expect(() => table.set(3, ZoneState.closed, 1)).toThrow(/3 of 3 zones are active/);
    expect(() => table.set(3, ZoneState.implicitlyOpen, 1)).toThrow(/cannot be implicitlyOpen/);
    expect(() => table.set(3, ZoneState.empty, 1)).toThrow(/cannot be empty with 1 blocks written/);
    expect(() => table.set(3, ZoneState.readOnly, 13)).toThrow(RangeError);
    expect(() => table.set(4, ZoneState.full, 0)).toThrow(/there are 4 zones/);
    table.set(1, ZoneState.full, 5);
    expect(reportZone(table, 1)).toEqual({
      zone: 1,
      state: ZoneState.full,
      start: 16,
      blocks: 16,
      capacityBlocks: 12,
      writePointer: 28,
    });
    table.set(3, ZoneState.closed, 0);
    table.powerCut();
    expect([table.stateOf(3), table.activeZones]).toEqual([ZoneState.empty, 2]);
  });

  it('refuses shapes and limits that are impossible, and says which', () => {
    const cases: [Partial<ZoneShape>, string, RegExp][] = [
      [{ zoneCount: 0 }, 'zoneCount', /zoneCount is 0, expected an integer ≥ 1/],
      [{ zoneBlocks: 1.5 }, 'zoneBlocks', /zoneBlocks is 1.5/],
      [{ zoneCapacityBlocks: 17 }, 'zoneCapacityBlocks', /at most zoneBlocks, 16/],
      [{ maxOpen: -1 }, 'maxOpen', /0 is any number/],
      [{ maxOpen: 4 }, 'maxOpen', /at most maxActive, 3/],
      [{ maxActive: Number.NaN }, 'maxActive', /maxActive is NaN/],
      [{ zoneCount: 2 ** 31 - 1, zoneBlocks: 2 ** 23 }, 'zoneBlocks', /less than 2⁵³ blocks/],
      [{ zoneCount: 2 ** 31 }, 'zoneCount', /less than 2³¹ zones/],
    ];
    for (const [change, key, message] of cases) {
      let found: unknown;
      try {
        new ZoneTable({ ...shape, ...change });
      } catch (error) {
        found = error;
      }
      expect(found).toBeInstanceOf(InputError);
      expect(found).toMatchObject({ code: 'ERR_ZONES', key });
      expect(String(found)).toMatch(message);
    }
    expect(() => new ZonedMemoryDevice({ ...shape, blockBytes: 1000 })).toThrow(/power of two/);
  });

  it('names states and statuses', () => {
    expect([zoneStateName(1), zoneStateName(6), zoneStateName(7)]).toEqual([
      'implicitlyOpen',
      'offline',
      'zone state 7',
    ]);
    expect([8, 15].map(blockStatusName)).toEqual(['zoneBoundary', 'zoneInvalidTransition']);
  });
});

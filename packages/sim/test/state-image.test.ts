import { describe, expect, test } from 'vitest';
import { captureState, restoreState, SimulationError } from '../src/index.js';

class Ring {
  items: Int32Array = new Int32Array(2);
  count = 0;
  push(value: number): void {
    if (this.count === this.items.length) {
      const wide = new Int32Array(this.count * 2);
      wide.set(this.items);
      this.items = wide;
    }
    this.items[this.count++] = value;
  }
}

class Part {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

class Machine {
  readonly clock: { now: number } = { now: 0 };
  readonly ring: Ring = new Ring();
  /** The same columns by another way, as hot code keeps them. */
  alias: Int32Array = this.ring.items;
  readonly parts: readonly Part[] = [new Part('a'), new Part('b')];
  current: Part | null = null;
  odd: (number | undefined)[] = [];
  readonly seen: Set<number> = new Set();
  readonly ages: Map<number, { age: number }> = new Map();
  lazy: Float64Array | null = null;
  text = '';
  on = false;
  big = 0;
  readonly outside: object;
  readonly callback: () => number = () => this.big;

  constructor(outside: object) {
    this.outside = outside;
  }
}

const world = { secret: 1 };

function used(): Machine {
  const machine = new Machine(world);
  for (let i = 0; i < 9; i++) machine.ring.push(i * i);
  machine.alias = machine.ring.items;
  machine.current = machine.parts[1];
  machine.odd = [Number.POSITIVE_INFINITY, Number.NaN, -0, undefined, 0.1];
  machine.seen.add(3).add(1);
  machine.ages.set(7, { age: 70 });
  machine.lazy = Float64Array.of(1.5, -2.5);
  machine.text = 'ä"\n';
  machine.on = true;
  machine.big = 2 ** 53 - 1;
  machine.clock.now = 12;
  return machine;
}

describe('state images', () => {
  test('bring an object of the same structure into the same state', () => {
    const image = captureState(used(), [world]);
    const other = new Machine(world);
    const { parts, ring, clock } = other;
    restoreState(other, image, [world]);
    expect(other.ring).toBe(ring);
    expect(other.clock).toBe(clock);
    expect([...ring.items.subarray(0, 9)]).toEqual([0, 1, 4, 9, 16, 25, 36, 49, 64]);
    expect(other.alias).toBe(ring.items);
    expect(other.current).toBe(parts[1]);
    expect(other.odd).toEqual([Number.POSITIVE_INFINITY, Number.NaN, -0, undefined, 0.1]);
    expect([...other.seen]).toEqual([3, 1]);
    expect(other.ages).toEqual(new Map([[7, { age: 70 }]]));
    expect(other.lazy).toEqual(Float64Array.of(1.5, -2.5));
    expect([other.text, other.on, other.big, clock.now]).toEqual(['ä"\n', true, 2 ** 53 - 1, 12]);
    expect(other.callback()).toBe(2 ** 53 - 1);
    expect(captureState(other, [world])).toEqual(image);
  });

  test('go over what has been used, too, and take back what it had', () => {
    const fresh = captureState(new Machine(world), [world]);
    const machine = used();
    restoreState(machine, fresh, [world]);
    expect(machine.current).toBeNull();
    expect(machine.seen.size).toBe(0);
    expect(machine.lazy).toBeNull();
    expect(captureState(machine, [world])).toEqual(fresh);
  });

  test('do not depend on the names of classes, which bundlers change', () => {
    const Renamed = class extends Ring {};
    const ring = new Renamed();
    ring.push(5);
    const image = captureState({ ring });
    const other = new Ring();
    restoreState({ ring: other }, image);
    expect([other.items[0], other.count]).toEqual([5, 1]);
    expect(captureState({ ring: other })).toEqual(image);
  });

  test('are read from any view of bytes, at any place of a buffer', () => {
    const image = captureState(used(), [world]);
    const file = Buffer.alloc(image.length + 3);
    file.set(image, 3);
    const other = new Machine(world);
    restoreState(other, file.subarray(3), [world]);
    expect(captureState(other, [world])).toEqual(image);
    file.fill(0);
    expect(other.ring.items[8]).toBe(64);
  });

  test('make collections within collections anew', () => {
    const state = { sets: new Map([[1, new Set([4, 3])]]), lists: [new Map([['a', Int8Array.of(1, 2)]])] };
    const image = captureState(state);
    const other: typeof state = { sets: new Map(), lists: [] };
    restoreState(other, image);
    expect(other).toEqual(state);
    expect([...(other.sets.get(1) ?? [])]).toEqual([4, 3]);
    expect(captureState(other)).toEqual(image);
  });

  test('hold no reference to the state they were made of', () => {
    const machine = used();
    const image = captureState(machine, [world]);
    machine.ring.items.fill(-1);
    const other = new Machine(world);
    restoreState(other, image, [world]);
    other.ring.items.fill(-2);
    const third = new Machine(world);
    restoreState(third, image, [world]);
    expect(third.ring.items[3]).toBe(9);
  });

  test('refuse what they cannot hold, and a graph of another structure', () => {
    expect(() => captureState({ a: [1n] })).toThrow('state of root.a[0]: a bigint cannot be saved');
    expect(() => captureState({ a: { b: new BigInt64Array(1) } })).toThrow('state of root.a.b: a BigInt64Array');
    expect(() => captureState({ a: Symbol('x') })).toThrow(SimulationError);
    const image = captureState({ part: new Part('x') });
    expect(() => restoreState({ part: new Ring() }, image)).toThrow(
      'state of root.part: saved was an object of a class with name, here is an object of a class with items, count',
    );
    expect(() => restoreState({ part: null }, image)).toThrow('with name, here is nothing');
    expect(() => restoreState({ part: 3 }, image)).toThrow('with name, here is a number');
    expect(() => restoreState({ part: { name: 'x' } }, image)).toThrow('with name, here is a plain object with name');
    expect(() => restoreState({ s: 1 }, captureState({ s: new Set([1]) }))).toThrow('saved was a Set');
    expect(() => restoreState({ s: 1 }, captureState({ s: new Map() }))).toThrow('saved was a Map');
    expect(() => restoreState({ s: 1 }, captureState({ s: world }, [world]))).toThrow('something outside the graph');
    expect(() => restoreState({ c: new Int8Array(9) }, captureState({ c: new Int8Array(9) }).subarray(0, -8))).toThrow(
      'the image is damaged',
    );
  });
});

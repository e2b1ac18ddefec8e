import { BlockOp, ZonedMemoryDevice, ZoneOp } from '@flashstack/block-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import {
  Operation,
  Replay,
  type SegmentOptions,
  type SegmentShape,
  SegmentSource,
  syntheticKinds,
} from '../src/index.js';

const shape: SegmentShape = {
  firstByte: 40_960,
  segmentBytes: 262_144,
  capacityBytes: 253_952,
  lastCapacityBytes: 253_952,
  count: 12,
  alignBytes: 4096,
  release: BlockOp.discard,
  mostOpen: 0,
};

function source(options: Partial<SegmentOptions> = {}, seed = 1): SegmentSource {
  return new SegmentSource({ shape, requests: 1000, requestBytes: 16_384, ...options }, new RandomSource(seed));
}

interface Plain {
  readonly op: number;
  readonly from: number;
  readonly length: number;
  readonly timeNs: number;
}

function take(from: SegmentSource): Plain[] {
  const out = new Operation();
  const all: Plain[] = [];
  while (from.next(out)) {
    all.push({ op: out.op, from: out.offsetBytes, length: out.lengthBytes, timeNs: out.timeNs });
  }
  return all;
}

/** Checks that every write is at the pointer of a released segment; returns the segments in the order of their releases. */
function follow(operations: readonly Plain[], of: SegmentShape, logs: number): number[] {
  const pointers = new Map<number, number>();
  const begun: number[] = [];
  for (const { op, from, length } of operations) {
    if (op !== of.release && op !== BlockOp.write) continue;
    const segment = Math.floor((from - of.firstByte) / of.segmentBytes);
    const start = of.firstByte + segment * of.segmentBytes;
    const capacity = segment === of.count - 1 ? of.lastCapacityBytes : of.capacityBytes;
    if (op === of.release) {
      if (from !== start || length !== (op === BlockOp.discard ? capacity : of.segmentBytes)) {
        throw new Error(`release of ${length} bytes at ${from}`);
      }
      pointers.set(segment, 0);
      begun.push(segment);
    } else {
      const end = from - start + length;
      if (from - start !== pointers.get(segment) || end > capacity)
        throw new Error(`write of ${length} bytes at ${from}`);
      if (end === capacity) pointers.delete(segment);
      else pointers.set(segment, end);
    }
    if (pointers.size > logs) throw new Error(`${pointers.size} segments are partly written`);
  }
  return begun;
}

describe('a log-structured workload', () => {
  test.each(['round-robin', 'random', 'hot-cold'] as const)(
    'writes released segments from their start, %s',
    (order) => {
      for (const logs of [1, 3]) {
        for (const flushEvery of [0, 7]) {
          const made = source({ order, logs, flushEvery });
          const operations = take(made);
          const begun = follow(operations, shape, logs);
          expect(operations.length).toBe(made.count);
          expect(operations.filter(({ op }) => op === BlockOp.write)).toHaveLength(1000);
          expect(operations.filter(({ op }) => op === BlockOp.flush)).toHaveLength(flushEvery === 0 ? 0 : 142);
          if (order === 'round-robin') expect(begun.slice(0, 14)).toEqual([...Array(12).keys(), 0, 1]);
          made.restart();
          expect(take(made)).toEqual(operations);
        }
      }
    },
  );

  test('takes hot segments as often as asked, and reads anywhere in what can be written', () => {
    const made = source({ order: 'hot-cold', requests: 60_000, hotFraction: 0.25, hotShare: 0.9, readShare: 0.3 });
    expect(made.count).toBe(-1);
    const operations = take(made);
    const begun = follow(operations, shape, 1);
    const hot = begun.filter((segment) => segment < 3).length / begun.length;
    // Draws: a standard deviation of 0.6 %.
    expect(Math.abs(hot - 0.9)).toBeLessThan(0.025);
    const reads = operations.filter(({ op }) => op === BlockOp.read);
    expect(Math.abs(reads.length / 60_000 - 0.3)).toBeLessThan(0.01);
    const within = ({ from, length }: Plain): boolean =>
      (from - shape.firstByte) % shape.segmentBytes <= shape.capacityBytes - length;
    expect(reads.every(within)).toBe(true);
  });

  test('keeps a last segment that is shorter, and arrives in time', () => {
    const short = { ...shape, lastCapacityBytes: 20_480 };
    const made = source({ shape: short, gapNs: 1000 });
    const operations = take(made);
    follow(operations, short, 1);
    expect(operations[operations.length - 1].timeNs).toBe(999_000);
    expect(made.endByte).toBe(40_960 + 11 * 262_144 + 20_480);
  });

  test('is taken by a zoned device in any number of passes, with as many logs as zones may be active', () => {
    const device = new ZonedMemoryDevice({
      zoneCount: 8,
      zoneBlocks: 64,
      zoneCapacityBlocks: 60,
      maxOpen: 2,
      maxActive: 3,
      features: { keeps: 'contents' },
    });
    const zones: SegmentShape = {
      firstByte: 0,
      segmentBytes: 64 * 4096,
      capacityBytes: 60 * 4096,
      lastCapacityBytes: 60 * 4096,
      count: 8,
      alignBytes: 4096,
      release: ZoneOp.reset,
      mostOpen: 3,
    };
    const made = source({ shape: zones, logs: 3, order: 'random', readShare: 0.2, requests: 777 });
    const replay = new Replay(new Simulator(), device, made, {
      loop: { kind: 'closed', depth: 8 },
      repeat: 3,
      verify: true,
    });
    expect(replay.advance()).toBe(true);
    expect(replay.stats.failed).toBe(0);
    expect(replay.contents?.wrong).toBe(0);
    expect(replay.contents?.checked).toBeGreaterThan(100);
    const plain = source({ shape: zones, logs: 3, requests: 777 });
    expect(take(plain)).toHaveLength(plain.count);
  });

  test('says what is impossible', () => {
    expect(() => source({ requestBytes: 5000 })).toThrow('requestBytes must be a multiple of 4096 up to');
    expect(() => source({ requestBytes: 262_144 })).toThrow(/requestBytes must be .*, found 262144/);
    expect(() => source({ logs: 12 })).toThrow(
      'logs must be a whole number from 1 to 11: there are 12 segments, found 12',
    );
    expect(() => source({ logs: 3, shape: { ...shape, mostOpen: 2 } })).toThrow(
      'from 1 to 2: there are 12 segments, of which the device takes 2 partly written, found 3',
    );
    expect(() => source({ hotShare: 2 })).toThrow('hotShare must be a number from 0 to 1, found 2');
  });
});

describe('the workload by name', () => {
  const kind = syntheticKinds.find(({ name }) => name === 'segments');
  const values = Object.fromEntries((kind?.parameters ?? []).map((parameter) => [parameter.name, parameter.default]));
  const make = (more: Record<string, number>, own: SegmentShape | null) =>
    kind?.create({ ...values, ...more } as never)(1 << 24, new RandomSource(1), own);

  test('takes the segments of the drive, or those asked for where it has none', () => {
    expect(make({}, shape)?.endByte).toBe(40_960 + 11 * 262_144 + 253_952);
    expect(make({ segmentBytes: 1 << 20 }, null)?.endByte).toBe(1 << 24);
    expect(() => make({}, null)).toThrow('segmentBytes is missing: the drive has no segments of its own');
    expect(() => make({ segmentBytes: 1 << 20 }, shape)).toThrow(
      'the segments of the drive are 262144 bytes: leave it out',
    );
    expect(() => make({ segmentBytes: 1 << 24 }, null)).toThrow('at most half of the drive');
  });
});

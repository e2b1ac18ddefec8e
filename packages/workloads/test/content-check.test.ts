import { type BlockDevice, BlockOp, type BlockRequest, MemoryDevice } from '@flashstack/block-device';
import { type EventTarget, RandomSource, Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Operation, Replay, SyntheticSource, TraceBuilder } from '../src/index.js';

const BLOCKS = 512;
const full = process.env.CI !== undefined;

/** A correct device with time: contents change when a write is submitted, reads look at any moment of their life. */
class TimedMemory implements BlockDevice, EventTarget {
  readonly blockBytes = 512;
  readonly blockCount = BLOCKS;
  readonly features: BlockDevice['features'];
  readonly tags = new Uint32Array(BLOCKS);
  private readonly simulator: Simulator;
  private readonly pending = new Map<number, BlockRequest>();
  private number = 0;
  private readonly fault: string;

  constructor(simulator: Simulator, fault: string) {
    this.simulator = simulator;
    this.fault = fault;
    this.features = new MemoryDevice({ blockBytes: 512, blockCount: BLOCKS }).features;
  }

  submit(request: BlockRequest): void {
    const number = this.number++;
    const broken = number % 7 === 3;
    if (request.op === BlockOp.write && !(broken && this.fault === 'lost')) {
      const shift = broken && this.fault === 'misdirected' ? 1 : 0;
      for (let i = 0; i < request.count; i++) {
        this.tags[(request.block + i + shift) % BLOCKS] = request.tags === null ? 0 : request.tags[i];
      }
    }
    if (request.op === BlockOp.discard || request.op === BlockOp.writeZeroes) {
      this.tags.fill(0, request.block, request.block + request.count);
    }
    if (request.op === BlockOp.read && number % 2 === 0) this.answer(request);
    this.pending.set(number, request);
    this.simulator.after(100 + ((number * 7919) % 900), this, number);
  }

  fire(number: number): void {
    const request = this.pending.get(number) as BlockRequest;
    this.pending.delete(number);
    if (request.op === BlockOp.read && number % 2 === 1) this.answer(request);
    request.status = this.fault === 'fails' && number % 5 === 0 ? 1 : 0;
    request.owner.ioDone(request);
  }

  private answer(request: BlockRequest): void {
    const tags = request.tags as Uint32Array;
    for (let i = 0; i < tags.length; i++) tags[i] = this.tags[request.block + i];
    if (this.fault === 'corrupt' && request.block % 50 === 0) tags[0] ^= 1;
  }
}

type Shape = [op: number, block: number, count: number][];

function verify(shape: Shape, fault: string, depth: number): Replay {
  const builder = new TraceBuilder();
  const operation = new Operation();
  for (const [op, block, count] of shape) {
    operation.op = op;
    operation.offsetBytes = op === BlockOp.flush ? 0 : block * 512;
    operation.lengthBytes = op === BlockOp.flush ? 0 : count * 512;
    builder.add(operation);
  }
  const simulator = new Simulator();
  const device = new TimedMemory(simulator, fault);
  const options = { loop: { kind: 'closed', depth }, repeat: 3, verify: true, address: 'wrap' } as const;
  const replay = new Replay(simulator, device, builder.build('x', 'y').source(), options);
  replay.advance();
  return replay;
}

const shapes = fc.array(
  fc.tuple(fc.constantFrom<number>(...Object.values(BlockOp)), fc.nat(600), fc.integer({ min: 1, max: 20 })),
  { minLength: 1, maxLength: 80 },
);

test('a correct device is never accused, whatever overlaps, fails or is discarded', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 12 }), fc.boolean(), (shape, depth, fails) => {
      expect(verify(shape, fails ? 'fails' : '', depth).contents).toMatchObject({ wrong: 0, mismatches: [] });
    }),
    { numRuns: full ? 3000 : 300, seed: 7 },
  );
});

describe('a broken device is caught', () => {
  const random = new RandomSource(1).stream('shape');
  const shape: Shape = Array.from({ length: 2000 }, () => [random.below(2), random.below(500), 1 + random.below(10)]);

  test('the same workload on a correct one checks nearly everything', () => {
    const { contents } = verify(shape, '', 1);
    expect(contents?.wrong).toBe(0);
    expect(contents?.checked).toBeGreaterThan(10_000);
    expect(contents?.unchecked).toBeLessThan(2000);
  });

  test.each(['lost', 'misdirected', 'corrupt'])('%s', (fault) => {
    const { contents } = verify(shape, fault, 4);
    expect(contents?.wrong).toBeGreaterThan(0);
    expect(contents?.mismatches.length).toBeGreaterThan(0);
    expect(contents?.mismatches.length).toBeLessThanOrEqual(8);
    for (const { expectedTag, foundTag } of contents?.mismatches ?? []) expect(foundTag).not.toBe(expectedTag);
  });
});

test('a memory device verifies completely; contents differ by seed and by write', () => {
  const written = (seed: number): number[] => {
    const simulator = new Simulator();
    const device = new MemoryDevice({ blockBytes: 4096, blockCount: 64 });
    const options = { pattern: 'random', rangeBytes: 64 * 4096, requests: 5000, readShare: 0.5 } as const;
    const source = new SyntheticSource(options, new RandomSource(3));
    const loop = { kind: 'closed', depth: 8 } as const;
    const replay = new Replay(simulator, device, source, { loop, seed, verify: true });
    replay.advance();
    expect(replay.contents?.wrong).toBe(0);
    expect(replay.contents?.checked).toBeGreaterThan(2000);
    return Array.from({ length: 64 }, (_, block) => {
      let tag = 0;
      const owner = {
        ioDone: (request: BlockRequest): void => {
          tag = (request.tags as Uint32Array)[0];
        },
      };
      device.submit({
        op: BlockOp.read,
        block,
        count: 1,
        flags: 0,
        data: null,
        tags: new Uint32Array(1),
        owner,
      } as never);
      return tag;
    });
  };
  const one = written(1);
  expect(written(1)).toEqual(one);
  expect(written(2).filter((tag, i) => tag === one[i])).toEqual([]);
  expect(new Set(one).size).toBe(64);
});

test('without verify, writes still carry contents and reads want none', () => {
  const simulator = new Simulator();
  const device = new MemoryDevice({ blockBytes: 4096, blockCount: 64 });
  const seen: [number, boolean][] = [];
  const submit = device.submit.bind(device);
  device.submit = (request): void => {
    seen.push([request.op, request.tags !== null]);
    submit(request);
  };
  const options = { pattern: 'sequential', rangeBytes: 64 * 4096, requests: 50, readShare: 0.5 } as const;
  const source = new SyntheticSource(options, new RandomSource(3));
  const replay = new Replay(simulator, device, source, { loop: { kind: 'closed', depth: 8 } });
  replay.advance();
  expect(replay.contents).not.toBeNull();
  expect(seen.length).toBe(50);
  for (const [op, tagged] of seen) expect(tagged).toBe(op === BlockOp.write);
});

import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BaseImage, CrashDevice, CrashImages, type CrashModel } from '../src/crash/index.js';
import { BlockFlag, BlockOp, BlockRequest, submitAndWait } from '../src/index.js';
import { LegalImages, type Written } from './crash-model.js';

const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 50;
const BLOCKS = 3;
const BLOCK_BYTES = 1024;
const SECTORS = 2;
const { fua, preflush } = BlockFlag;
const models: CrashModel[] = ['volatile', 'torn', 'ordered', 'protected', 'unreadable', 'lying(1)', 'lying(2)'];

interface Asked {
  op: number;
  block: number;
  count: number;
  flags: number;
  values: number[];
  afterNs: number;
}

const asked: fc.Arbitrary<Asked> = fc
  .record({
    op: fc.constantFrom(
      BlockOp.write,
      BlockOp.write,
      BlockOp.write,
      BlockOp.flush,
      BlockOp.discard,
      BlockOp.writeZeroes,
    ),
    block: fc.nat(BLOCKS - 1),
    count: fc.integer({ min: 1, max: 2 }),
    flags: fc.constantFrom(0, 0, fua, preflush, fua | preflush),
    values: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 }),
    afterNs: fc.nat(3),
  })
  .map((one) => ({
    ...one,
    count: Math.min(one.count, BLOCKS - one.block),
    flags: one.op === BlockOp.write ? one.flags : 0,
  }));

const label = (value: number): string => (value === 0 ? '0' : `v${value}`);

function baseImage(): BaseImage {
  const simulator = new Simulator();
  const device = new CrashDevice(BaseImage.blank(BLOCKS, BLOCK_BYTES));
  const data = new Uint8Array(BLOCKS * BLOCK_BYTES).fill(9);
  submitAndWait(simulator, device, { op: BlockOp.write, block: 0, count: BLOCKS, data });
  return device.freeze();
}

/** Sends requests at random times to a device that answers in random order. */
function play(requests: readonly Asked[], device: CrashDevice, simulator: Simulator, random: RandomStream): Written[] {
  const labels: string[][] = [];
  const owner = { ioDone: () => {} };
  let at = 0;
  for (const one of requests) {
    at += one.afterNs;
    simulator.at(at, { fire: () => send(one) }, 0);
  }
  const send = ({ op, block, count, flags, values }: Asked): void => {
    const request = Object.assign(new BlockRequest(owner), { op, flags });
    const sectors =
      op === BlockOp.write ? values.slice(0, count * SECTORS) : Array.from({ length: count * SECTORS }, () => 0);
    if (op !== BlockOp.flush) Object.assign(request, { block, count });
    if (op === BlockOp.write) {
      const data = new Uint8Array(count * BLOCK_BYTES);
      for (const [sector, value] of sectors.entries()) data.fill(value, sector * 512, (sector + 1) * 512);
      // Where one word says it all, a tag may as well.
      if (values[0] === values[1] && count === 1 && random.below(2) === 0)
        request.tags = Uint32Array.of(values[0] * 0x01010101);
      else request.data = data;
    }
    labels.push(op === BlockOp.flush ? [] : sectors.map(label));
    device.submit(request);
  };
  // Power is cut while some are in flight.
  simulator.runUntil(at + random.below(6));
  return labels.map((of, row) => {
    const request = device.at(row);
    const flushes = request.op === BlockOp.flush || (request.flags & preflush) !== 0;
    return { ...request, labels: of, flushes, fua: (request.flags & fua) !== 0 };
  });
}

function contentsOf(device: CrashDevice): string {
  let text = '';
  const data = new Uint8Array(BLOCK_BYTES);
  for (let block = 0; block < BLOCKS; block++) {
    const request = Object.assign(new BlockRequest({ ioDone: () => {} }), { op: BlockOp.read, block, count: 1, data });
    device.submit(request);
    const sectors = [data[0], data[512]].map((value) => (value === 9 ? 'start' : label(value)));
    text += `|${request.status === 0 ? sectors.join() : 'unreadable'}`;
  }
  return text;
}

/** Compares all images of a record with the definition, and where each is judged. */
function compare(requests: readonly Asked[], seed: number, model: CrashModel): void {
  const simulator = new Simulator();
  const source = new RandomSource(seed);
  const latency = { simulator, random: source.stream('latency'), leastNs: 0, mostNs: 6 };
  const device = new CrashDevice(baseImage(), { latency });
  const log = play(requests, device, simulator, source.stream('play'));
  const legal = new LegalImages(log, BLOCKS, SECTORS);
  const legalAt = Array.from({ length: device.position + 1 }, (_, t) => legal.at(t, model));
  const expected = new Map<string, number>();
  for (const [t, possible] of legalAt.entries()) for (const image of possible) expected.set(image, t);
  const images = new CrashImages(device, { model });
  const after = device.successor({});
  const found = new Map<string, number>();
  const identities = new Map<string, string>();
  for (images.begin(); images.next(); ) {
    images.open(after);
    const text = contentsOf(after);
    if (!found.has(text)) found.set(text, images.lastCut);
    const identity = `${images.low},${images.high}`;
    if (identity !== `${after.identity(0)},${after.identity(1)}`) throw new Error(`identity of ${text}`);
    if ((identities.get(identity) ?? text) !== text) throw new Error(`${text} passes for ${identities.get(identity)}`);
    identities.set(identity, text);
    if (!legalAt[images.lastCut].has(text)) throw new Error(`${text} is judged where it is impossible`);
  }
  expect(identities.size).toBe(found.size);
  expect([...found].sort()).toEqual([...expected].sort());
}

describe('images of a power cut', () => {
  for (const model of models) {
    it(`are those of the definition, each judged at its last moment: ${model}`, () => {
      fc.assert(
        fc.property(
          fc.array(asked, { minLength: 1, maxLength: model === 'torn' ? 5 : 7 }),
          fc.nat(1e6),
          (requests, seed) => {
            compare(requests, seed, model);
          },
        ),
        { numRuns: 60 * depth },
      );
    });
  }
});

import { type BlockFeatures, BlockFlag, BlockOp, BlockStatus, MemoryDevice } from '@flashstack/block-device';
import { blockDeviceConformance } from '@flashstack/block-device/conformance';
import { InputError, RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, it, test } from 'vitest';
import { BlockLayer, type BlockLayerOptions } from '../src/index.js';
import { build, cached, SlowDevice } from './slow-device.js';

const all: BlockFeatures = { ...cached, volatileCache: false };
const few: BlockFeatures = { fua: false, volatileCache: true, discard: false, atomicBlocks: 4, keeps: 'contents' };
const settings: Record<string, BlockLayerOptions> = {
  'as it comes': {},
  'deadline, depth 1, short requests': { scheduler: 'deadline', queueDepth: 1, maxRequestBytes: 12_288 },
};
for (const [features, label] of [
  [all, 'all features'],
  [cached, 'a volatile cache'],
  [few, 'few features'],
] as const) {
  for (const [name, options] of Object.entries(settings)) {
    describe(`conformance, ${label}, ${name}`, () => {
      blockDeviceConformance({
        test: it,
        capabilities: { ...features, fua: true },
        factory: () => {
          const simulator = new Simulator();
          return {
            simulator,
            device: new BlockLayer(simulator, new MemoryDevice({ blockCount: 100, features }), options),
          };
        },
      });
    });
  }
}

const { read, write, flush } = BlockOp;

test('a bracket merges what is adjacent and alike, at either end, and nothing else', () => {
  const { device, layer, io } = build();
  layer.plug();
  io.send(write, 10, 2);
  io.send(write, 12, 1);
  io.send(write, 9, 1);
  io.send(write, 13, 1, { origin: 3 });
  io.send(write, 14, 1, { origin: 3, stream: 2 });
  io.send(write, 15, 1, { origin: 3, stream: 2, flags: BlockFlag.sync });
  io.send(write, 16, 1, { origin: 3, stream: 2, flags: BlockFlag.sync | BlockFlag.noMerge });
  expect(device.seen).toEqual([]);
  layer.unplug();
  expect(device.seen.sort()).toEqual(['W13+1', 'W14+1', 'W15+1', 'W16+1', 'W9+4']);
  device.finishAll();
  expect(io.done.length).toBe(7);
  expect(layer.stats).toMatchObject({ queued: 7, merged: 2, issued: 5, splits: 0 });
});

test('what is read ahead merges with other reads and goes by the flags of the request that was there first', () => {
  const { device, layer, io } = build();
  layer.plug();
  io.send(read, 10, 2, { flags: BlockFlag.ahead });
  io.send(read, 12, 1);
  io.send(read, 21, 1);
  io.send(read, 20, 1, { flags: BlockFlag.ahead });
  io.send(read, 30, 1, { flags: BlockFlag.ahead });
  io.send(read, 31, 1, { flags: BlockFlag.ahead | BlockFlag.sync });
  layer.unplug();
  expect(device.waiting.map(({ block, count, flags }) => [block, count, flags])).toEqual([
    [10, 3, BlockFlag.ahead],
    [20, 2, 0],
    [30, 1, BlockFlag.ahead],
    [31, 1, BlockFlag.ahead | BlockFlag.sync],
  ]);
  device.finishAll();
  expect(io.done.length).toBe(6);
});

test('parts of a merged request get its status, and each its own data', () => {
  const { device, layer, io } = build();
  const data = new Uint8Array(8192).map((_, at) => at % 251);
  io.send(write, 5, 2, { data });
  device.finishAll();
  layer.plug();
  const one = io.send(read, 5, 1, { data: new Uint8Array(4096) });
  const two = io.send(read, 6, 1, { data: new Uint8Array(4096) });
  layer.unplug();
  expect(device.seen.at(-1)).toBe('R5+2');
  device.finishAll();
  expect(one.data).toEqual(data.subarray(0, 4096));
  expect(two.data).toEqual(data.subarray(4096));
  layer.plug();
  const bad = [io.send(write, 20, 1), io.send(write, 21, 1)];
  layer.unplug();
  device.finish(0, BlockStatus.mediaError);
  expect(bad.map((request) => request.status)).toEqual([BlockStatus.mediaError, BlockStatus.mediaError]);
});

test('a long request is cut, and its status is that of its worst piece', () => {
  const { device, io } = build({ maxRequestBytes: 8192 });
  const request = io.send(write, 0, 5);
  expect(device.seen).toEqual(['W0+2', 'W2+2', 'W4+1']);
  device.finish(1, BlockStatus.ioError);
  device.finish(0);
  expect(io.done).toEqual([]);
  device.finish(0);
  expect(io.done).toEqual([request]);
  expect(request.status).toBe(BlockStatus.ioError);
});

test('the device is kept at its depth; what waits is merged, and what is waited for goes first', () => {
  const { device, layer, io } = build({ queueDepth: 1 });
  io.send(write, 0, 1);
  io.send(write, 100, 1, { flags: BlockFlag.background });
  io.send(write, 101, 1, { flags: BlockFlag.background });
  io.send(write, 50, 1, { flags: BlockFlag.sync });
  io.send(read, 7, 1);
  expect(device.seen).toEqual(['W0+1']);
  expect(layer.waiting).toBe(3);
  for (let i = 0; i < 3; i++) device.finish();
  expect(device.seen).toEqual(['W0+1', 'W50+1', 'R7+1', 'W100+2']);
});

test('what nobody waits for is not starved', () => {
  const { device, io } = build({ queueDepth: 1, starvedBatches: 2 });
  io.send(write, 1000, 1);
  io.send(write, 900, 1, { flags: BlockFlag.background });
  for (let i = 0; i < 100; i++) io.send(read, i * 2, 1);
  for (let i = 0; i < 101; i++) device.finish();
  const at = device.seen.indexOf('W900+1');
  expect(at).toBe(1 + 2 * 16);
});

test('the deadline scheduler sweeps upwards from the oldest, sixteen at a time', () => {
  const { device, io } = build({ queueDepth: 1, scheduler: 'deadline' });
  io.send(read, 1000, 1);
  const random = new RandomSource(3).stream('places');
  const places = Array.from({ length: 40 }, (_, at) => ({ place: 3 * random.below(300), at }));
  const distinct = places.filter(({ place }, at) => places.findIndex((other) => other.place === place) === at);
  for (const { place } of distinct) io.send(read, place, 1, { flags: BlockFlag.noMerge });
  // The rule, stated on a plain list.
  const left = distinct.map(({ place }) => place);
  const expected: number[] = [];
  for (let sent = 0, next = 0; left.length > 0; sent++) {
    const above = left.filter((place) => place >= next).sort((a, b) => a - b);
    const place = sent % 16 === 0 || above.length === 0 ? left[0] : above[0];
    expected.push(place);
    left.splice(left.indexOf(place), 1);
    next = place + 1;
  }
  for (let i = 0; i < distinct.length; i++) device.finish();
  expect(device.seen.slice(1)).toEqual(expected.map((place) => `R${place}+1`));
});

test('a write with PREFLUSH and FUA becomes a flush and a write, or a flush on either side', () => {
  const both = BlockFlag.preflush | BlockFlag.fua;
  const fua = build();
  fua.io.send(write, 3, 1, { flags: both });
  fua.device.finish();
  fua.device.finish();
  expect(fua.device.seen).toEqual(['F0+0', 'Wf3+1']);
  expect(fua.io.done.length).toBe(1);
  const none = build({}, few);
  none.io.send(write, 3, 1, { flags: both });
  none.device.finish();
  none.device.finish();
  expect(none.io.done.length).toBe(0);
  none.device.finish();
  expect(none.device.seen).toEqual(['F0+0', 'W3+1', 'F0+0']);
  const durable = build({}, all);
  durable.io.send(write, 3, 1, { flags: both });
  durable.io.send(flush, 0, 0);
  expect(durable.device.seen).toEqual(['W3+1']);
  expect(durable.io.done.length).toBe(1);
});

test('a failed flush fails what wanted it, and the write behind it is not sent', () => {
  const { device, io } = build();
  const request = io.send(write, 3, 1, { flags: BlockFlag.preflush });
  device.finish(0, BlockStatus.ioError);
  expect(request.status).toBe(BlockStatus.ioError);
  expect(device.seen).toEqual(['F0+0']);
});

test('flushes asked for while one is on its way share the next', () => {
  const { device, layer, io } = build();
  for (let i = 0; i < 10; i++) io.send(flush, 0, 0);
  expect(device.seen).toEqual(['F0+0']);
  device.finish();
  expect(io.done.length).toBe(1);
  expect(device.seen).toEqual(['F0+0', 'F0+0']);
  device.finish();
  expect(io.done.length).toBe(10);
  expect(layer.stats).toMatchObject({ flushesWanted: 10, flushesIssued: 2 });
});

test('a flush waits for writes of flush sequences that are on their way, but not for ever', () => {
  const { device, io, simulator } = build();
  io.send(write, 3, 1, { flags: BlockFlag.fua });
  io.send(flush, 0, 0);
  expect(device.seen).toEqual(['Wf3+1']);
  simulator.runUntil(6_000_000_000);
  io.send(flush, 0, 0);
  expect(device.seen).toEqual(['Wf3+1', 'F0+0']);
});

test('options are checked', () => {
  const make = (options: object) => new BlockLayer(new Simulator(), new SlowDevice(), options as BlockLayerOptions);
  expect(() => make({ queueDepht: 3 })).toThrow(/Did you mean "queueDepth"/);
  expect(() => make({ queueDepth: 0 })).toThrow(InputError);
  expect(() => make({ scheduler: 'bfq' })).toThrow(InputError);
});

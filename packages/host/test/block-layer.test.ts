import {
  type BlockDevice,
  type BlockFeatures,
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  type IoOwner,
  MemoryDevice,
  RecordingDevice,
} from '@flashstack/block-device';
import { blockDeviceConformance } from '@flashstack/block-device/conformance';
import { InputError, RandomSource, Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { BlockLayer, type BlockLayerOptions } from '../src/index.js';

const all: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'contents' };
const cached: BlockFeatures = { ...all, volatileCache: true };
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

/** Takes requests and is done with them when it is told to. */
class SlowDevice implements BlockDevice {
  readonly blockBytes = 4096;
  readonly blockCount = 1024;
  readonly features: BlockFeatures;
  readonly memory: MemoryDevice;
  readonly waiting: BlockRequest[] = [];
  readonly seen: string[] = [];

  constructor(features: BlockFeatures = cached) {
    this.features = features;
    this.memory = new MemoryDevice({ blockCount: 1024, features });
  }

  submit(request: BlockRequest): void {
    const op = ['R', 'W', 'F', 'D', 'Z'][request.op];
    const fua = (request.flags & BlockFlag.fua) !== 0 ? 'f' : '';
    const preflush = (request.flags & BlockFlag.preflush) !== 0 ? 'p' : '';
    this.seen.push(`${preflush}${op}${fua}${request.block}+${request.count}`);
    // The contents of a write are the device's from here on; what a read brings comes at the end.
    if (request.op === BlockOp.write) {
      request.data = request.data?.slice() ?? null;
      request.tags = request.tags?.slice() ?? null;
    }
    this.waiting.push(request);
  }

  /** Is done with the request at this place in the order of arrival. */
  finish(at = 0, status: number = BlockStatus.ok): void {
    const [request] = this.waiting.splice(at, 1);
    if (status === BlockStatus.ok) {
      const owner: IoOwner = { ioDone: (copy) => (request.status = copy.status) };
      const copy = Object.assign(new BlockRequest(owner), request, { owner });
      this.memory.submit(copy);
    } else {
      request.status = status;
    }
    request.owner.ioDone(request);
  }

  finishAll(): void {
    while (this.waiting.length > 0) this.finish();
  }
}

class Submitter implements IoOwner {
  readonly done: BlockRequest[] = [];
  readonly layer: BlockLayer;

  constructor(layer: BlockLayer) {
    this.layer = layer;
  }

  ioDone(request: BlockRequest): void {
    this.done.push(request);
  }

  send(op: number, block: number, count: number, more: Partial<BlockRequest> = {}): BlockRequest {
    const request = Object.assign(new BlockRequest(this), { op, block, count }, more);
    this.layer.submit(request);
    return request;
  }
}

function build(options: BlockLayerOptions = {}, features: BlockFeatures = cached) {
  const simulator = new Simulator();
  const device = new SlowDevice(features);
  const layer = new BlockLayer(simulator, device, options);
  return { simulator, device, layer, io: new Submitter(layer) };
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

test('contents are taken by submit, however long the request is held back', () => {
  const { device, layer, io } = build({ queueDepth: 1 });
  const buffer = new Uint8Array(4096).fill(1);
  io.send(write, 0, 1, { data: buffer });
  layer.plug();
  for (let i = 1; i < 6; i++) {
    buffer.fill(i + 1);
    io.send(write, 10 + i, 1, { data: buffer });
  }
  layer.unplug();
  buffer.fill(9);
  io.send(write, 20, 1, { data: buffer, flags: BlockFlag.preflush });
  buffer.fill(99);
  device.finishAll();
  const back = io.send(read, 11, 10, { data: new Uint8Array(40_960) });
  device.finishAll();
  const bytes = Array.from({ length: 10 }, (_, at) => (back.data as Uint8Array)[at * 4096 + 7]);
  expect(bytes).toEqual([2, 3, 4, 5, 6, 0, 0, 0, 0, 9]);
});

test('options are checked', () => {
  const make = (options: object) => new BlockLayer(new Simulator(), new SlowDevice(), options as BlockLayerOptions);
  expect(() => make({ queueDepht: 3 })).toThrow(/Did you mean "queueDepth"/);
  expect(() => make({ queueDepth: 0 })).toThrow(InputError);
  expect(() => make({ scheduler: 'bfq' })).toThrow(InputError);
});

test('whatever is merged, split and reordered, reads give what was written last', () => {
  const step = fc.record({
    kind: fc.constantFrom('write', 'tags', 'read', 'plug', 'unplug', 'finish', 'flush'),
    block: fc.integer({ min: 0, max: 40 }),
    count: fc.integer({ min: 1, max: 9 }),
    flags: fc.constantFrom(0, BlockFlag.sync, BlockFlag.preflush, BlockFlag.fua, BlockFlag.background),
    at: fc.nat(20),
  });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom('none' as const, 'deadline' as const),
      fc.integer({ min: 1, max: 4 }),
      (steps, scheduler, queueDepth) => {
        const { device, layer, io } = build({ scheduler, queueDepth, maxRequestBytes: 16_384, plugRequests: 5 });
        const model = new Uint32Array(64);
        const busy = new Uint8Array(64);
        let sent = 0;
        let plugs = 0;
        let word = 0;
        const release = (request: BlockRequest) => {
          for (let at = 0; at < request.count; at++) busy[request.block + at] = 0;
        };
        const settle = () => {
          for (const request of io.done.splice(0)) {
            expect(request.status).toBe(BlockStatus.ok);
            sent--;
            release(request);
            if (request.op !== read || request.tags === null) continue;
            for (let at = 0; at < request.count; at++) expect(request.tags[at]).toBe(model[request.block + at]);
          }
        };
        for (const { kind, block, count, flags, at } of steps) {
          if (kind === 'plug') {
            layer.plug();
            plugs++;
          } else if (kind === 'unplug') {
            if (plugs > 0) {
              plugs--;
              layer.unplug();
            }
          } else if (kind === 'finish') {
            if (device.waiting.length > 0) device.finish(at % device.waiting.length);
          } else if (kind === 'flush') {
            sent++;
            io.send(flush, 0, 0);
          } else if (!busy.subarray(block, block + count).includes(1)) {
            sent++;
            busy.fill(1, block, block + count);
            if (kind === 'read') {
              io.send(read, block, count, { tags: new Uint32Array(count), flags: flags & BlockFlag.sync });
            } else {
              const tags = Uint32Array.from({ length: count }, () => ++word);
              model.set(tags, block);
              if (kind === 'tags') {
                io.send(write, block, count, { tags, flags });
                tags.fill(0xdead);
              } else {
                const data = new Uint8Array(new Uint32Array(count * 1024).map((_, i) => tags[i >> 10]).buffer);
                io.send(write, block, count, { data, flags });
                data.fill(0xdd);
              }
            }
          }
          settle();
        }
        for (; plugs > 0; plugs--) layer.unplug();
        device.finishAll();
        settle();
        expect(sent).toBe(0);
        expect(layer.waiting).toBe(0);
        const last = io.send(read, 0, 50, { tags: new Uint32Array(50) });
        device.finishAll();
        expect(last.tags).toEqual(model.slice(0, 50));
      },
    ),
    { numRuns: 300 },
  );
});

/** What the probe hears, by the letters of a block trace. */
function listen(layer: BlockLayer): string[] {
  const heard: string[] = [];
  const say =
    (letter: string) =>
    (_op: number, block: number, count: number): void => {
      heard.push(`${letter} ${block}+${count}`);
    };
  layer.probe = {
    queued: say('Q'),
    merged: (_op, block, count, _flags, _origin, front) => heard.push(`${front ? 'F' : 'M'} ${block}+${count}`),
    split: say('X'),
    allocated: say('G'),
    plugged: () => heard.push('P'),
    unplugged: (requests) => heard.push(`U ${requests}`),
    inserted: say('I'),
    issued: say('D'),
    completed: (_op, block, count, _flags, _origin, status) => heard.push(`C ${block}+${count} ${status}`),
  };
  return heard;
}

test('the probe hears of brackets, cuts and merges in the order of a block trace', () => {
  const { device, layer, io } = build({ maxRequestBytes: 16_384, queueDepth: 1 });
  const heard = listen(layer);
  layer.plug();
  io.send(write, 10, 2);
  io.send(write, 12, 1);
  io.send(write, 30, 6);
  layer.unplug();
  expect(heard.splice(0)).toEqual([
    ...['Q 10+2', 'G 10+2', 'P', 'Q 12+1', 'M 12+1'],
    ...['Q 30+6', 'X 30+4', 'G 30+4', 'G 34+2', 'U 3', 'I 10+3', 'I 30+4', 'I 34+2', 'D 10+3'],
  ]);
  io.send(write, 29, 1);
  io.send(write, 36, 1);
  io.send(read, 0, 1);
  device.finish(0, BlockStatus.ioError);
  expect(heard.splice(0)).toEqual([
    ...['Q 29+1', 'G 29+1', 'I 29+1', 'Q 36+1', 'M 36+1'],
    ...['Q 0+1', 'G 0+1', 'I 0+1', 'C 10+3 1', 'D 30+4'],
  ]);
  device.finishAll();
  io.send(write, 50, 1, { flags: BlockFlag.preflush | BlockFlag.fua });
  device.finishAll();
  expect(heard.splice(heard.indexOf('Q 50+1'))).toEqual([
    ...['Q 50+1', 'D 0+0', 'C 0+0 0', 'G 50+1', 'I 50+1', 'D 50+1', 'C 50+1 0'],
  ]);
  const times = (letter: string): number => heard.filter((line) => line.startsWith(letter)).length;
  expect(times('D')).toBe(times('C') - 1);
});

test('the probe hears of every request, and what is issued covers what was queued', () => {
  const simulator = new Simulator();
  const recorder = new RecordingDevice(new MemoryDevice({ blockCount: 1000, features: cached }), { simulator });
  const layer = new BlockLayer(simulator, recorder, { maxRequestBytes: 65_536 });
  const heard = listen(layer);
  const io = new Submitter(layer);
  layer.plug();
  for (let block = 0; block < 200; block += 2) io.send(write, block, 2);
  layer.unplug();
  const blocks = (letter: string): number =>
    heard
      .filter((line) => line.startsWith(`${letter} `))
      .reduce((sum, line) => sum + parseInt(line.split('+')[1], 10), 0);
  expect(blocks('Q')).toBe(200);
  expect(blocks('G') + blocks('M') + blocks('F')).toBe(200);
  expect(blocks('D')).toBe(200);
  expect(blocks('C')).toBe(200);
  expect(recorder.length).toBe(layer.stats.issued);
  expect(layer.stats.issued).toBe(13);
});

import { BlockFlag, BlockOp, BlockRequest, BlockStatus, MemoryDevice } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BlockLayer } from '../src/index.js';
import { build, cached } from './slow-device.js';

const { read, write, flush } = BlockOp;

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

test('a request that is done may be used again at once, whatever its length then', () => {
  const device = new MemoryDevice({ blockCount: 64, features: cached });
  const layer = new BlockLayer(new Simulator(), device, { maxRequestBytes: 4096 });
  let done = 0;
  const request = new BlockRequest({
    ioDone(): void {
      if (++done > 1) return;
      request.block = 8;
      request.count = 5;
      layer.submit(request);
    },
  });
  request.op = write;
  request.count = 2;
  layer.submit(request);
  expect(done).toBe(2);
  expect(layer.stats.issued).toBe(7);
  expect(layer.stats.splits).toBe(5);
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

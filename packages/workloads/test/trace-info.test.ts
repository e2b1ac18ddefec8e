import { BlockFlag, BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Operation, TraceBuilder, traceInfo } from '../src/index.js';
import { fileInfo, openTrace } from '../src/node/index.js';

const { read, write, flush, discard } = BlockOp;

const row = fc.record({
  op: fc.constantFrom<number>(read, write, flush, discard),
  timeNs: fc.nat(1000),
  offsetBytes: fc.nat(400).map((sector) => sector * 512),
  lengthBytes: fc.integer({ min: 1, max: 64 }).map((sectors) => sectors * 512),
  flow: fc.nat(2),
  responseNs: fc.nat(3),
});

test('every figure agrees with a naive summary', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 80 }), (given) => {
      const rows = given.map((one) => (one.op === flush ? { ...one, offsetBytes: 0, lengthBytes: 0 } : one));
      const builder = new TraceBuilder();
      for (const one of rows) builder.add(Object.assign(new Operation(), one));
      const info = traceInfo(builder.build('x', 'y').source(), (flow) => `v${flow}`);

      const pages = (of: typeof rows): number =>
        new Set(
          of.flatMap((one) => {
            const first = Math.floor(one.offsetBytes / 4096);
            const last = Math.ceil((one.offsetBytes + one.lengthBytes) / 4096);
            return Array.from({ length: last - first }, (_, i) => `${one.flow}:${first + i}`);
          }),
        ).size * 4096;
      const moving = rows.filter((one) => one.op !== flush);
      const sequential = moving.map((one, i) => {
        const before = moving.slice(0, i).filter((other) => other.flow === one.flow);
        const last = before.at(-1);
        return last !== undefined && last.offsetBytes + last.lengthBytes === one.offsetBytes;
      });
      for (const [name, op] of [
        ['read', read],
        ['write', write],
        ['discard', discard],
      ] as const) {
        const of = rows.filter((one) => one.op === op);
        const hits = moving.filter((one, i) => one.op === op && sequential[i]).length;
        expect(info[name]).toEqual({
          requests: of.length,
          bytes: of.reduce((sum, one) => sum + one.lengthBytes, 0),
          sequentialShare: of.length === 0 ? 0 : hits / of.length,
          footprintBytes: pages(of),
        });
      }
      const times = rows.map((one) => one.timeNs);
      expect(info).toMatchObject({
        requests: rows.length,
        flushes: rows.filter((one) => one.op === flush).length,
        spanNs: Math.max(...times) - Math.min(...times),
        outOfOrder: times.filter((time, i) => i > 0 && time < times[i - 1]).length,
        responses: rows.filter((one) => one.responseNs > 0).length,
        startByte: Math.min(
          ...moving.map((one) => one.offsetBytes),
          moving.length === 0 ? 0 : Number.POSITIVE_INFINITY,
        ),
        endByte: Math.max(0, ...moving.map((one) => one.offsetBytes + one.lengthBytes)),
        footprintBytes: pages(moving),
        unaligned: moving.filter((one) => one.offsetBytes % 4096 !== 0 || one.lengthBytes % 4096 !== 0).length,
      });
      const moved = rows.filter((one) => one.op <= write);
      const counted = info.sizes.reduce((sum, one) => sum + one.reads + one.writes, 0);
      expect(counted).toBe(moved.length);
      for (const { fromBytes, toBytes, reads, writes } of info.sizes) {
        const inside = moved.filter((one) => one.lengthBytes >= fromBytes && one.lengthBytes < toBytes);
        expect([reads, writes]).toEqual([read, write].map((op) => inside.filter((one) => one.op === op).length));
      }
      expect(info.volumes.map((volume) => volume.name)).toEqual([...new Set(rows.map((one) => `v${one.flow}`))]);
      expect(info.volumes.reduce((sum, volume) => sum + volume.requests, 0)).toBe(rows.length);
    }),
    { numRuns: process.env.CI === undefined ? 100 : 2000, seed: 9 },
  );
});

test('flags, common sizes and the file itself', async () => {
  const url = fixtureUrl('copy-remove.blktrace.gz');
  const { info, source } = await fileInfo(url);
  const { trace } = await openTrace(url);
  expect(info).toEqual(traceInfo(trace.source(), source.volumeName));
  expect(source).toMatchObject({ compression: 'gzip', counts: { operations: trace.length, badLines: 0 } });
  expect(source.format.name).toBe('blktrace');
  const preflushes = Array.from(trace.flags).filter((flags) => (flags & BlockFlag.preflush) !== 0).length;
  expect(info.preflush).toBe(preflushes);
  const [common] = info.commonSizes;
  const sizes = Array.from(trace.lengthsBytes).filter((_, i) => trace.ops[i] <= write);
  expect(common.requests).toBe(sizes.filter((size) => size === common.bytes).length);
  expect(info.commonSizes.length).toBeLessThanOrEqual(10);
});

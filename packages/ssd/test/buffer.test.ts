import { BlockFlag, BlockOp, BlockRequest, BlockStatus, submitAndWait } from '@flashstack/block-device';
import { SimulationError, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { bufferedDrive, lazyDrive, pageMapOf, plainDrive, protectedDrive, wideDrive } from './small-drives.js';

const SLOT = 8;

function start(config: SsdConfig): { ssd: Ssd; simulator: Simulator; programs: () => number; reads: () => number } {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, config);
  const { counts } = ssd.flash.scheduler;
  return { ssd, simulator, programs: () => counts.total(counts.programs), reads: () => counts.total(counts.reads) };
}

function send(ssd: Ssd, op: number, block: number, count: number, flags = 0): BlockRequest {
  const request = new BlockRequest({ ioDone: () => undefined });
  request.op = op;
  request.block = block;
  request.count = count;
  request.flags = flags;
  request.status = -1;
  ssd.submit(request);
  return request;
}

describe('the write buffer', () => {
  test('absorbs overwrites until it drains: one program for many writes', () => {
    const { ssd, simulator, programs } = start(lazyDrive);
    for (let i = 0; i < 10; i++) submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
    simulator.drain();
    expect(programs()).toBe(0);
    submitAndWait(simulator, ssd, { op: BlockOp.flush });
    simulator.drain();
    expect(ssd.flash.ftl.stats.host).toBe(1);
    expect(ssd.stats.counters.bufferOverwrites).toBe(9);
  });

  test('drains from the high to the low watermark', () => {
    const { ssd, simulator } = start(lazyDrive);
    const { slots, highWatermark, lowWatermark } = lazyDrive.buffer as NonNullable<SsdConfig['buffer']>;
    const fill = slots * highWatermark;
    for (let i = 0; i < fill; i++) submitAndWait(simulator, ssd, { op: BlockOp.write, block: i * SLOT, count: SLOT });
    simulator.drain();
    expect(ssd.flash.ftl.stats.host).toBe(0);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: fill * SLOT, count: SLOT });
    simulator.drain();
    expect(ssd.flash.ftl.stats.host).toBe(fill + 1 - slots * lowWatermark);
  });

  test('serves reads, also of parts', () => {
    const { ssd, simulator, reads } = start(lazyDrive);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: 3, tags: Uint32Array.of(5, 6, 7) });
    const tags = new Uint32Array(2);
    submitAndWait(simulator, ssd, { op: BlockOp.read, block: 1, count: 2, tags });
    expect([...tags]).toEqual([6, 7]);
    expect(reads()).toBe(0);
    expect(ssd.stats.counters.bufferReadHits).toBe(1);
  });

  test('makes writes wait when it is full, and loses none', () => {
    const { ssd, simulator } = start(bufferedDrive);
    for (let i = 0; i < 200; i++) send(ssd, BlockOp.write, (i % 80) * SLOT, SLOT);
    simulator.drain();
    ssd.assertDrained();
    expect(ssd.stats.counters.bufferFullWaits).toBeGreaterThan(0);
    // Of the time that a request had a command slot, most went by waiting for room.
    const { queue, link, ...inside } = ssd.stats.kinds.write.phases.slowest(0.1);
    const total = Object.values(inside).reduce((sum, ns) => sum + ns, 0);
    expect(queue).toBeGreaterThan(0);
    expect(link).toBeGreaterThan(0);
    expect(inside.buffer + inside.gc).toBeGreaterThan(0.5 * total);
  });
});

describe('writes of part of a slot', () => {
  for (const config of [plainDrive, bufferedDrive]) {
    test(`read the rest from flash only if there is any: ${config.name}`, () => {
      const { ssd, simulator, programs, reads } = start(config);
      submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
      submitAndWait(simulator, ssd, { op: BlockOp.write, block: 5 * SLOT + 1, count: 2 });
      simulator.drain();
      expect([programs(), reads()]).toEqual([2, 0]);
      submitAndWait(simulator, ssd, { op: BlockOp.write, block: 2, count: 3 });
      simulator.drain();
      expect([programs(), reads()]).toEqual([3, 1]);
      expect(ssd.stats.counters.readModifyWrites).toBe(2);
    });
  }

  test('take the rest from a version that is still being programmed', () => {
    const { ssd, simulator, reads } = start(bufferedDrive);
    const first = Uint32Array.from({ length: SLOT }, (_, i) => 100 + i);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT, tags: first });
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 1, count: 1, tags: Uint32Array.of(999) });
    simulator.drain();
    expect(reads()).toBe(0);
    const tags = new Uint32Array(SLOT);
    submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT, tags });
    expect([...tags]).toEqual([100, 999, 102, 103, 104, 105, 106, 107]);
  });
});

describe('order and durability', () => {
  test('a write that overlaps one under way waits for it; others do not', () => {
    const { ssd, simulator } = start(plainDrive);
    send(ssd, BlockOp.write, 0, 4 * SLOT);
    send(ssd, BlockOp.write, 4 * SLOT, SLOT);
    expect(ssd.stats.counters.overlapWaits).toBe(0);
    send(ssd, BlockOp.write, 2 * SLOT + 3, 1);
    send(ssd, BlockOp.discard, 0, SLOT);
    expect(ssd.stats.counters.overlapWaits).toBe(2);
    simulator.drain();
    ssd.assertDrained();
  });

  test('PREFLUSH and FUA together leave nothing in the buffer unprogrammed', () => {
    const { ssd, simulator } = start(wideDrive);
    for (let i = 0; i < 5; i++) submitAndWait(simulator, ssd, { op: BlockOp.write, block: i * SLOT, count: SLOT });
    const flags = BlockFlag.preflush | BlockFlag.fua;
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 9 * SLOT, count: SLOT, flags });
    expect(ssd.flash.ftl.stats.host).toBe(6);
    expect(ssd.flash.ftl.stats.pending).toBe(0);
  });

  test('discards drop what is buffered and touch no flash', () => {
    const { ssd, simulator, programs } = start(lazyDrive);
    for (let i = 0; i < 4; i++) submitAndWait(simulator, ssd, { op: BlockOp.write, block: i * SLOT, count: SLOT });
    submitAndWait(simulator, ssd, { op: BlockOp.discard, block: 0, count: 4 * SLOT });
    const data = new Uint8Array(4 * SLOT * 512).fill(1);
    submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: 4 * SLOT, data });
    expect(data.every((byte) => byte === 0)).toBe(true);
    expect(programs()).toBe(0);
  });
});

describe('conservation and power', () => {
  test('a request in flight at the end is an error that says where it is', () => {
    const { ssd, simulator } = start(plainDrive);
    send(ssd, BlockOp.write, 0, SLOT);
    expect(() => ssd.assertDrained()).toThrow(SimulationError);
    expect(() => ssd.assertDrained()).toThrow('1 submitted, 0 done, 0 cut by power loss, 1 in flight (1 under way');
    simulator.drain();
    ssd.assertDrained();
  });

  test('without power requests fail at once; after it the drive goes on', () => {
    const { ssd, simulator } = start(plainDrive);
    const cut = send(ssd, BlockOp.write, 0, SLOT);
    ssd.powerCut();
    ssd.powerCut();
    expect(send(ssd, BlockOp.read, 0, SLOT).status).toBe(BlockStatus.powerLost);
    simulator.drain();
    expect(cut.status).toBe(-1);
    expect(ssd.powerOn()).toBeGreaterThanOrEqual(0);
    expect(submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT })).toBe(0);
    ssd.assertDrained();
    expect(ssd.stats.cut).toBe(1);
  });

  test('a protected drive finishes what it has taken before it serves new requests, over several cuts too', () => {
    const { ssd, simulator } = start(protectedDrive);
    const order: number[] = [];
    const read = (cookie: number): void => {
      const request = new BlockRequest({ ioDone: (done) => order.push(done.cookie, (done.tags as Uint32Array)[0]) });
      request.op = BlockOp.read;
      request.count = 1;
      request.tags = new Uint32Array(1);
      request.cookie = cookie;
      ssd.submit(request);
    };
    const lost = new BlockRequest({ ioDone: () => order.push(-1) });
    lost.op = BlockOp.write;
    lost.count = 1;
    lost.tags = Uint32Array.of(77);
    ssd.submit(lost);
    ssd.powerCut();
    expect(ssd.powerOn()).toBe(0);
    read(1);
    ssd.powerCut();
    ssd.powerOn();
    read(2);
    simulator.drain();
    expect(order).toEqual([2, 77]);
    ssd.assertDrained();
    expect(ssd.stats.cut).toBe(2);
  });

  test('a drive that keeps nothing cannot recover, and says so', () => {
    const { ssd } = start({ ...plainDrive, keeps: 'nothing' });
    ssd.powerCut();
    expect(() => ssd.powerOn()).toThrow("keeps: 'nothing'");
  });

  test('a worn-out drive refuses writes with a status', () => {
    const { ssd, simulator } = start(plainDrive);
    pageMapOf(ssd).upkeep.readOnly = true;
    const status = submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
    expect(status).toBe(BlockStatus.readOnly);
    expect(submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT })).toBe(0);
  });

  test('a buffered write that flash refuses is reported by the next flush, once', () => {
    const { ssd, simulator } = start(bufferedDrive);
    pageMapOf(ssd).upkeep.readOnly = true;
    expect(submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT })).toBe(0);
    simulator.drain();
    expect(ssd.stats.counters.lostWrites).toBe(1);
    expect(submitAndWait(simulator, ssd, { op: BlockOp.flush })).toBe(BlockStatus.ioError);
    expect(submitAndWait(simulator, ssd, { op: BlockOp.flush })).toBe(0);
  });
});

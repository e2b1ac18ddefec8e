import { BlockOp, BlockRequest, submitAndWait } from '@flashstack/block-device';
import { transferNs } from '@flashstack/nand-device';
import { Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type FirmwareConfig, freeFirmware, Ssd, type SsdConfig } from '../src/index.js';
import { ClosedLoop } from './closed-loop.js';
import { plainDrive, smallNand } from './small-drives.js';

const SLOT = 8;
const READ_NS = 20_000;
const geometry = { ...smallNand.geometry, channels: 8, ways: 1, planes: 1, blocksPerPlane: 48 };

/** Eight channels of one die each, nothing on the way but the controller's cores. */
const drive: SsdConfig = {
  ...plainDrive,
  name: 'cores',
  capacityBytes: 4800 * 4096,
  nand: { ...smallNand, geometry, timing: { ...smallNand.timing, readNs: [50_000, 50_000] } },
  link: null,
  firmware: freeFirmware,
  queue: { depth: 1024, queues: 1 },
  scheduler: { kind: 'event', policy: 'outOfOrder', bus: 'arbitrate' },
  keeps: 'nothing',
};
const { timing } = drive.nand;
const xferNs = transferNs(geometry.slotBytes, timing.channelBytesPerSec);
const arrayReadNs = timing.commandNs + timing.readNs[0] + xferNs;

function make(firmware: Partial<FirmwareConfig>): { ssd: Ssd; metrics: () => Record<string, number> } {
  const ssd = new Ssd(new Simulator(), { ...drive, firmware: { ...freeFirmware, ...firmware } });
  const registry = new StatsRegistry();
  ssd.registerStats(registry);
  return { ssd, metrics: () => registry.read() };
}

function randomReads(firmware: Partial<FirmwareConfig>): ReturnType<typeof make> & { iops: number } {
  const made = make(firmware);
  made.ssd.precondition('fill');
  const options = { op: BlockOp.read, depth: 1024, blocks: SLOT, requests: 40_000, pattern: 'random' } as const;
  return { ...made, iops: new ClosedLoop(made.ssd, options).run().perSecond };
}

/** What eight dies, or eight channels, allow if they are busy all the time. */
const arrayBound = Math.min(8e9 / arrayReadNs, 8e9 / (timing.commandNs + xferNs));

describe('random reads scale with the cores until the array is saturated', () => {
  for (const binding of ['channel', 'lpn', 'leastLoaded'] as const) {
    for (const cores of [1, 2, 4]) {
      const bound = Math.min((cores * 1e9) / READ_NS, arrayBound);
      test(`${cores} cores bound by ${binding}: ${Math.round(bound / 1000)} k IOPS`, () => {
        const { ssd, iops, metrics } = randomReads({ cores, binding, readNs: READ_NS });
        expect(iops / bound).toBeGreaterThan(0.97);
        expect(iops / bound).toBeLessThan(1.001);
        const { firmware, die, gc, bus, array, transfer } = ssd.stats.kinds.read.phases.slowest(1);
        const busy = metrics();
        if (cores === 4) {
          expect(die + gc + bus + array + transfer).toBeGreaterThan(firmware);
          expect(busy['firmware.busyFraction']).toBeLessThan(0.75);
        } else {
          // Where the cores are the limit, requests spend their time waiting for them.
          expect(firmware).toBeGreaterThan(5 * (die + gc + bus + array + transfer));
          expect(busy['firmware.busyFraction']).toBeGreaterThan(0.95);
        }
        expect(busy['firmware.busyFraction.max']).toBeGreaterThanOrEqual(busy['firmware.busyFraction']);
      });
    }
  }
});

describe('cores that share the channels out', () => {
  const cost = { readNs: 5_000, readSlotNs: 2_000, readPipelineNs: 700 };

  test.each([
    [1, 3 * 2_000],
    [2, 2_000],
    [4, 0],
  ])('%i of them take a read of four slots in pieces, side by side', (cores, moreNs) => {
    const { ssd } = make({ binding: 'channel', cores, ...cost });
    ssd.precondition('fill');
    expect(submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 0, count: 4 * SLOT })).toBe(0);
    expect(ssd.simulator.now).toBe(5_000 + 700 + moreNs + arrayReadNs);
  });

  test('a core takes the slots of its channels only', () => {
    const { ssd, metrics } = make({ binding: 'channel', cores: 4, readNs: 1_000 });
    ssd.precondition('fill');
    for (let i = 0; i < 10; i++) {
      submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 4 * i * SLOT, count: SLOT });
    }
    const busy = metrics();
    expect(busy['firmware.busyFraction.max'] * ssd.simulator.now).toBeCloseTo(10_000, 6);
    expect(busy['firmware.busyFraction'] * ssd.simulator.now * 4).toBeCloseTo(10_000, 6);
  });

  test('a write and a discard wait for the slowest piece, a flush for every core', () => {
    const { ssd } = make({
      binding: 'channel',
      cores: 2,
      writeNs: 6_000,
      writeSlotNs: 500,
      flushNs: 900,
      discardNs: 70,
    });
    const took = (op: number, slots: number): number => {
      const from = ssd.simulator.now;
      submitAndWait(ssd.simulator, ssd, { op, block: 0, count: slots * SLOT });
      return ssd.simulator.now - from;
    };
    const firmwareOf = (kind: 'write' | 'flush' | 'discard'): number =>
      ssd.stats.kinds[kind].phases.slowest(1).firmware;
    took(BlockOp.write, 5);
    expect(firmwareOf('write')).toBe(6_000 + 2 * 500);
    took(BlockOp.flush, 0);
    expect(firmwareOf('flush')).toBe(900);
    took(BlockOp.discard, 5);
    expect(firmwareOf('discard')).toBe(70);
  });
});

describe('the host-interface core', () => {
  test('adds its time to every command', () => {
    const times = [0, 1_300].map((hostNs) => {
      const { ssd } = make({ hostCore: true, hostNs, readNs: 4_000, writeNs: 4_000 });
      submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT });
      submitAndWait(ssd.simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
      return ssd.simulator.now;
    });
    expect(times[1] - times[0]).toBe(2 * 1_300);
  });

  test('is the limit if it is slower than the cores behind it', () => {
    const { iops, metrics } = randomReads({ cores: 4, readNs: 1_000, hostCore: true, hostNs: 16_000 });
    expect(iops / (1e9 / 16_000)).toBeGreaterThan(0.97);
    expect(iops / (1e9 / 16_000)).toBeLessThan(1.001);
    expect(metrics()['firmware.hostCore.busyFraction']).toBeGreaterThan(0.95);
    expect(metrics()['firmware.busyFraction']).toBeLessThan(0.05);
  });
});

describe('relocation takes firmware time', () => {
  const PAGE_NS = 600_000;
  const writes = { op: BlockOp.write, depth: 32, blocks: SLOT, requests: 30_000, pattern: 'random' } as const;

  function randomWrites(firmware: Partial<FirmwareConfig>): {
    perSecond: number;
    bound: number;
    ssd: Ssd;
    busy: Record<string, number>;
  } {
    const { ssd, metrics } = make(firmware);
    ssd.precondition('fill');
    const { perSecond } = new ClosedLoop(ssd, { ...writes, warmup: 0.5 }).run();
    const { stats } = ssd.flash.ftl;
    const pagesPerWrite = (stats.moveReads + stats.copybacks) / stats.host;
    return { perSecond, bound: 1e9 / (pagesPerWrite * PAGE_NS), ssd, busy: metrics() };
  }

  test('on a core of its own, which holds writes up when it falls behind', () => {
    const { perSecond, bound, ssd, busy } = randomWrites({ gcCore: true, gcPageNs: PAGE_NS });
    expect(perSecond / bound).toBeGreaterThan(0.97);
    expect(perSecond / bound).toBeLessThan(1.03);
    expect(busy['firmware.gcCore.busyFraction']).toBeGreaterThan(0.97);
    expect(busy['firmware.gcCore.busyFraction']).toBeLessThanOrEqual(1);
    expect(busy['firmware.busyFraction']).toBe(0);
    const phases = ssd.stats.kinds.write.phases.slowest(1);
    expect(phases.gc).toBeGreaterThan(0.5 * ssd.stats.kinds.write.latencyNs.mean);
  });

  test('on the cores that carry out commands, if there is no other', () => {
    const { perSecond, bound, ssd, busy } = randomWrites({ gcPageNs: PAGE_NS, writeNs: 1_000 });
    expect(perSecond / bound).toBeGreaterThan(0.95);
    expect(perSecond / bound).toBeLessThan(1.03);
    expect(busy['firmware.busyFraction']).toBeGreaterThan(0.97);
    expect(busy['firmware.busyFraction']).toBeLessThanOrEqual(1);
    expect(ssd.stats.kinds.write.phases.slowest(1).firmware).toBeGreaterThan(
      0.5 * ssd.stats.kinds.write.latencyNs.mean,
    );
  });

  test('is free by default', () => {
    const { busy } = randomWrites({ writeNs: 1_000 });
    expect(busy['firmware.busyFraction']).toBeLessThan(0.2);
    expect(busy['firmware.gcCore.busyFraction']).toBeUndefined();
  });
});

describe('busy shares are of the time that was observed', () => {
  const slow = { cores: 2, binding: 'lpn', readNs: 30_000, writeNs: 40_000 } as const;

  /** The drive with a slow link in front, and its metrics; work is booked ahead on all of them. */
  function busyDrive(firmware: Partial<FirmwareConfig>, duplex: 'full' | 'half'): ReturnType<typeof make> {
    const link = { readBytesPerSec: 5e7, writeBytesPerSec: 5e7, duplex, commandNs: 100, chunkBytes: 8192 };
    const ssd = new Ssd(new Simulator(), { ...drive, link, firmware: { ...freeFirmware, ...firmware } });
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    ssd.precondition('fill');
    return { ssd, metrics: () => registry.read() };
  }

  function submitMany(ssd: Ssd, count: number): void {
    for (let i = 0; i < count; i++) {
      const request = new BlockRequest({ ioDone: () => undefined });
      request.op = i % 3 === 0 ? BlockOp.read : BlockOp.write;
      request.block = ((i * 37) % 400) * SLOT;
      request.count = SLOT * (1 + (i % 3));
      ssd.submit(request);
    }
  }

  test.each(['full', 'half'] as const)('at any moment, also after a reset in the middle (%s duplex)', (duplex) => {
    const shares = (busy: Record<string, number>): number[] => [
      duplex === 'half'
        ? busy['link.read.busyFraction'] + busy['link.write.busyFraction']
        : Math.max(busy['link.read.busyFraction'], busy['link.write.busyFraction']),
      busy['firmware.busyFraction'],
      busy['firmware.hostCore.busyFraction'],
    ];
    const whole = busyDrive({ ...slow, hostCore: true, hostNs: 3_000 }, duplex);
    submitMany(whole.ssd, 300);
    const until = (ssd: Ssd, ns: number): void => {
      ssd.simulator.runUntil(ns);
    };
    let most = 0;
    for (let ns = 10_000; ns < 2_000_000; ns += 70_000) {
      until(whole.ssd, ns);
      for (const share of shares(whole.metrics())) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
        most = Math.max(most, share);
      }
    }
    expect(most).toBeGreaterThan(0.9);

    // Counted in two parts, the time comes out the same.
    const parted = busyDrive({ ...slow, hostCore: true, hostNs: 3_000 }, duplex);
    submitMany(parted.ssd, 300);
    const [first, second] = [1_000_010, 1_960_000];
    until(parted.ssd, first);
    const before = shares(parted.metrics());
    parted.ssd.resetStats();
    until(parted.ssd, first + second);
    const after = shares(parted.metrics());
    until(whole.ssd, first + second);
    for (const [at, share] of shares(whole.metrics()).entries()) {
      expect(before[at] * first + after[at] * second).toBeCloseTo(share * (first + second), 4);
      expect(after[at]).toBeLessThanOrEqual(1);
    }
  });
});

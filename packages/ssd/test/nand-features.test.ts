import { BlockOp, BlockRequest } from '@flashstack/block-device';
import { defaultFeatures, type NandFeatures, transferNs } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { freeFirmware, type SchedulerConfig, Ssd, type SsdConfig } from '../src/index.js';
import { ClosedLoop } from './closed-loop.js';
import { plainDrive, smallNand } from './small-drives.js';

const SLOT = 8;
const timing = { ...smallNand.timing, readNs: [50_000, 50_000], programNs: [500_000, 500_000] };
const geometry = { ...smallNand.geometry, channels: 1, ways: 1, planes: 1, blocksPerPlane: 24, pagesPerBlock: 64 };
const event: SchedulerConfig = { kind: 'event', policy: 'outOfOrder', bus: 'arbitrate' };

/** One plane; nothing on the way to it takes time. */
const onePlane: SsdConfig = {
  ...plainDrive,
  name: 'one-plane',
  capacityBytes: 1000 * 4096,
  nand: { ...smallNand, geometry, timing },
  link: null,
  firmware: freeFirmware,
  queue: { depth: 256, queues: 1 },
  keeps: 'nothing',
};

function withFeatures(drive: SsdConfig, features: Partial<NandFeatures>, more: Partial<SsdConfig> = {}): SsdConfig {
  return { ...drive, ...more, nand: { ...drive.nand, features: { ...defaultFeatures, ...features } } };
}

function send(ssd: Ssd, op: number, slot: number, slots = 1): BlockRequest {
  const request = new BlockRequest({ ioDone: () => undefined });
  request.op = op;
  request.block = slot * SLOT;
  request.count = slots * SLOT;
  ssd.submit(request);
  return request;
}

/** Time of `pages` requests for one page each, sent together to the pages of one block, ns. */
function took(config: SsdConfig, op: number, pages: number): number {
  const ssd = new Ssd(new Simulator(), config);
  if (op === BlockOp.read) ssd.precondition('fill');
  for (let page = 0; page < pages; page++) send(ssd, op, page);
  ssd.simulator.drain();
  ssd.assertDrained();
  return Math.max(ssd.stats.kinds.read.latencyNs.max, ssd.stats.kinds.write.latencyNs.max);
}

const PAGES = 60;
const { commandNs, tCbsyNs, tRcbsyNs, channelBytesPerSec } = timing;
const programDataNs = transferNs(geometry.pageBytes + geometry.oobBytes, channelBytesPerSec);
const readDataNs = transferNs(geometry.slotBytes, channelBytesPerSec);

describe('the page cache register, nand.features.cacheRegister', () => {
  for (const kind of ['timeline', 'event'] as const) {
    const scheduler = { ...event, kind };
    test(`without it transfers and array times add up, ${kind}`, () => {
      const config = withFeatures(onePlane, { cacheRegister: false }, { scheduler });
      expect(took(config, BlockOp.write, PAGES)).toBe(PAGES * (commandNs + programDataNs + 500_000));
      expect(took(config, BlockOp.read, PAGES)).toBe(PAGES * (commandNs + 50_000 + readDataNs));
    });
  }
  test('with it the data of a program comes in while the array works on the one before', () => {
    const config = withFeatures(onePlane, { cacheRegister: true }, { scheduler: event });
    // The first finds nobody behind it and is a plain program, and the last has nobody behind it.
    const expected = 2 * (commandNs + programDataNs) + PAGES * 500_000 + (PAGES - 2) * tCbsyNs;
    expect(took(config, BlockOp.write, PAGES)).toBe(expected);
  });

  test('with it a page leaves over the bus while the array reads the next', () => {
    const config = withFeatures(onePlane, { cacheRegister: true }, { scheduler: event });
    // The first finds nobody behind it; the others make runs of nine pages.
    const runs = Math.ceil((PAGES - 1) / 9);
    const plain = commandNs + 50_000 + readDataNs;
    expect(took(config, BlockOp.read, PAGES)).toBe(
      plain + (PAGES - 1) * (50_000 + tRcbsyNs) + runs * (commandNs + readDataNs),
    );
  });

  test('reads are bound by the bus if that is slower than the array', () => {
    const slow = {
      ...onePlane,
      nand: { ...onePlane.nand, timing: { ...timing, readNs: [20_000, 20_000], channelBytesPerSec: 100e6 } },
    };
    const dataNs = transferNs(geometry.slotBytes, 100e6);
    const config = withFeatures(slow, { cacheRegister: true }, { scheduler: event });
    const ideal = PAGES * (dataNs + tRcbsyNs);
    const runs = Math.ceil((PAGES - 1) / 9);
    // A run begins with a command and a page that nothing hides.
    expect(took(config, BlockOp.read, PAGES)).toBeLessThan(ideal + (runs + 1) * (commandNs + 20_000) + 1);
    expect(took(config, BlockOp.read, PAGES)).toBeGreaterThan(PAGES * dataNs);
  });
});

/** Two channels of two dies with two planes each. */
const fourDies: SsdConfig = {
  ...onePlane,
  name: 'four-dies',
  capacityBytes: 1400 * 4096,
  nand: { ...onePlane.nand, geometry: { ...smallNand.geometry, blocksPerPlane: 18 } },
};

describe('multi-plane commands, nand.features.multiPlane and ftl.multiPlane', () => {
  test.each([
    [true, true, true],
    [true, false, false],
    [false, undefined, false],
  ])('part %s, FTL %s: one program for both planes: %s', (part, ftl, together) => {
    const domain = { domain: 'die' as const, ...(ftl === undefined ? {} : { multiPlane: ftl }) };
    const ssd = new Ssd(
      new Simulator(),
      withFeatures(fourDies, { multiPlane: part }, { ftl: domain, scheduler: { ...event, policy: 'fifo' } }),
    );
    // A row of pages over all planes of one channel's first die each.
    send(ssd, BlockOp.write, 0, 8);
    ssd.simulator.drain();
    const both = 2 * (commandNs + programDataNs) + timing.tDbsyNs + 500_000;
    const apart = 2 * (commandNs + programDataNs + 500_000);
    const { max } = ssd.stats.kinds.write.latencyNs;
    // The second die of the channel waits for the bus.
    if (together) expect(max).toBe(both + 2 * (commandNs + programDataNs) + timing.tDbsyNs);
    else expect(max).toBeGreaterThanOrEqual(apart);
  });
});

/** Random overwrites of a full drive; what is counted from the second half on. */
function overwrite(config: SsdConfig, requests = 6000): Ssd {
  const ssd = new Ssd(new Simulator(), config);
  ssd.precondition('fill');
  const { blocks, depth } = { blocks: SLOT, depth: 8 };
  new ClosedLoop(ssd, { op: BlockOp.write, depth, blocks, requests, pattern: 'random' }).run();
  return ssd;
}

describe('copyback, nand.features.copyback and ftl.copyback', () => {
  // Where pages share word lines, the FTL arranges what it relocates by them and does not use copyback.
  const slc: SsdConfig = {
    ...fourDies,
    nand: {
      ...fourDies.nand,
      geometry: { ...fourDies.nand.geometry, cellBits: 1 },
      timing: { ...timing, readNs: [50_000], programNs: [500_000] },
    },
  };

  test('relocated pages do not cross the bus', () => {
    const run = (copyback: boolean): { busPerWrite: number; copybacks: number; moveReads: number } => {
      const ssd = overwrite(withFeatures(slc, { copyback, maxCopybacks: 200 }, { ftl: { copyback } }));
      const { stats } = ssd.flash.ftl;
      const bus = ssd.flash.scheduler.channelBusyNs.reduce((sum, ns) => sum + ns, 0);
      return { busPerWrite: bus / stats.host, copybacks: stats.copybacks, moveReads: stats.moveReads };
    };
    const [off, on] = [run(false), run(true)];
    expect(off.copybacks).toBe(0);
    expect(on.copybacks).toBeGreaterThan(10 * on.moveReads);
    // What is left are the data of host writes.
    expect(on.busPerWrite).toBeLessThan(programDataNs + 10 * commandNs);
    expect(off.busPerWrite).toBeGreaterThan(1.5 * on.busPerWrite);
  });
});

/** Reads one at a time on a drive that is written to all the while. */
function readsAmongWrites(config: SsdConfig): { meanNs: number; maxNs: number } {
  const ssd = new Ssd(new Simulator(), config);
  ssd.precondition('fill');
  const writes = new ClosedLoop(ssd, {
    op: BlockOp.write,
    depth: 12,
    blocks: SLOT,
    requests: 4000,
    pattern: 'random',
    warmup: 0.005,
  });
  const random = new RandomSource(3).stream('reads');
  let left = 600;
  const reader = new BlockRequest({
    ioDone: (request) => {
      if (left-- <= 0) return;
      request.block = random.below(ssd.blockCount / SLOT) * SLOT;
      ssd.submit(request);
    },
  });
  reader.op = BlockOp.read;
  reader.count = SLOT;
  ssd.submit(reader);
  writes.run();
  const { latencyNs } = ssd.stats.kinds.read;
  return { meanNs: latencyNs.mean, maxNs: latencyNs.max };
}

describe('suspension and priority of reads', () => {
  const policy = (name: SchedulerConfig['policy']): SchedulerConfig => ({ ...event, policy: name });

  test('scheduler.policy readFirst lets reads pass programs', () => {
    const fifo = readsAmongWrites(withFeatures(fourDies, {}, { scheduler: policy('fifo') }));
    const first = readsAmongWrites(withFeatures(fourDies, {}, { scheduler: policy('readFirst') }));
    expect(first.meanNs).toBeLessThan(0.6 * fifo.meanNs);
  });

  test('nand.features.suspend spares them the rest of a program or erase', () => {
    const worst = (['none', 'erase', 'program+erase'] as const).map((suspend) =>
      readsAmongWrites(withFeatures(fourDies, { suspend }, { scheduler: policy('readFirst') })),
    );
    const [none, erase, both] = worst;
    // Behind an erase of 3 ms; behind a program; behind neither.
    expect(none.maxNs).toBeGreaterThan(timing.eraseNs * 0.8);
    expect(erase.maxNs).toBeLessThan(timing.eraseNs * 0.5);
    expect(both.meanNs).toBeLessThan(0.7 * erase.meanNs);
  });
});

describe('background garbage collection in idle time, ftl.gcMode and idleNs', () => {
  test('spares the writes that follow', () => {
    const run = (idleNs: number): { idleRuns: number; gcNs: number } => {
      const ftl = { gcMode: 'background', gcHigh: 6 } as const;
      const ssd = new Ssd(new Simulator(), { ...fourDies, ftl, idleNs });
      ssd.precondition('fill');
      const random = new RandomSource(5).stream('writes');
      let idleRuns = 0;
      for (let burst = 0; burst < 40; burst++) {
        for (let i = 0; i < 30; i++) send(ssd, BlockOp.write, random.below(1400));
        while (ssd.requestsInFlight > 0) ssd.simulator.runUntil(ssd.simulator.now + 100_000);
        const before = ssd.flash.ftl.stats.runs[0];
        ssd.simulator.runUntil(ssd.simulator.now + 200_000_000);
        idleRuns += ssd.flash.ftl.stats.runs[0] - before;
      }
      return { idleRuns, gcNs: ssd.stats.kinds.write.phases.slowest(1).gc };
    };
    const [off, on] = [run(0), run(1_000_000)];
    expect(off.idleRuns).toBe(0);
    expect(on.idleRuns).toBeGreaterThan(20);
    expect(on.gcNs).toBeLessThan(0.5 * off.gcNs);
  });
});

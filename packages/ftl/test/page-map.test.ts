import { defaultReliability, InstantScheduler, NandArray, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import {
  allocationOrders,
  type FtlOptions,
  FtlStatus,
  MoveReason,
  PageMapFtl,
  preconditionByWriting,
  unitsInOrder,
} from '../src/index.js';
import { bed, CountingClient, nandArray, nandConfig, write } from './support.js';

describe('options', () => {
  const shape = { blocksPerPlane: 32, pagesPerBlock: 16 };
  const refuse = (options: object, message: RegExp): void => {
    expect(() => bed(shape, { logicalSlots: 300, ...options } as FtlOptions)).toThrow(message);
  };

  test('unknown names come with a suggestion', () => {
    refuse({ victim: 'gredy' }, /Did you mean "greedy"/);
    refuse({ streams: 'hotcold' }, /Did you mean "hot-cold"/);
    refuse({ gcMode: 'tokens' }, /Did you mean "token"/);
    refuse({ victm: 'greedy' }, /Did you mean "victim"/);
    refuse({ victim: { name: 'd-choices', parameters: { d: 0 } } }, /d-choices.d is 0/);
    refuse({ order: 'CWDD' }, /one of the 24 permutations/);
    refuse({ allocation: 3 }, /Unknown ftl.allocation "3"/);
  });

  test('a strategy choice has a name and parameters, and nothing else', () => {
    refuse({ victim: { name: 'd-choices', d: 0 } }, /ftl\.victim\.d: .*"parameters":\{"d":0\}/);
    refuse({ victim: { name: 'greedy', d: 1 } }, /Unknown key of ftl\.victim "d"/);
    refuse({ victim: { name: 'd-choices', parametres: { d: 2 } } }, /Did you mean "parameters"/);
    refuse({ victim: { nam: 'greedy' } }, /Unknown key of ftl\.victim "nam"\. Did you mean "name"/);
    refuse({ victim: { name: 'd-choices', parameters: { q: 2 } } }, /Unknown parameter of d-choices "q"/);
    refuse({ victim: { name: 'windowed-greedy', parameters: { windw: 0.2 } } }, /Did you mean "window"/);
    refuse({ victim: { name: 'windowed-greedy', parameters: { window: 2 } } }, /window is 2/);
    refuse({ victim: { name: 'd-choices', parameters: 4 } }, /ftl\.victim\.parameters: found 4/);
    refuse({ victim: {} }, /ftl\.victim: found \{\}, expected the name of a victim policy/);
    refuse({ victim: null }, /ftl\.victim: found null/);
    refuse({ victim: ['greedy'] }, /ftl\.victim: found \["greedy"\]/);
    refuse({ streams: { name: 'host', maxStreams: 2 } }, /ftl\.streams\.maxStreams/);
    refuse({ streams: { name: 'host', parameters: { maxStreams: 0 } } }, /maxStreams is 0/);
    refuse({ streams: 4 }, /ftl\.streams: found 4/);
  });

  test('wear levelling checks the parameters of its kind', () => {
    refuse({ wearLevelling: { kind: 'treshold' } }, /Did you mean "threshold"/);
    refuse({ wearLevelling: { kind: 'threshold', dleta: 3 } }, /Did you mean "delta"/);
    refuse({ wearLevelling: { kind: 'threshold', delta: 0 } }, /ftl\.wearLevelling\.delta is 0/);
    refuse({ wearLevelling: { kind: 'threshold', interval: 0.5 } }, /ftl\.wearLevelling\.interval is 0\.5/);
    refuse({ wearLevelling: { kind: 'bet', delta: 3 } }, /Known: k, threshold/);
    refuse({ wearLevelling: { kind: 'bet', k: 31 } }, /from 0 to 30/);
    refuse({ wearLevelling: { kind: 'none', k: 1 } }, /Unknown parameter of ftl\.wearLevelling "k"/);
    refuse({ wearLevelling: 'bet' }, /ftl\.wearLevelling: found "bet"/);
    const { ftl } = bed(shape, { logicalSlots: 300, wearLevelling: { kind: 'bet', k: 2 } });
    expect(ftl.options.wearLevelling).toEqual({ kind: 'bet', k: 2, threshold: 100 });
  });

  test('thresholds must leave room for collection', () => {
    refuse({ gcHard: 0 }, /at least 1 blocks/);
    refuse({ gcHard: 2, gcLow: 2 }, /gcHard \+ 1/);
    refuse({ logicalSlots: 0 }, /at least 1/);
  });

  test('too little over-provisioning is refused, and the largest size that is named works', () => {
    let message = '';
    try {
      bed(shape, { logicalSlots: 500 });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/over-provisioning, too little/);
    const largest = Number(/at most (\d+) logical slots/.exec(message)?.[1]);
    const on = bed(shape, { logicalSlots: largest });
    for (let i = 0; i < 4 * largest; i++) write(on, (i * 7919 + (i >> 3)) % largest);
    on.ftl.inspect();
    expect(() => bed(shape, { logicalSlots: largest + 1 })).toThrow(/too little/);
  });
});

describe('allocation', () => {
  test('all 24 orders visit every unit once, fastest-varying letter first', () => {
    const { geometry } = nandArray({ channels: 2, ways: 3, dies: 2, planes: 2, blocksPerPlane: 4, pagesPerBlock: 4 });
    expect(allocationOrders).toHaveLength(24);
    for (const order of allocationOrders) {
      const units = unitsInOrder(geometry, order);
      expect([...units].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, i) => i));
    }
    const at = (order: string, i: number): object =>
      geometry.locate(geometry.ppn(unitsInOrder(geometry, order)[i] * 4, 0));
    expect(at('CWDP', 1)).toMatchObject({ channel: 1, way: 0, die: 0, plane: 0 });
    expect(at('PDWC', 1)).toMatchObject({ channel: 0, way: 0, die: 0, plane: 1 });
    expect(at('PDWC', 2)).toMatchObject({ channel: 0, way: 0, die: 1, plane: 0 });
  });

  test('the order of allocation does not change how much is mapped and programmed', () => {
    const counts = allocationOrders.map((order) => {
      const on = bed(
        { channels: 2, ways: 2, planes: 2, blocksPerPlane: 12, pagesPerBlock: 16 },
        { logicalSlots: 900, order, allocation: 'static' },
      );
      for (let i = 0; i < 900; i++) write(on, i);
      return [on.ftl.stats.programmed, on.ftl.frontiers.l2p.filter((psn) => psn >= 0).length].join();
    });
    expect(new Set(counts)).toEqual(new Set(['900,900']));
  });

  test('static placement keeps a slot in its unit', () => {
    const on = bed({ channels: 4, blocksPerPlane: 16, pagesPerBlock: 16 }, { logicalSlots: 600, allocation: 'static' });
    for (let i = 0; i < 5000; i++) write(on, (i * 31) % 600);
    const { geometry } = on.array;
    for (let lpn = 0; lpn < 600; lpn++) {
      const psn = on.ftl.frontiers.l2p[lpn];
      if (psn >= 0) expect(geometry.channelOf(psn)).toBe(lpn % 4);
    }
  });
});

test('a slot that was never written is read without touching flash, and allocates nothing', () => {
  const on = bed({ blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 300 });
  on.ftl.read(0, 300, 0);
  expect(on.client.done).toBe(0);
  on.scheduler.deliver();
  expect(on.client.done).toBe(1);
  expect(on.scheduler.counts.total(on.scheduler.counts.reads)).toBe(0);
  expect(on.ftl.frontiers.openings).toBe(0);
  expect(on.ftl.stats.unmappedReads).toBe(300);
});

test('slots of one page are one read', () => {
  const on = bed({ pageBytes: 16384, blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 1000 });
  on.ftl.write(0, 16, 0, 0, 0);
  on.scheduler.deliver();
  on.ftl.read(0, 16, 1);
  expect(on.ftl.stats.pageReads).toBe(4);
  expect(on.scheduler.counts.total(on.scheduler.counts.reads)).toBe(4);
});

test('data whose program is unfinished comes from controller RAM', () => {
  const simulator = new Simulator();
  const array = nandArray({ blocksPerPlane: 32, pagesPerBlock: 16 });
  const client = new CountingClient();
  const scheduler = new TimelineScheduler(array, simulator);
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(1), options: { logicalSlots: 300 } });
  ftl.write(5, 1, 0, 0, 0);
  ftl.read(5, 1, 1);
  expect(ftl.stats.ramReads).toBe(1);
  simulator.runUntil(10_000_000);
  expect(client.done).toBe(2);
  ftl.read(5, 1, 1);
  expect(ftl.stats.ramReads).toBe(1);
  simulator.runUntil(20_000_000);
  expect(client.done).toBe(3);
});

test('the price of each origin is accounted, and the books balance', () => {
  const on = bed({ blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 350 });
  const writes = new RandomSource(4).stream('writes');
  for (let i = 0; i < 8000; i++) write(on, writes.below(350), 0, i % 3);
  const { stats } = on.ftl;
  expect(stats.unexplained()).toBe(0);
  expect(stats.moved[0]).toBeGreaterThan(1000);
  expect(stats.hostByOrigin.reduce((a, b) => a + b)).toBe(stats.host);
  for (const reason of Object.values(MoveReason)) {
    const byOrigin = stats.movedByOrigin.subarray(reason << 8, (reason + 1) << 8);
    expect(byOrigin.reduce((a, b) => a + b)).toBe(stats.moved[reason]);
  }
  expect(stats.victimValidity.reduce((a, b) => a + b)).toBe(stats.runs[0]);
  expect(stats.programmed).toBe(on.scheduler.counts.total(on.scheduler.counts.programs));
  expect(stats.erases).toBe(on.scheduler.counts.total(on.scheduler.counts.erases));
  stats.reset();
  expect(stats.host + stats.programmed + stats.hostByOrigin[0] + stats.runs[0]).toBe(0);
});

test('write amplification is at least 1 while program units fill, and counting may begin while they do', () => {
  const shape = { planes: 2, pageBytes: 16384, blocksPerPlane: 32, pagesPerBlock: 16 };
  const on = bed(shape, { logicalSlots: 2000, domain: 'die' });
  const { stats } = on.ftl;
  expect(stats.writeAmplification).toBe(0);
  for (let i = 1; i <= 10; i++) {
    on.ftl.write(i, 1, 0, 0, 0);
    expect(stats.writeAmplification).toBe(1);
    expect(stats.programmed).toBe(8 * Math.floor(i / 8));
  }
  expect(stats.pending).toBe(2);
  stats.reset();
  on.ftl.inspect();
  for (let i = 0; i < 7; i++) on.ftl.write(i, 1, 0, 0, 0);
  // The two that waited are programmed now, but they were counted before.
  expect([stats.programmed, stats.pending, stats.carried, stats.host]).toEqual([8, 1, 2, 7]);
  expect(stats.writeAmplification).toBe(1);
  on.ftl.inspect();
  on.ftl.flush(0);
  expect(stats.writeAmplification).toBe((7 + 7) / 7);
  on.ftl.inspect();
});

test('a power cut drops what was pending when counting began', () => {
  const on = bed({ pageBytes: 16384, blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 1000 }, 'contents');
  for (let i = 0; i < 6; i++) on.ftl.write(i, 1, 0, 0, 0);
  on.ftl.stats.reset();
  on.ftl.powerCut();
  on.ftl.recover();
  on.ftl.inspect();
  expect(on.ftl.stats.dropped).toBe(2);
});

test('unreadable data is lost with an error, never copied silently', () => {
  const base = defaultReliability(1);
  const reliability = {
    ...base,
    factoryBad: 0,
    rawBitErrors: { ...base.rawBitErrors, r0: 2e-3 },
    ecc: { ...base.ecc, maxRetry: 0 },
  };
  const array = new NandArray(nandConfig({ blocksPerPlane: 40, pagesPerBlock: 16, reliability }), {
    random: new RandomSource(3),
  });
  const client = new CountingClient();
  const scheduler = new InstantScheduler(array);
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(1), options: { logicalSlots: 300 } });
  const writes = new RandomSource(4).stream('writes');
  for (let i = 0; i < 3000 && ftl.lost.size === 0; i++) {
    ftl.write(writes.below(300), 1, 0, 0, 0);
    scheduler.deliver();
  }
  expect(ftl.lost.size).toBeGreaterThan(0);
  const [lpn] = ftl.lost;
  const failed = client.failed;
  ftl.read(lpn, 1, 0);
  scheduler.deliver();
  expect(client.failed).toBe(failed + 1);
  ftl.write(lpn, 1, 0, 0, 0);
  scheduler.deliver();
  expect(ftl.lost.has(lpn)).toBe(false);
});

test('a worn-out drive refuses writes with a status instead of hanging', () => {
  const reliability = { ...defaultReliability(1), factoryBad: 0, ratedCycles: 5 };
  const array = new NandArray(nandConfig({ blocksPerPlane: 32, pagesPerBlock: 16, reliability }), {
    keeps: 'nothing',
    random: new RandomSource(3),
  });
  const statuses: number[] = [];
  const client = new CountingClient();
  client.ftlDone = (_job, status) => void statuses.push(status);
  const scheduler = new InstantScheduler(array);
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(1), options: { logicalSlots: 300 } });
  let writes = 0;
  for (; writes < 20_000 && !ftl.readOnly; writes++) {
    ftl.write((writes * 7919) % 300, 1, 0, 0, 0);
    scheduler.deliver();
  }
  expect(ftl.readOnly).toBe(true);
  ftl.write(1, 1, 0, 0, 0);
  scheduler.deliver();
  expect(statuses).toHaveLength(writes + 1);
  expect(statuses.at(-1)).toBe(FtlStatus.readOnly);
});

test('two runs with the same seed are identical', () => {
  const run = (seed: number): string => {
    const on = bed(
      { channels: 2, blocksPerPlane: 24, pagesPerBlock: 16 },
      { logicalSlots: 500, victim: 'd-choices' },
      'contents',
      seed,
    );
    const writes = new RandomSource(seed).stream('writes');
    for (let i = 0; i < 5000; i++) write(on, writes.below(500));
    return JSON.stringify([on.ftl.stats, [...on.ftl.frontiers.l2p]]);
  };
  expect(run(1)).toBe(run(1));
  expect(run(1)).not.toBe(run(2));
});

test('recovery and misuse are refused with a clear error', () => {
  const on = bed({ blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 300 });
  on.ftl.powerCut();
  expect(() => on.ftl.recover()).toThrow(/keeps: 'nothing'/);
  const busy = bed({ blocksPerPlane: 32, pagesPerBlock: 16 }, { logicalSlots: 300 });
  busy.ftl.write(0, 1, 0, 0, 0);
  expect(() => preconditionByWriting(busy.ftl)).toThrow(/in flight/);
});

import { BlockFlag, BlockOp, BlockRequest, submitAndWait } from '@flashstack/block-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Arbiter, queueClasses } from '../src/arbiter.js';
import {
  checkSsdConfig,
  freeFirmware,
  type HostConfig,
  linkConfig,
  linkNames,
  linkOf,
  Ssd,
  type SsdConfig,
} from '../src/index.js';
import { RequestTable } from '../src/request-table.js';
import { bufferedDrive, plainDrive } from './small-drives.js';

const SLOT = 8;
const single = { depth: 32, queues: 1 };

interface Sent {
  readonly cookie: number;
  readonly doneNs: () => number;
}

function start(drive: SsdConfig, host: HostConfig | null, queue = drive.queue) {
  const ssd = new Ssd(new Simulator(), { ...drive, host, queue });
  /** Order in which requests were given back. */
  const order: number[] = [];
  let cookies = 0;
  const send = (op: number, slot: number, more: { slots?: number; flow?: number; flags?: number } = {}): Sent => {
    let at = -1;
    const request = new BlockRequest({
      ioDone: (done) => {
        expect(done.status).toBe(0);
        order.push(done.cookie);
        at = ssd.simulator.now;
      },
    });
    request.op = op;
    request.block = op === BlockOp.flush ? 0 : slot * SLOT;
    request.count = op === BlockOp.flush ? 0 : (more.slots ?? 1) * SLOT;
    request.flow = more.flow ?? 0;
    request.flags = more.flags ?? 0;
    request.cookie = cookies++;
    ssd.submit(request);
    return { cookie: request.cookie, doneNs: () => at };
  };
  const run = (): void => {
    ssd.simulator.drain();
    ssd.assertDrained();
  };
  return { ssd, send, run, order };
}

describe('SATA', () => {
  const drive: SsdConfig = { ...plainDrive, queue: single };

  test.each([
    ['a discard', BlockOp.discard, 0],
    ['a flush', BlockOp.flush, 0],
    ['a write after a flush of its own', BlockOp.write, BlockFlag.preflush],
  ])('%s waits until the drive is idle, and holds up what comes behind it', (_, op, flags) => {
    const { ssd, send, run } = start(drive, { kind: 'sata-ncq' });
    const before = [send(BlockOp.write, 0), send(BlockOp.read, 1), send(BlockOp.write, 2)];
    const barrier = send(op, 100, { flags });
    const behind = [send(BlockOp.read, 200), send(BlockOp.read, 201)];
    run();
    for (const { doneNs } of before) expect(doneNs()).toBeLessThan(barrier.doneNs());
    // Reads of what was never written are quick: they would have been first if they had been let through.
    for (const { doneNs } of behind) expect(doneNs()).toBeGreaterThan(barrier.doneNs());
    const { queue } = ssd.stats.kinds.read.phases.slowest(1);
    expect(queue).toBeGreaterThan(0);
  });

  test('a queued discard holds nothing up', () => {
    const { send, run } = start(drive, { kind: 'sata-ncq', queuedTrim: true });
    const write = send(BlockOp.write, 0);
    const discard = send(BlockOp.discard, 100);
    const read = send(BlockOp.read, 200);
    run();
    expect(discard.doneNs()).toBeLessThan(write.doneNs());
    expect(read.doneNs()).toBeLessThan(write.doneNs());
  });

  test('discards between reads halve their rate or worse', () => {
    const rate = (queuedTrim: boolean): number => {
      const { ssd, send, run } = start(drive, { kind: 'sata-ncq', queuedTrim });
      const random = new RandomSource(9).stream('positions');
      ssd.precondition('fill');
      const sent = Array.from({ length: 400 }, (_, i) =>
        send(i % 4 === 0 ? BlockOp.discard : BlockOp.read, random.below(700)),
      );
      run();
      return 400 / Math.max(...sent.map(({ doneNs }) => doneNs()));
    };
    expect(rate(true)).toBeGreaterThan(2 * rate(false));
  });
});

describe('eMMC', () => {
  const drive: SsdConfig = { ...bufferedDrive, queue: { depth: 1, queues: 1 }, keeps: 'nothing' };
  const { firmware } = drive;
  const commandNs = firmware.writeNs + 100;
  /** 4 KiB at 1 GB/s. */
  const dataNs = 4096;

  test.each([1, 4, 16])('%i waiting writes under one command share its cost', (packedCommands) => {
    const { ssd, send, run } = start(
      { ...drive, firmware: { ...firmware, writeSlotNs: 0 } },
      { kind: 'emmc', packedCommands },
    );
    // A read goes first, so that the writes wait behind it.
    const read = send(BlockOp.read, 0);
    const writes = Array.from({ length: 12 }, (_, i) => send(BlockOp.write, 10 + i));
    run();
    const packs = 12 / Math.min(12, packedCommands);
    expect(writes[11].doneNs() - read.doneNs()).toBe(packs * commandNs + 12 * dataNs);
    // The writes of a pack are done together.
    expect(new Set(writes.map(({ doneNs }) => doneNs())).size).toBe(packs);
    const { requests, latencyNs, phases } = ssd.stats.kinds.write;
    expect(requests).toBe(12);
    const sum = Object.values(phases.slowest(1)).reduce((total, ns) => total + ns, 0);
    expect(sum).toBeCloseTo(latencyNs.mean, 3);
  });

  test('reads and flushes end a pack', () => {
    const { send, run, order } = start(drive, { kind: 'emmc', packedCommands: 8 });
    const head = send(BlockOp.read, 0).cookie;
    const cookies = [BlockOp.write, BlockOp.write, BlockOp.read, BlockOp.write, BlockOp.flush, BlockOp.write].map(
      (op, i) => send(op, 20 + i).cookie,
    );
    run();
    expect(order[0]).toBe(head);
    expect([...order.slice(1, 3)].sort()).toEqual(cookies.slice(0, 2));
    expect(order.slice(3)).toEqual(cookies.slice(2));
  });

  test('without its cache every write is durable before it is done', () => {
    for (const cache of [true, false]) {
      const { ssd, send, run } = start({ ...drive, keeps: 'contents' }, { kind: 'emmc', cache });
      expect(ssd.features.volatileCache).toBe(cache);
      const write = send(BlockOp.write, 3);
      run();
      const programmed = write.doneNs() > drive.nand.timing.programNs[0];
      expect(programmed).toBe(!cache);
    }
  });

  test('a flush costs what it is said to', () => {
    const took = [0, 70_000].map((flushNs) => {
      const { send, run } = start(drive, { kind: 'emmc', flushNs });
      const flush = send(BlockOp.flush, 0);
      run();
      return flush.doneNs();
    });
    expect(took[1] - took[0]).toBe(70_000);
  });
});

describe('NVMe', () => {
  test('serves queues by their class: urgent first, the others by weight', () => {
    const host: HostConfig = {
      kind: 'nvme',
      arbitration: 'weightedRoundRobin',
      classes: ['urgent', 'high', 'medium', 'low'],
      highWeight: 5,
      mediumWeight: 3,
      lowWeight: 1,
    };
    const drive = { ...plainDrive, firmware: { ...freeFirmware, readNs: 1_000 } };
    const { ssd, send, run, order } = start(drive, host, { depth: 1, queues: 4 });
    const flows: number[] = [];
    for (let i = 0; i < 45; i++) {
      for (const flow of [3, 2, 1, 0]) {
        if (flow === 0 && i >= 10) continue;
        flows[send(BlockOp.read, i, { flow }).cookie] = flow;
      }
    }
    run();
    const served = order.map((cookie) => flows[cookie]);
    // The first came to an idle drive.
    expect(served.slice(1, 11).every((flow) => flow === 0)).toBe(true);
    const round = served.slice(11, 11 + 45);
    expect([1, 2, 3].map((flow) => round.filter((other) => other === flow).length)).toEqual([25, 15, 5]);
    expect(ssd.stats.queues.map(({ requests }) => requests)).toEqual([10, 45, 45, 45]);
    const means = ssd.stats.queues.map(({ latencyNs }) => latencyNs.mean);
    for (let q = 1; q < 4; q++) expect(means[q]).toBeGreaterThan(means[q - 1]);
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    const metrics = registry.read();
    expect(metrics['queue.3.requests']).toBe(45);
    expect(metrics['queue.3.latencyNs.mean']).toBe(means[3]);
    expect(metrics['queue.3.latencyNs.p99']).toBeLessThanOrEqual(metrics['queue.3.latencyNs.p999']);
  });

  test('takes a burst from each queue', () => {
    const { send, run, order } = start(plainDrive, { kind: 'nvme', arbitrationBurst: 3 }, { depth: 1, queues: 2 });
    // The first comes to an idle drive.
    const flows: number[] = [];
    for (let i = 0; i < 7; i++) for (const flow of [0, 1]) flows[send(BlockOp.read, i, { flow }).cookie] = flow;
    run();
    expect(order.map((cookie) => flows[cookie]).join('')).toBe('00001110001111');
  });

  test('its arbitration agrees with a naive model', () => {
    const random = new RandomSource(6).stream('arbiter');
    const table = new RequestTable();
    const classes = ['low', 'high', 'urgent', 'medium', 'high', 'low', 'medium'] as const;
    const host: HostConfig = {
      kind: 'nvme',
      arbitration: 'weightedRoundRobin',
      classes,
      highWeight: 4,
      mediumWeight: 3,
      lowWeight: 2,
      arbitrationBurst: 2,
    };
    const arbiter = new Arbiter(table, classes.length, host);
    const waiting: number[][] = classes.map(() => []);
    const served = new Map<string, number>();
    for (let step = 0; step < 30_000; step++) {
      // Mostly full queues at first, mostly empty ones later.
      if (random.below(100) < (step % 2000 < 1000 ? 55 : 45)) {
        const q = random.below(classes.length);
        const h = table.acquire();
        waiting[q].push(h);
        arbiter.push(q, h);
        continue;
      }
      const h = arbiter.shift();
      expect(h === -1).toBe(waiting.every((queue) => queue.length === 0));
      if (h === -1) continue;
      const q = waiting.findIndex((queue) => queue[0] === h);
      expect(q).toBeGreaterThanOrEqual(0);
      if (waiting[classes.indexOf('urgent')].length > 0) expect(classes[q]).toBe('urgent');
      waiting[q].shift();
      table.release(h);
      served.set(classes[q], (served.get(classes[q]) ?? 0) + 1);
    }
    expect([...served.keys()].sort()).toEqual([...queueClasses].sort());
    expect(arbiter.length).toBe(waiting.reduce((sum, queue) => sum + queue.length, 0));
  });
});

describe('links by their standard', () => {
  test('have the payload rates of the specification', () => {
    expect(linkConfig({ standard: 'sata3' })).toMatchObject({ readBytesPerSec: 555e6, duplex: 'half' });
    expect(linkConfig({ standard: 'emmc-hs400' }).writeBytesPerSec).toBe(380e6);
    expect(linkConfig({ standard: 'emmc-hs200' }).writeBytesPerSec).toBe(190e6);
    expect(linkConfig(linkOf('pcie3x4'))).toMatchObject({ readBytesPerSec: 3_349e6, duplex: 'full' });
    expect(linkConfig({ standard: 'pcie3' })).toEqual(linkConfig(linkOf('pcie3x4')));
    expect(linkConfig({ standard: 'pcie1', lanes: 1 }, 4096)).toMatchObject({
      readBytesPerSec: 212_500_000,
      chunkBytes: 4096,
    });
  });

  test('by every name a drive takes one, and lanes add up', () => {
    expect(linkNames).toHaveLength(5 * 5 + 3 + 2);
    for (const name of linkNames) {
      const link = linkConfig(linkOf(name));
      const { standard, lanes = 1 } = linkOf(name);
      const single = linkConfig(lanes === 1 ? linkOf(name) : { standard, lanes: 1 });
      expect(link.readBytesPerSec).toBe(single.readBytesPerSec * lanes);
      expect(() => checkSsdConfig({ ...plainDrive, link })).not.toThrow();
    }
  });

  test('are refused by name, generation or lanes that do not exist', () => {
    expect(() => linkOf('pcie3x3')).toThrow('Did you mean "pcie3x1"?');
    expect(() => linkConfig({ standard: 'sata4' as 'sata3' })).toThrow(
      'Unknown link standard "sata4". Did you mean "sata1"?',
    );
    expect(() => linkConfig({ standard: 'pcie3', lanes: 3 })).toThrow(
      'link.lanes: found 3, expected one of 1, 2, 4, 8, 16',
    );
    expect(() => linkConfig({ standard: 'sata3', lanes: 1 })).toThrow('link.lanes: found 1, but sata3 has none');
  });

  test('carry a drive', () => {
    const ssd = new Ssd(new Simulator(), {
      ...plainDrive,
      firmware: freeFirmware,
      link: linkConfig({ standard: 'sata1' }),
    });
    submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 0, count: 64 * SLOT });
    expect(ssd.simulator.now).toBeCloseTo(2_000 + (64 * 4096 * 1e9) / (150e6 * 0.925), -2);
  });
});

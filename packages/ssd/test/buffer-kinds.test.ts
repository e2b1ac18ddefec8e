import { BlockOp, BlockRequest, submitAndWait } from '@flashstack/block-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { BufferHalves } from '../src/buffer-halves.js';
import { type BufferConfig, freeFirmware, Ssd, type SsdConfig } from '../src/index.js';
import { fullDrainDrive, idleDrainDrive, timerDrainDrive } from './small-drives.js';

const SLOT = 8;

/** Nothing takes time but flash, so that the moments of draining can be told to the nanosecond. */
function start(drive: SsdConfig): {
  ssd: Ssd;
  /** Writes slots, one request after the other or one for all. */
  write: (slot: number, count?: number, slotsEach?: number) => void;
  /** Slots handed to the FTL so far. */
  drained: () => number;
  now: () => number;
  runUntil: (ns: number) => void;
} {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, { ...drive, link: null, firmware: freeFirmware });
  const write = (slot: number, count = 1, slotsEach = 1): void => {
    for (let i = 0; i < count; i++) {
      const block = (slot + i * slotsEach) * SLOT;
      expect(submitAndWait(simulator, ssd, { op: BlockOp.write, block, count: slotsEach * SLOT })).toBe(0);
    }
  };
  const drained = (): number => ssd.flash.ftl.stats.host;
  return { ssd, write, drained, now: () => simulator.now, runUntil: (ns) => simulator.runUntil(ns) };
}

function send(ssd: Ssd, slot: number, slots: number): BlockRequest {
  const request = new BlockRequest({ ioDone: () => undefined });
  request.op = BlockOp.write;
  request.block = slot * SLOT;
  request.count = slots * SLOT;
  request.status = -1;
  ssd.submit(request);
  return request;
}

describe('a single buffer is drained', () => {
  test('when a write does not fit: all of it', () => {
    const { write, drained, ssd } = start(fullDrainDrive);
    const { slots } = fullDrainDrive.buffer as BufferConfig;
    write(0, slots);
    ssd.simulator.drain();
    expect(drained()).toBe(0);
    write(slots);
    ssd.simulator.drain();
    expect(drained()).toBe(slots + 1);
    write(100, slots - 1);
    ssd.simulator.drain();
    expect(drained()).toBe(slots + 1);
  });

  test('once the host has been silent, and no longer than it is', () => {
    const { write, drained, now, runUntil, ssd } = start(idleDrainDrive);
    const { idleNs = 0, slots, inFlightSlots } = { ...(idleDrainDrive.buffer as BufferConfig), inFlightSlots: 4 };
    write(0, 3);
    const quiet = now();
    runUntil(quiet + idleNs - 1);
    expect(drained()).toBe(0);
    // A read ends the silence.
    submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT });
    const again = now();
    runUntil(again + idleNs - 1);
    expect(drained()).toBe(0);
    runUntil(again + idleNs);
    expect(drained()).toBe(3);
    ssd.simulator.drain();
    const limited = start({ ...idleDrainDrive, buffer: { ...(idleDrainDrive.buffer as BufferConfig), inFlightSlots } });
    limited.write(0, slots);
    limited.runUntil(limited.now() + idleNs);
    expect(limited.drained()).toBe(inFlightSlots);
    // The host is back: what is in flight ends, nothing is added to it.
    submitAndWait(limited.ssd.simulator, limited.ssd, { op: BlockOp.read, block: 0, count: SLOT });
    limited.runUntil(limited.now() + idleNs - 1);
    expect(limited.drained()).toBe(inFlightSlots);
    limited.ssd.simulator.drain();
    expect(limited.drained()).toBe(slots);
  });

  test('at times, counted from the last drain', () => {
    const { write, drained, runUntil, ssd } = start(timerDrainDrive);
    const { timerNs = 0, slots } = timerDrainDrive.buffer as BufferConfig;
    write(0, 5);
    runUntil(timerNs - 1);
    expect(drained()).toBe(0);
    runUntil(timerNs);
    expect(drained()).toBe(5);
    runUntil(timerNs + 10);
    write(0, 2);
    runUntil(2 * timerNs - 1);
    expect(drained()).toBe(5);
    runUntil(2 * timerNs);
    expect(drained()).toBe(7);
    // A flush does not wait for it, and is a drain itself.
    write(0, 1);
    submitAndWait(ssd.simulator, ssd, { op: BlockOp.flush });
    expect(drained()).toBe(8);
    // Nor does a write that finds no room: as many leave as are needed.
    ssd.simulator.drain();
    write(0, slots);
    const before = drained();
    write(slots);
    expect(drained()).toBeGreaterThan(before);
  });
});

describe('a double buffer', () => {
  const drive: SsdConfig = {
    ...fullDrainDrive,
    buffer: { ...(fullDrainDrive.buffer as BufferConfig), kind: 'double', timerNs: 50_000_000 },
  };
  const half = (drive.buffer as BufferConfig).slots / 2;

  test('drains a half as a whole when a write does not fit, and takes writes in the other', () => {
    const { write, drained, runUntil, now } = start(drive);
    write(0, half);
    runUntil(now() + 1_000_000);
    expect(drained()).toBe(0);
    write(half);
    runUntil(now() + 10_000_000);
    expect(drained()).toBe(half);
  });

  test('puts a write that does not fit as a whole into the other half', () => {
    const { write, drained } = start(drive);
    write(0, half - 2);
    write(half, 1, 3);
    expect(drained()).toBe(half - 2);
  });

  test('makes writes wait while both halves are full, until one of them is durable as a whole', () => {
    const { ssd, write, now } = start(drive);
    write(0, 2 * half);
    const waiting = send(ssd, 2 * half, 1);
    expect(ssd.stats.counters.bufferFullWaits).toBe(1);
    let durableNs = 0;
    while (waiting.status === -1) {
      durableNs = now();
      ssd.simulator.runUntil(now() + 1_000);
    }
    // 12 pages on 8 planes: the slower pages of the second round end last.
    const { programNs } = drive.nand.timing;
    expect(durableNs).toBeGreaterThan(programNs[0] + programNs[1]);
    ssd.simulator.drain();
    ssd.assertDrained();
  });

  test('is drained by a flush, both halves of it', () => {
    const { ssd, write, drained } = start(drive);
    write(0, half + 3);
    submitAndWait(ssd.simulator, ssd, { op: BlockOp.flush });
    expect(drained()).toBe(half + 3);
  });

  test('is drained by the timer', () => {
    const { write, drained, runUntil } = start(drive);
    write(0, 2);
    runUntil(50_000_000 - 1);
    expect(drained()).toBe(0);
    runUntil(50_000_000);
    expect(drained()).toBe(2);
  });

  test('takes a write that is larger than both halves, and serves reads from either', () => {
    const { ssd, write, drained } = start(drive);
    write(0, 1, 3 * half);
    expect(drained()).toBeGreaterThanOrEqual(2 * half);
    submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: (3 * half - 1) * SLOT, count: SLOT });
    expect(ssd.stats.counters.bufferReadHits).toBe(1);
  });

  test('its halves agree with a naive model', () => {
    const random = new RandomSource(8).stream('halves');
    const halves = new BufferHalves(6);
    const members: [Set<number>, Set<number>] = [new Set(), new Set()];
    const sealed = [false, false];
    let current = 0;
    let next = 0;
    let refusals = 0;
    for (let step = 0; step < 20_000; step++) {
      if (random.below(2) === 0) {
        const wanted = 1 + random.below(8);
        if (sealed[current] || members[current].size + Math.min(wanted, 6) > 6) {
          if (members[current].size > 0) sealed[current] = true;
          if (members[1 - current].size === 0) current = 1 - current;
        }
        const fits = !sealed[current] && members[current].size + Math.min(wanted, 6) <= 6;
        expect(halves.admit(wanted)).toBe(fits);
        if (fits) {
          halves.entered(next);
          members[current].add(next++);
        } else {
          refusals++;
        }
      } else {
        const from = members[random.below(2)];
        const [entry] = from;
        if (entry === undefined) continue;
        expect(halves.isDue(entry)).toBe(sealed[members[0].has(entry) ? 0 : 1]);
        from.delete(entry);
        halves.left(entry);
        for (const i of [0, 1]) if (members[i].size === 0) sealed[i] = false;
      }
    }
    expect(refusals).toBeGreaterThan(100);
  });
});

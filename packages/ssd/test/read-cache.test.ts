import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { transferNs } from '@flashstack/nand-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { freeFirmware, type ReadCacheConfig, type ReadCacheCounters, Ssd, type SsdConfig } from '../src/index.js';
import { CacheState, ReadCache } from '../src/read-cache.js';
import { ClosedLoop } from './closed-loop.js';
import { bufferedDrive, plainDrive, smallNand, wideDrive } from './small-drives.js';

const SLOT = 8;
const cache: ReadCacheConfig = { slots: 64, readAheadSlots: 0, after: 2 };

function start(drive: SsdConfig, readCache: ReadCacheConfig | null = cache) {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, { ...drive, readCache });
  const { counts } = ssd.flash.scheduler;
  const took = (op: number, slot: number, slots = 1): number => {
    const from = simulator.now;
    expect(submitAndWait(simulator, ssd, { op, block: slot * SLOT, count: slots * SLOT })).toBe(0);
    return simulator.now - from;
  };
  return {
    ssd,
    took,
    flashReads: () => counts.total(counts.reads),
    counters: ssd.stats.readCache as ReadCacheCounters,
  };
}

describe('a read cache', () => {
  test('serves what has been read at the cost of firmware and link', () => {
    const { took, flashReads, counters } = start(plainDrive);
    took(BlockOp.write, 3);
    took(BlockOp.read, 3);
    const { readNs, readPipelineNs } = plainDrive.firmware;
    expect(took(BlockOp.read, 3)).toBe(readNs + readPipelineNs + 100 + 4096);
    expect(flashReads()).toBe(1);
    expect(counters).toEqual({ hits: 1, waits: 0, misses: 1, readAheadSlots: 0 });
  });

  test('keeps those used last', () => {
    const { took, flashReads } = start(plainDrive, { ...cache, slots: 3 });
    for (let slot = 0; slot < 4; slot++) took(BlockOp.write, slot);
    for (const slot of [0, 1, 2, 0, 3]) took(BlockOp.read, slot);
    expect(flashReads()).toBe(4);
    // 1 was used least recently; 0, 2 and 3 are here.
    for (const slot of [0, 2, 3]) took(BlockOp.read, slot);
    expect(flashReads()).toBe(4);
    took(BlockOp.read, 1);
    expect(flashReads()).toBe(5);
  });

  test('keeps what was written only if it is told to', () => {
    for (const [writes, expected] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { took, flashReads, ssd } = start(bufferedDrive, { ...cache, writes });
      took(BlockOp.write, 5);
      ssd.simulator.drain();
      took(BlockOp.read, 5);
      expect(flashReads()).toBe(expected);
    }
  });

  test('forgets what is written or discarded', () => {
    const { took, flashReads, ssd } = start(plainDrive);
    const tags = new Uint32Array(SLOT);
    const read = (): number[] => {
      submitAndWait(ssd.simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT, tags });
      return [...new Set(tags)];
    };
    const write = (value: number): void => {
      const values = new Uint32Array(SLOT).fill(value);
      submitAndWait(ssd.simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT, tags: values });
    };
    write(7);
    expect([read(), read()]).toEqual([[7], [7]]);
    write(8);
    expect([read(), read()]).toEqual([[8], [8]]);
    expect(flashReads()).toBe(2);
    took(BlockOp.discard, 0);
    expect(read()).toEqual([0]);
  });

  test('is empty after a power cut', () => {
    const { took, flashReads, ssd } = start(plainDrive);
    took(BlockOp.write, 0);
    took(BlockOp.read, 0);
    ssd.powerCut();
    ssd.powerOn();
    const before = flashReads();
    took(BlockOp.read, 0);
    expect(flashReads()).toBe(before + 1);
  });

  test('agrees with a naive model', () => {
    const random = new RandomSource(4).stream('cache');
    const real = new ReadCache(10);
    // Oldest first; what is being filled is not in the order of use.
    let order: number[] = [];
    const filling = new Map<number, number>();
    const ahead = new Set<number>();
    for (let step = 0; step < 50_000; step++) {
      const lpn = random.below(24);
      const entry = real.find(lpn);
      expect(entry !== -1).toBe(order.includes(lpn) || filling.has(lpn));
      if (entry === -1) {
        if (real.victim !== -1) {
          const gone = order.shift() as number;
          expect(real.lpn[real.victim]).toBe(gone);
          ahead.delete(gone);
          real.remove(real.victim);
        }
        const begun = real.begin(lpn, step);
        expect(begun === -1).toBe(filling.size === 10);
        if (begun !== -1) filling.set(lpn, step);
      } else if (random.below(8) === 0) {
        real.remove(entry);
        order = order.filter((other) => other !== lpn);
        filling.delete(lpn);
        ahead.delete(lpn);
      } else if (filling.has(lpn)) {
        expect(real.job[entry]).toBe(filling.get(lpn));
        const early = random.below(2) === 0;
        real.filled(entry, early);
        filling.delete(lpn);
        order.push(lpn);
        if (early) ahead.add(lpn);
      } else {
        expect(real.state[entry]).toBe(ahead.has(lpn) ? CacheState.ahead : CacheState.valid);
        real.touch(entry);
        if (!ahead.delete(lpn)) order = [...order.filter((other) => other !== lpn), lpn];
      }
      expect(real.used).toBe(order.length + filling.size);
    }
  });
});

describe('reading ahead', () => {
  /** Flash is several times faster than the link, which costs nothing per command. */
  const drive: SsdConfig = {
    ...wideDrive,
    nand: { ...wideDrive.nand, timing: { ...smallNand.timing, readNs: [30_000, 30_000] } },
    firmware: freeFirmware,
    link: { readBytesPerSec: 300e6, writeBytesPerSec: 300e6, duplex: 'full', commandNs: 0, chunkBytes: 16_384 },
    keeps: 'nothing',
  };
  const loop = { op: BlockOp.read, depth: 1, blocks: 4 * SLOT, requests: 600, pattern: 'sequential' } as const;

  test('takes sequential reads at depth 1 to the bound of the link', () => {
    const rate = (readCache: ReadCacheConfig | null): { bytesPerSecond: number; ssd: Ssd } => {
      const { ssd } = start(drive, readCache);
      ssd.precondition('fill');
      return { bytesPerSecond: new ClosedLoop(ssd, loop).run().perSecond * 16_384, ssd };
    };
    const without = rate(null);
    const { timing } = drive.nand;
    const readNs = timing.commandNs + 30_000 + transferNs(16_384, timing.channelBytesPerSec);
    expect(without.bytesPerSecond).toBeCloseTo((16_384 * 1e9) / (readNs + Math.round((16_384 * 1e9) / 300e6)), -3);
    const ahead = rate({ slots: 256, readAheadSlots: 64, after: 2 });
    expect(ahead.bytesPerSecond / 300e6).toBeGreaterThan(0.999);
    expect(ahead.bytesPerSecond / 300e6).toBeLessThan(1.001);
    const { hits, misses } = ahead.ssd.stats.readCache as ReadCacheCounters;
    expect(hits).toBe(4 * 450);
    expect(misses).toBe(0);
    // Every slot is read once, those of a page together.
    const { counts } = ahead.ssd.flash.scheduler;
    expect(counts.total(counts.reads)).toBeLessThan(600 + 16 + 4);
  });

  test('charges what a read waits for it to the buffer', () => {
    const slow: SsdConfig = { ...drive, link: null };
    const { ssd, took, counters } = start(slow, { slots: 64, readAheadSlots: 16, after: 2 });
    ssd.precondition('fill');
    took(BlockOp.read, 0);
    took(BlockOp.read, 1);
    // The slots from 2 on are on their way.
    const waited = took(BlockOp.read, 2);
    expect(counters.waits).toBe(1);
    expect(ssd.stats.kinds.read.phases.slowest(1).buffer * 3).toBe(waited);
  });

  test('begins after so many sequential reads, and not for others', () => {
    const { ssd, took, counters } = start(drive, { slots: 64, readAheadSlots: 8, after: 3 });
    ssd.precondition('fill');
    for (const slot of [100, 200, 300, 101, 201]) took(BlockOp.read, slot);
    expect(counters.readAheadSlots).toBe(0);
    took(BlockOp.read, 102);
    expect(counters.readAheadSlots).toBe(8);
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    expect(registry.read()['readCache.readAheadSlots']).toBe(8);
  });

  test('ends at the end of the drive', () => {
    const { ssd, took, counters } = start(drive, { slots: 64, readAheadSlots: 16, after: 1 });
    ssd.precondition('fill');
    const last = ssd.blockCount / SLOT - 1;
    took(BlockOp.read, last - 3);
    expect(counters.readAheadSlots).toBe(3);
  });
});

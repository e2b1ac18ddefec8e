import { BlockOp, BlockStatus, submitAndWait } from '@flashstack/block-device';
import { defaultReliability, type NandReliability } from '@flashstack/nand-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { resolvePreset, Ssd, type SsdConfig } from '../src/index.js';
import { bufferedDrive, plainDrive, protectedDrive, wideDrive } from './small-drives.js';
import { Traffic } from './traffic.js';

const SLOT = 8;

describe('the health of a drive', () => {
  test('counts what host and flash did, over the whole life', () => {
    const { simulator, ssd } = make(wideDrive);
    let written = 0;
    let programs = 0;
    let erases = 0;
    const { counts } = ssd.flash.scheduler;
    const settle = (): void => {
      written += ssd.stats.kinds.write.bytes;
      programs += counts.total(counts.programs);
      erases += counts.total(counts.erases);
    };
    const traffic = new Traffic(simulator, ssd, new RandomSource(2).stream('traffic'));
    for (let part = 0; part < 3; part++) {
      traffic.start(2000, 8);
      traffic.finish();
      settle();
      ssd.resetStats();
    }
    traffic.start(300, 8);
    simulator.runUntil(simulator.now + 5_000_000);
    traffic.cut();
    ssd.powerOn();
    traffic.verifyAfterCut();
    traffic.start(300, 8);
    traffic.finish();
    settle();
    const { pageBytes } = wideDrive.nand.geometry;
    const health = ssd.health();
    expect(health).toMatchObject({
      hostWrittenBytes: written,
      programmedBytes: programs * pageBytes,
      writeAmplification: (programs * pageBytes + health.waitingBytes) / written,
      erases,
      powerCycles: 2,
      unsafeShutdowns: 1,
      mediaErrors: 0,
      readOnly: false,
      usedShare: null,
    });
    expect(health.hostReadBytes).toBeGreaterThan(0);
    expect(erases).toBeGreaterThan(0);
    const wear = [...ssd.flash.array.eraseCount];
    expect(health.wearLeast).toBe(Math.min(...wear));
    expect(health.wearMost).toBe(Math.max(...wear));
    expect(health.wearMean).toBeCloseTo(wear.reduce((sum, count) => sum + count, 0) / wear.length, 9);
    expect(health.wearMean * wear.length).toBe(erases);
  });

  const wordLines = resolvePreset('generic-tlc-nvme', { capacity: 2 ** 29, overProvisioning: 0.6 });

  test.each([wideDrive, plainDrive, protectedDrive, wordLines])(
    'accounts for every byte of whole slots that are written once: $name',
    (config) => {
      const { simulator, ssd } = make(config);
      const slots = config.capacityBytes / 4096;
      const order = new RandomSource(4).stream('order');
      const left = Array.from({ length: slots }, (_, at) => at);
      let waited = 0;
      for (let written = 0; written < Math.min(slots / 2, 1000); written++) {
        const [lpn] = left.splice(order.below(left.length), 1);
        submitAndWait(simulator, ssd, { op: BlockOp.write, block: lpn * SLOT, count: SLOT });
        const { programmedBytes, waitingBytes, hostWrittenBytes, writeAmplification } = ssd.health();
        expect(programmedBytes + waitingBytes).toBe(hostWrittenBytes);
        expect(writeAmplification).toBe(1);
        waited = Math.max(waited, waitingBytes);
        if (left.length % 50 === 0) ssd.resetStats();
      }
      if (config.buffer !== null) expect(waited).toBeGreaterThan(0);
    },
  );

  test('begins again when the drive is brought into another state', () => {
    const { simulator, ssd } = make(plainDrive);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
    ssd.precondition('fill');
    expect(ssd.health()).toMatchObject({ hostWrittenBytes: 0, programmedBytes: 0, powerCycles: 1 });
  });

  test('tells spare blocks, retired ones and wear', () => {
    const reliability: NandReliability = {
      ...defaultReliability(2),
      factoryBad: 0.02,
      ratedCycles: 5,
      eraseFailFrom: 0,
      eraseFailTo: 20,
      programFailShare: 1,
    };
    const geometry = { ...plainDrive.nand.geometry, blocksPerPlane: 20 };
    const { simulator, ssd } = make({ ...plainDrive, nand: { ...plainDrive.nand, geometry, reliability } });
    const fresh = ssd.health();
    const bad = ssd.flash.array.bad.filter((state) => state !== 0).length;
    expect(fresh.factoryBadBlocks).toBe(bad);
    // 700 slots fill 44 blocks of 16 pages.
    expect(fresh.spareBlocksAtStart).toBe(160 - bad - 44);
    expect(fresh.spareBlocks).toBe(fresh.spareBlocksAtStart);
    const traffic = new Traffic(simulator, ssd, new RandomSource(1).stream('traffic'), [BlockStatus.readOnly]);
    traffic.start(4000, 8);
    traffic.finish();
    const used = ssd.health();
    expect(used.retiredBlocks).toBeGreaterThan(0);
    expect(used.retiredBlocks).toBe(ssd.flash.ftl.stats.retired);
    expect(used.spareBlocks).toBe(fresh.spareBlocks - used.retiredBlocks);
    expect(used.spareBlocksAtStart).toBe(fresh.spareBlocksAtStart);
    expect(used.usedShare).toBe(used.wearMean / 5);
  });

  test('of hybrid mapping: the domain with the fewest spare blocks ends the drive', () => {
    const reliability: NandReliability = {
      ...defaultReliability(2),
      factoryBad: 0,
      ratedCycles: 20,
      eraseFailFrom: 0,
      eraseFailTo: 20,
      programFailShare: 0,
    };
    const geometry = { ...plainDrive.nand.geometry, blocksPerPlane: 24 };
    const nand = { ...plainDrive.nand, geometry, reliability };
    const { simulator, ssd } = make({ ...plainDrive, keeps: 'nothing', nand, ftl: { mapping: 'fast' } });
    const [table] = ssd.flash.ftl.tables;
    const spareOf = (domain: number): number => {
      const logical = ssd.config.capacityBytes / 4096 / table.domains / table.slotsPerBlock;
      const blocks = Array.from({ length: table.blocksPerDomain }, (_, at) => domain * table.blocksPerDomain + at);
      return blocks.filter((block) => table.capacity[block] > 0).length - Math.ceil(logical);
    };
    const spares = (): number[] => Array.from({ length: table.domains }, (_, domain) => spareOf(domain));
    expect(ssd.health().leastSpareBlocks).toBe(Math.min(...spares()));
    const order = new RandomSource(3).stream('order');
    let status: number = BlockStatus.ok;
    for (let i = 0; i < 200_000 && status !== BlockStatus.readOnly; i++) {
      const block = order.below(ssd.blockCount / SLOT) * SLOT;
      status = submitAndWait(simulator, ssd, { op: BlockOp.write, block, count: SLOT });
    }
    const { leastSpareBlocks, spareBlocks, readOnly } = ssd.health();
    expect(readOnly).toBe(true);
    expect(leastSpareBlocks).toBe(Math.max(0, Math.min(...spares())));
    // Others have more, and that does not help.
    expect(spareBlocks).toBeGreaterThan(table.domains * (leastSpareBlocks ?? 0));
    expect(Math.max(...spares())).toBeGreaterThan(leastSpareBlocks ?? 0);
    const shared = make(plainDrive).ssd.health();
    expect(shared.leastSpareBlocks).toBeNull();
  });

  test('counts reads that could not be corrected', () => {
    const base = defaultReliability(2);
    const rawBitErrors = { ...base.rawBitErrors, r0: 0.4 };
    const reliability = { ...base, factoryBad: 0, rawBitErrors };
    const { simulator, ssd } = make({ ...plainDrive, nand: { ...plainDrive.nand, reliability } });
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
    expect(submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: SLOT })).toBe(BlockStatus.mediaError);
    ssd.resetStats();
    expect(ssd.health().mediaErrors).toBe(1);
  });

  test('is registered', () => {
    const { simulator, ssd } = make(bufferedDrive);
    const registry = new StatsRegistry();
    ssd.registerStats(registry);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: SLOT });
    simulator.drain();
    const metrics = registry.read();
    expect(metrics['health.hostWrittenBytes']).toBe(4096);
    expect(metrics['health.programmedBytes']).toBe(4096);
    expect(metrics['health.readOnly']).toBe(0);
    expect(metrics['health.usedShare']).toBeUndefined();
  });
});

function make(config: SsdConfig): { simulator: Simulator; ssd: Ssd } {
  const simulator = new Simulator();
  return { simulator, ssd: new Ssd(simulator, config) };
}

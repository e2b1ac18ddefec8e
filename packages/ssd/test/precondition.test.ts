import { BlockOp, BlockRequest, type IoOwner, submitAndWait } from '@flashstack/block-device';
import { InputError, RandomSource, SimulationError, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { bufferedDrive, pageMapOf, plainDrive, smallNand } from './small-drives.js';

/** 27,000 of 32,768 slots, in blocks of 64. */
const drive: SsdConfig = {
  ...plainDrive,
  keeps: 'nothing',
  capacityBytes: 27_000 * 4096,
  nand: { ...smallNand, geometry: { ...smallNand.geometry, blocksPerPlane: 64, pagesPerBlock: 64 } },
};

/** Write amplification of uniformly random writes from now on. */
function measureWaf(ssd: Ssd, writes: number): number {
  const random = new RandomSource(5).stream('waf');
  let left = writes;
  const owner: IoOwner = {
    ioDone: (request) => {
      if (left-- <= 0) return;
      request.block = 8 * random.below(ssd.blockCount / 8);
      ssd.submit(request);
    },
  };
  for (let i = 0; i < 32; i++) {
    const request = new BlockRequest(owner);
    request.op = BlockOp.write;
    request.count = 8;
    owner.ioDone(request);
  }
  ssd.simulator.drain();
  ssd.assertDrained();
  return ssd.flash.ftl.stats.writeAmplification;
}

describe('preconditioning', () => {
  test('takes no simulated time and leaves statistics at zero', () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, bufferedDrive);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: 3 });
    simulator.drain();
    const before = simulator.now;
    expect(ssd.precondition('fill')).toBe('written');
    expect(simulator.now).toBe(before);
    expect(ssd.stats.submitted).toBe(0);
    expect(ssd.flash.ftl.stats.host).toBe(0);
    expect(ssd.flash.scheduler.counts.total(ssd.flash.scheduler.counts.programs)).toBe(0);
    ssd.flash.ftl.inspect();
  });

  test('none empties the drive; fill maps every slot, or the share in use', () => {
    const ssd = new Ssd(new Simulator(), plainDrive);
    const mapped = (): number => {
      let count = 0;
      for (let lpn = 0; lpn < ssd.flash.ftl.logicalSlots; lpn++) if (pageMapOf(ssd).frontiers.l2p[lpn] >= 0) count++;
      return count;
    };
    ssd.precondition('fill');
    expect(mapped()).toBe(700);
    ssd.precondition('fill', 0.5);
    expect(mapped()).toBe(350);
    expect(ssd.precondition('none')).toBe('none');
    expect(mapped()).toBe(0);
  });

  test('what was stored is gone and reads as zeroes', () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, bufferedDrive);
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: 0, count: 2, tags: Uint32Array.of(7, 8) });
    simulator.drain();
    ssd.precondition('fill');
    const tags = Uint32Array.of(1, 1);
    submitAndWait(simulator, ssd, { op: BlockOp.read, block: 0, count: 2, tags });
    expect([...tags]).toEqual([0, 0]);
  });

  test('steady is drawn where the distribution is known, and written otherwise; both give the same amplification', () => {
    const drawn = new Ssd(new Simulator(), drive);
    expect(drawn.precondition('steady')).toBe('analytic');
    const waf = measureWaf(drawn, 80_000);
    // A policy given as an object is not known to the analysis, even if it is greedy.
    const { victimPolicy } = pageMapOf(new Ssd(new Simulator(), drive));
    const Policy = victimPolicy.constructor as new () => typeof victimPolicy;
    const written = new Ssd(new Simulator(), { ...drive, ftl: { ...drive.ftl, victim: new Policy() } });
    expect(written.precondition('fill')).toBe('written');
    measureWaf(written, 120_000);
    written.resetStats();
    expect(Math.abs(waf / measureWaf(written, 80_000) - 1)).toBeLessThan(0.02);
    const unknown = new Ssd(new Simulator(), { ...plainDrive, ftl: { victim: 'cost-benefit' } });
    expect(unknown.precondition('steady')).toBe('written');
  });

  test('is refused while requests are in flight, or for an impossible share', () => {
    const simulator = new Simulator();
    const ssd = new Ssd(simulator, plainDrive);
    const request = new BlockRequest({ ioDone: () => undefined });
    request.op = BlockOp.write;
    request.count = 1;
    ssd.submit(request);
    expect(() => ssd.precondition('fill')).toThrow(SimulationError);
    simulator.drain();
    for (const share of [0, -1, 1.1, Number.NaN]) expect(() => ssd.precondition('fill', share)).toThrow(InputError);
  });
});

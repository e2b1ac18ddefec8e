import { BlockOp, submitAndWait } from '@flashstack/block-device';
import { Simulator, StatsRegistry } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { resolvePreset, Ssd, type SsdConfig } from '../src/index.js';

// A drive hands slots over in chunks of its link, or one by one from its buffer: what LAST asks for is what the host sent.
const preset = resolvePreset('intel-x25m-vssim', { capacity: 128 * 2 ** 20, overProvisioning: 0.7 });
const { geometry } = preset.nand;
/** Slots of a logical block: it is a run of slots, since its domain is the whole drive. */
const BLOCK = geometry.channels * geometry.ways * geometry.dies * geometry.planes * geometry.pagesPerBlock;

function drive(seqThreshold: number, buffered: boolean): SsdConfig {
  const mapping = { name: 'last', parameters: { seqThreshold } };
  return { ...preset, ...(buffered ? {} : { buffer: null }), ftl: { mapping, domain: 'superblock' } };
}

/** Merges after overwrites of so many slots each, far from one another, on a full drive. */
function merges(config: SsdConfig, slots: number, requests: number): { whole: number; full: number; copies: number } {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, config);
  ssd.precondition('fill');
  const registry = new StatsRegistry();
  ssd.registerStats(registry);
  const count = (slots * geometry.slotBytes) / ssd.blockBytes;
  const places = Math.floor(ssd.blockCount / count);
  for (let i = 0; i < requests; i++) {
    submitAndWait(simulator, ssd, { op: BlockOp.write, block: ((7 * i) % places) * count, count });
  }
  submitAndWait(simulator, ssd, { op: BlockOp.flush });
  simulator.drain();
  ssd.assertDrained();
  const metrics = registry.read();
  return {
    whole: metrics['ftl.merges.switch'],
    full: metrics['ftl.merges.full'],
    copies: metrics['ftl.merges.copies'],
  };
}

describe.each([
  ['behind a buffer', true],
  ['without a buffer', false],
])('LAST %s', (_, buffered) => {
  test('requests of whole blocks are sequential by their length and cost no copies', () => {
    expect(merges(drive(16_384, buffered), BLOCK, 20)).toEqual({ whole: 20, full: 0, copies: 0 });
    expect(merges(drive(2 ** 40, buffered), BLOCK, 20).whole).toBe(0);
  });

  test('a request is sequential from the length on that is asked for', () => {
    const of = (seqThreshold: number) => merges(drive(seqThreshold, buffered), 16, 100);
    const sequential = of(8192);
    expect(of(65_536)).toEqual(sequential);
    const random = of(65_537);
    expect(random).not.toEqual(sequential);
    expect(of(2 ** 40)).toEqual(random);
  });
});

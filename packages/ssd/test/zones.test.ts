import {
  BlockOp,
  BlockStatus,
  reportZone,
  submitAndWait,
  type ZoneCapability,
  ZoneOp,
  ZoneState,
} from '@flashstack/block-device';
import { defaultReliability } from '@flashstack/nand-device';
import { Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { loadDevice, Ssd, type SsdConfig, saveDevice } from '../src/index.js';
import { bufferedDrive, plainDrive } from './small-drives.js';
import { zonedDrive } from './zoned-drives.js';

function make(config: SsdConfig): {
  ssd: Ssd;
  zones: ZoneCapability;
  run: (op: number, block: number, count: number) => number;
} {
  const simulator = new Simulator();
  const ssd = new Ssd(simulator, config);
  const run = (op: number, block: number, count: number): number => {
    const status = submitAndWait(simulator, ssd, { op, block, count });
    simulator.drain();
    return status;
  };
  return { ssd, zones: ssd.zones as ZoneCapability, run };
}

const small = zonedDrive(bufferedDrive, { units: 2, count: 8, short: 3, maxOpen: 2, maxActive: 3 });

function withParameters(config: SsdConfig, more: Record<string, number | string>): SsdConfig {
  const { parameters } = config.ftl.mapping as { parameters: Record<string, number | string> };
  return { ...config, ftl: { mapping: { name: 'zoned', parameters: { ...parameters, ...more } } } };
}

describe('a drive with zones', () => {
  test('takes a write at the pointer only, up to the capacity, of as many zones as may be active', () => {
    const { zones, run } = make(small);
    const { zoneBlocks, zoneCapacityBlocks } = zones;
    expect(reportZone(zones, 1)).toEqual({
      zone: 1,
      state: ZoneState.empty,
      start: 32,
      blocks: 32,
      capacityBlocks: 29,
      writePointer: 32,
    });
    expect(run(BlockOp.write, 1, 1)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(BlockOp.write, 0, zoneCapacityBlocks + 1)).toBe(BlockStatus.zoneBoundary);
    expect(run(BlockOp.write, 0, zoneCapacityBlocks)).toBe(BlockStatus.ok);
    expect(run(BlockOp.write, zoneCapacityBlocks, 1)).toBe(BlockStatus.zoneFull);
    for (const zone of [1, 2, 3]) expect(run(ZoneOp.append, zone * zoneBlocks, 1)).toBe(BlockStatus.ok);
    expect(run(ZoneOp.append, 4 * zoneBlocks, 1)).toBe(BlockStatus.tooManyActiveZones);
    expect(run(ZoneOp.finish, 3 * zoneBlocks, zoneBlocks)).toBe(BlockStatus.ok);
    for (const zone of [1, 2]) expect(run(ZoneOp.open, zone * zoneBlocks, zoneBlocks)).toBe(BlockStatus.ok);
    expect(run(ZoneOp.append, 4 * zoneBlocks, 1)).toBe(BlockStatus.tooManyOpenZones);
    expect(run(ZoneOp.close, 0, zoneBlocks)).toBe(BlockStatus.zoneInvalidTransition);
  });

  test('has no discard: a reset is what empties a zone', () => {
    const { ssd, zones, run } = make(small);
    expect(ssd.features.discard).toBe(false);
    run(BlockOp.write, 0, zones.zoneCapacityBlocks);
    expect(run(BlockOp.discard, 0, zones.zoneBlocks)).toBe(BlockStatus.notSupported);
    expect(zones.stateOf(0)).toBe(ZoneState.full);
    expect(run(ZoneOp.reset, 0, zones.zoneBlocks)).toBe(BlockStatus.ok);
    expect(ssd.stats.kinds.discard.requests).toBe(1);
    expect(ssd.flash.ftl.stats.erases).toBe(2);
    expect(run(BlockOp.write, 0, 1)).toBe(BlockStatus.ok);
  });

  test('limits the size of an append, if the configuration does', () => {
    const limited = withParameters(small, { appendLimit: 4 * 4096 });
    const { zones, run } = make(limited);
    expect(zones.maxAppendBlocks).toBe(4);
    expect(run(ZoneOp.append, 0, 4)).toBe(BlockStatus.ok);
    expect(() => run(ZoneOp.append, 0, 5)).toThrow('an append of 5 blocks, expected at most 4: append in parts');
    expect(run(BlockOp.write, 4, 5)).toBe(BlockStatus.ok);
    expect(() => make(withParameters(small, { appendLimit: 100 }))).toThrow(
      /appendLimit: found 100, expected a multiple/,
    );
    expect(() => make(withParameters(small, { appendLimit: 30 * 4096 }))).toThrow(
      'appendLimit: found 122880, expected at most what a zone takes (118784), or 0 for that',
    );
  });

  test('with blocks smaller than slots takes whole slots', () => {
    const { zones, run } = make({ ...small, blockBytes: 512 });
    expect(zones.zoneBlocks).toBe(256);
    expect(run(BlockOp.write, 0, 4)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(ZoneOp.append, 0, 12)).toBe(BlockStatus.zoneInvalidWrite);
    expect(run(ZoneOp.append, 0, 16)).toBe(BlockStatus.ok);
    expect(zones.writePointerOf(0)).toBe(16);
  });

  test('is full after preconditioning, up to the share in use, and goes on from a saved image', () => {
    const { ssd, zones, run } = make(small);
    run(BlockOp.write, 0, 5);
    expect(ssd.precondition('fill', 0.5)).toBe('written');
    for (let zone = 0; zone < 8; zone++) expect(zones.stateOf(zone)).toBe(zone < 4 ? ZoneState.full : ZoneState.empty);
    run(ZoneOp.append, 5 * zones.zoneBlocks, 7);
    const image = saveDevice(ssd);
    const again = new Ssd(new Simulator(), small);
    loadDevice(again, image);
    expect(again.zones?.writePointerOf(5)).toBe(5 * zones.zoneBlocks + 7);
    expect(again.zones?.stateOf(5)).toBe(ZoneState.implicitlyOpen);
    expect(again.zones?.stateOf(1)).toBe(ZoneState.full);
  });

  test('gives a zone up for which no good block is left; a reset of it is refused, also after a power cut', () => {
    const reliability = {
      ...defaultReliability(2),
      eraseFailFrom: 0,
      eraseFailTo: 3,
      ratedCycles: 1,
      programFailShare: 1,
    };
    const worn = zonedDrive({ ...plainDrive, nand: { ...plainDrive.nand, reliability } }, { units: 4, count: 6 });
    const { ssd, zones, run } = make(worn);
    let failed = -1;
    for (let round = 0; round < 200 && failed < 0; round++) {
      const zone = round % zones.zoneCount;
      const start = zone * zones.zoneBlocks;
      run(ZoneOp.reset, start, zones.zoneBlocks);
      for (let at = 0; at < zones.zoneBlocks && zones.stateOf(zone) !== ZoneState.readOnly; at += 4) {
        run(ZoneOp.append, start, 4);
      }
      if (zones.stateOf(zone) === ZoneState.readOnly) failed = zone;
    }
    const start = failed * zones.zoneBlocks;
    expect(failed).toBeGreaterThanOrEqual(0);
    const pointer = zones.writePointerOf(failed);
    expect(pointer).toBe(start + (ssd.flash.ftl.segments?.pointerOf(failed) ?? Number.NaN));
    expect(run(ZoneOp.append, start, 1)).toBe(BlockStatus.zoneReadOnly);
    expect(run(ZoneOp.reset, start, zones.zoneBlocks)).toBe(BlockStatus.zoneInvalidTransition);
    ssd.powerCut();
    ssd.powerOn();
    expect(zones.stateOf(failed)).toBe(ZoneState.readOnly);
    expect(run(ZoneOp.offline, start, zones.zoneBlocks)).toBe(BlockStatus.ok);
    expect(run(BlockOp.read, start, 1)).toBe(BlockStatus.zoneOffline);
    ssd.powerCut();
    ssd.powerOn();
    expect(zones.stateOf(failed)).toBe(ZoneState.offline);
    ssd.assertDrained();
  });
});

test('a drive with another mapping has no zones, and says so when one is asked for', () => {
  const { ssd, run } = make(plainDrive);
  expect(ssd.zones).toBeNull();
  expect(() => run(ZoneOp.reset, 0, 8)).toThrow('operation 9 is for zones, and the device has none');
});

import type { ZoneTable } from '@flashstack/block-device';
import {
  type ZonedConformanceFixture,
  type ZoneShape,
  zonedDeviceConformance,
} from '@flashstack/block-device/conformance';
import { Simulator } from '@flashstack/sim';
import { describe, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { zonedDrives } from './zoned-drives.js';

function fixture(config: SsdConfig): ZonedConformanceFixture {
  const simulator = new Simulator();
  const device = new Ssd(simulator, config);
  return {
    device,
    simulator,
    powerCut: () => {
      device.powerCut();
      device.powerOn();
      device.flash.ftl.inspect();
    },
    // What a failing block does to its zone is tested elsewhere.
    failZone: (zone, state) => {
      const zones = device.zones as ZoneTable;
      zones.set(zone, state, zones.writePointerOf(zone) - zone * zones.zoneBlocks);
    },
    close: () => device.assertDrained(),
  };
}

for (const drive of zonedDrives) {
  for (const kind of ['timeline', 'event'] as const) {
    const config = { ...drive, scheduler: { ...drive.scheduler, kind } };
    const parameters = (drive.ftl.mapping as { parameters: Record<string, number> }).parameters;
    const shape: ZoneShape = {
      zoneCount: drive.capacityBytes / parameters.zoneBytes,
      zoneBlocks: parameters.zoneBytes / 4096,
      zoneCapacityBlocks: parameters.zoneCapacity / 4096,
      maxOpen: parameters.maxOpen,
      maxActive: parameters.maxActive,
    };
    describe(`the ${drive.name} drive on the ${kind} scheduler keeps the contract of zoned devices`, () => {
      zonedDeviceConformance({
        test,
        factory: () => fixture(config),
        capabilities: {
          fua: true,
          volatileCache: !drive.powerLossProtection,
          discard: false,
          atomicBlocks: 1,
          keeps: 'contents',
        },
        shape,
      });
    });
  }
}

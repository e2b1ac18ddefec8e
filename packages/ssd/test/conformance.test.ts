import { blockDeviceConformance } from '@flashstack/block-device/conformance';
import { Simulator } from '@flashstack/sim';
import { describe, test } from 'vitest';
import { Ssd } from '../src/index.js';
import { onScheduler, variants } from './small-drives.js';

for (const { drive, kind } of variants) {
  const config = onScheduler(drive, kind);
  describe(`the ${drive.name} drive on the ${kind} scheduler keeps the block-device contract`, () => {
    blockDeviceConformance({
      test,
      factory: () => {
        const simulator = new Simulator();
        const device = new Ssd(simulator, config);
        return { device, simulator, close: () => device.assertDrained() };
      },
      capabilities: {
        fua: true,
        volatileCache: !drive.powerLossProtection && drive.host?.cache !== false,
        discard: true,
        atomicBlocks: 1,
        keeps: 'contents',
      },
    });
  });
}

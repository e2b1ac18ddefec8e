import type { BlockFeatures } from '../index.js';
import { ZoneDriver, type ZonedConformanceFixture } from './zone-harness.js';
import type { ZoneShape } from './zone-model.js';
import { zoneTests } from './zone-tests.js';

/** What the suite of zoned devices needs to know and do. */
export interface ZonedConformanceOptions {
  /** Registers a test, such as `it` of vitest or `test` of Node. */
  readonly test: (name: string, body: () => void) => unknown;
  /** Makes a fresh device of at least 4 zones with a capacity of at least 8 blocks, all of them empty. */
  readonly factory: () => ZonedConformanceFixture;
  /** What the device must say of itself. */
  readonly capabilities: BlockFeatures;
  /** What it must say of its zones. */
  readonly shape: ZoneShape;
}

/**
 * Registers the tests that every device with zones and every wrapper of one must pass; `blockDeviceConformance` is for
 * devices without. Each runs on a fresh device and fails by throwing an error that says what was expected.
 */
export function zonedDeviceConformance(options: ZonedConformanceOptions): void {
  for (const { name, body } of zoneTests) {
    options.test(name, () => {
      const fixture = options.factory();
      try {
        body(new ZoneDriver(fixture), options.capabilities, options.shape);
      } finally {
        fixture.close?.();
      }
    });
  }
}

import type { BlockFeatures } from '../index.js';
import { completionTests } from './completion-tests.js';
import { contentsTests } from './contents-tests.js';
import { type ConformanceFixture, Driver } from './harness.js';

/** What the suite needs to know and do. */
export interface ConformanceOptions {
  /** Registers a test, such as `it` of vitest or `test` of Node. */
  readonly test: (name: string, body: () => void) => unknown;
  /** Makes a fresh device, all of whose blocks read as zero, with at least 64 blocks. */
  readonly factory: () => ConformanceFixture;
  /** What the device must say of itself; tests of a feature that is absent check that it is refused. */
  readonly capabilities: BlockFeatures;
}

/** One test: a name and what to do with a fresh device. */
export interface ConformanceTest {
  readonly name: string;
  readonly body: (driver: Driver, capabilities: BlockFeatures) => void;
}

/**
 * Registers the tests that every block device and wrapper must pass. Each runs on a fresh device and fails by throwing
 * an error that says what was expected. A device that loses a request fails with a stalled simulation.
 */
export function blockDeviceConformance(options: ConformanceOptions): void {
  for (const { name, body } of [...completionTests, ...contentsTests]) {
    options.test(name, () => {
      const fixture = options.factory();
      try {
        body(new Driver(fixture), options.capabilities);
      } finally {
        fixture.close?.();
      }
    });
  }
}

export type { ConformanceFixture } from './harness.js';
export { blockDeviceConformance, type ConformanceOptions } from './suite.js';
export type { ZonedConformanceFixture } from './zone-harness.js';
export type { ZoneShape } from './zone-model.js';
export { type ZonedConformanceOptions, zonedDeviceConformance } from './zone-suite.js';

export type { ConformanceFixture } from './harness.js';
export { blockDeviceConformance, type ConformanceOptions } from './suite.js';

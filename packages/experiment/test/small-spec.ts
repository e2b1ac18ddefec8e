import type { ExperimentSpec } from '../src/index.js';

/** A run of a fraction of a second in which garbage collection works. */
export const smallSpec: ExperimentSpec = {
  device: {
    preset: 'mqsim-b8',
    capacityBytes: 128 * 2 ** 20,
    overProvisioning: 0.25,
    overrides: { 'nand.geometry.planes': 1, 'nand.geometry.channels': 4, 'nand.geometry.blocksPerPlane': 80 },
  },
  workload: { kind: 'random', parameters: { requests: 60_000, readShare: 0.3 } },
  precondition: 'fill',
};

import type { SsdConfig } from '../config.js';
import { emmc50 } from './emmc-5.0.js';
import { genericTlcNvme } from './generic-tlc-nvme.js';
import { intelX25mVssim } from './intel-x25m-vssim.js';
import { mqsimB8 } from './mqsim-b8.js';
import { samsung950Pro256 } from './samsung-950-pro-256.js';
import { sata840ProClass } from './sata-840-pro-class.js';

/** The drives that come with the package. A table of one's own can be given to `resolvePreset`. */
export const presets: readonly SsdConfig[] = [
  genericTlcNvme,
  samsung950Pro256,
  intelX25mVssim,
  emmc50,
  sata840ProClass,
  mqsimB8,
];

import type { SsdConfig } from '../config.js';
import type { Preset, Provenance } from '../provenance.js';
import { emmc45 } from './emmc-4.5.js';
import { emmc50 } from './emmc-5.0.js';
import { f2fsPcie960 } from './f2fs-pcie-960.js';
import { genericTlcNvme } from './generic-tlc-nvme.js';
import { intelX25mG180 } from './intel-x25m-g1-80.js';
import { intelX25mVssim } from './intel-x25m-vssim.js';
import { mqsimB8 } from './mqsim-b8.js';
import { samsung840g120, samsung840g250, samsung840g500 } from './samsung-840.js';
import { samsung843tn240 } from './samsung-843tn-240.js';
import { samsung950Pro256 } from './samsung-950-pro-256.js';
import { samsung950Pro512 } from './samsung-950-pro-512.js';
import { sata840ProClass } from './sata-840-pro-class.js';
import { slcNand256m } from './slc-nand-256m.js';
import { vssimX25m } from './vssim-x25m.js';

const table: readonly Preset[] = [
  genericTlcNvme,
  samsung950Pro256,
  samsung950Pro512,
  samsung840g120,
  samsung840g250,
  samsung840g500,
  samsung843tn240,
  sata840ProClass,
  f2fsPcie960,
  emmc45,
  emmc50,
  intelX25mG180,
  intelX25mVssim,
  vssimX25m,
  slcNand256m,
  mqsimB8,
];

/** The drives that come with the package. A table of one's own can be given to `resolvePreset`. */
export const presets: readonly SsdConfig[] = table.map(({ config }) => config);

/** Where the values of a preset that comes with the package come from; null for any other drive. */
export function provenanceOf(name: string): Provenance | null {
  return table.find(({ config }) => config.name === name)?.provenance ?? null;
}

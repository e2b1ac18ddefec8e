import { defaultCommandTiming, defaultFeatures, type NandConfig } from '@flashstack/nand-device';
import type { RooflineShape } from './roofline.js';

/** 8 channels × 2 chips × 1 die × 2 planes, 256 blocks per plane, 256 pages of 4 KiB: 8 GiB. */
export const config: NandConfig = {
  geometry: {
    channels: 8,
    ways: 2,
    dies: 1,
    planes: 2,
    blocksPerPlane: 256,
    pagesPerBlock: 256,
    pageBytes: 4096,
    oobBytes: 0,
    slotBytes: 4096,
    cellBits: 1,
    pairing: 'simple',
    programUnit: 'page',
  },
  timing: {
    ...defaultCommandTiming,
    readNs: [75_000],
    programNs: [750_000],
    eraseNs: 3_800_000,
    channelBytesPerSec: 333_000_000,
  },
  features: defaultFeatures,
  reliability: null,
};
const RAW = 8 * 2 * 2 * 256 * 256;
/** Over-provisioning 12.7 % of raw capacity, of which 90 % are in use. */
export const LOGICAL = Math.floor(RAW * (1 - 0.127));
export const IN_USE = Math.floor(LOGICAL * 0.9);
export const QUEUE_DEPTH = 32;
/** The same for the loop that the rows are compared with. */
export const rooflineShape: RooflineShape = {
  channels: 8,
  diesPerChannel: 2,
  planes: 2,
  blocksPerUnit: 256,
  pagesPerBlock: 256,
  pages: IN_USE,
};

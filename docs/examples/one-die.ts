import { resolvePreset, type SsdConfig } from '@flashstack/ssd';

const base = resolvePreset('mqsim-b8');

/** One die of planar SLC behind a slow bus: small enough to compute its speed by hand. */
const oneDie: SsdConfig = {
  ...base,
  name: 'one-die-slc',
  summary: 'One die of SLC, for calculations by hand.',
  sources: ['assumed: 25 us, 200 us and 1.5 ms as of a large-page SLC part'],
  figures: [],
  capacityBytes: 224 * 2 ** 20,
  nand: {
    ...base.nand,
    geometry: {
      ...base.nand.geometry,
      channels: 1,
      ways: 1,
      planes: 1,
      blocksPerPlane: 1024,
      pagesPerBlock: 64,
      cellBits: 1,
    },
    timing: {
      ...base.nand.timing,
      readNs: [25_000],
      programNs: [200_000],
      eraseNs: 1_500_000,
      channelBytesPerSec: 40e6,
    },
  },
};

export const presets: readonly SsdConfig[] = [oneDie];

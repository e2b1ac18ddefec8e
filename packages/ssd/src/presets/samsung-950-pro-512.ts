import type { Preset } from '../provenance.js';
import { calibrated, datasheet, fitted, predicted } from './preset.js';
import { host, hosted, samsung950Pro256, sheet, writeMiss } from './samsung-950-pro-256.js';

const small = samsung950Pro256.config;
const { geometry } = small.nand;

/** Samsung 950 Pro, 512 GB: the dies of the smaller one, twice as many, on a controller that then is the bound. */
export const samsung950Pro512: Preset = {
  config: {
    ...small,
    name: 'samsung-950-pro-512',
    summary: 'Samsung 950 Pro 512 GB (2015): NVMe on PCIe 3.0 x4, 32 dies of MLC V-NAND, two flash cores.',
    figures: [
      calibrated('sequentialRead', 2.5e9, [131_072, 32], sheet),
      calibrated('sequentialWrite', 1.5e9, [131_072, 32], sheet),
      calibrated('randomRead', 300_000, [4096, 128], `${sheet}: depth 32 on four threads`),
      calibrated('randomWrite', 110_000, [4096, 128], `${sheet}: depth 32 on four threads, fresh drive`),
      predicted('randomRead', 12_000, [4096, 1], hosted, host),
      predicted('randomWrite', 43_000, [4096, 1], hosted, { ...host, miss: writeMiss }),
    ],
    capacityBytes: 512_110_190_592,
    nand: { ...small.nand, geometry: { ...geometry, ways: 4 } },
    link: {
      readBytesPerSec: 2_540_000_000,
      writeBytesPerSec: 1_540_000_000,
      duplex: 'full',
      commandNs: 300,
      chunkBytes: 16_384,
    },
    firmware: { ...small.firmware, readNs: 6_600, writeNs: 18_000 },
  },
  provenance: {
    ...samsung950Pro256.provenance,
    capacityBytes: datasheet(`${sheet}: 512 GB`),
    'nand.geometry.ways': datasheet(`${sheet}: 512 GB, which is 32 dies`),
    'nand.timing.readNs': fitted('Random read of the drive of 256 GB, not of this one'),
    'nand.timing.programNs': fitted('Sequential write of the drive of 256 GB, not of this one'),
    'link.readBytesPerSec': fitted('Sequential read, 2.5 GB/s'),
    'link.writeBytesPerSec': fitted('Sequential write, 1.5 GB/s: below the bound of the dies'),
    'firmware.readNs': fitted('Random read at depth, 300 k/s over two cores'),
    'firmware.writeNs': fitted('Random write at depth, 110 k/s over two cores'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, predicted, usual } from './preset.js';

export const sheet = 'Review sheets of the Samsung 950 Pro (2015)';
const vnand = 'Three-Dimensional 128 Gb MLC Vertical NAND Flash-Memory With 24-WL Stacked Layers (2014): die size';
const vnsim = 'VNSIM: Virtual Machine Based SSD Simulator for Supporting NVM Express (2018): eight channels';
/** At depth 1 reviews measured 15 to 20 us of an operating system with each request; the least of it is taken. */
export const host = { hostNs: 15_000 };
export const hosted: string = `${sheet}; with 15 us of host software per request, of the 15 to 20 us that it takes`;
export const writeMiss =
  'With 15 to 20 us of host software the drive answers a write in 3 to 8 us and finishes its work later; here the core that bounds writes at depth works before the answer';

/**
 * Samsung 950 Pro, 256 GB. The four figures at depth are calibrated; those at depth 1 are predicted, and the published
 * ones include the host's software, which is no part of the drive: the measurement adds it.
 */
export const samsung950Pro256: Preset = {
  config: {
    name: 'samsung-950-pro-256',
    summary: 'Samsung 950 Pro 256 GB (2015): NVMe on PCIe 3.0 x4, 16 dies of MLC V-NAND, two flash cores.',
    sources: [
      'Review sheets of the Samsung 950 Pro (2015): bandwidths, IOPS, controller with three cores at 500 MHz, 512 MB DRAM',
      'Three-Dimensional 128 Gb MLC Vertical NAND Flash-Memory With 24-WL Stacked Layers and 50 MB/s High-Speed Programming (2014): die size, programming rate',
      'VNSIM: Virtual Machine Based SSD Simulator for Supporting NVM Express (2018): eight channels, two FTL cores',
    ],
    figures: [
      calibrated('sequentialRead', 2.2e9, [131_072, 32], sheet),
      calibrated('sequentialWrite', 0.9e9, [131_072, 32], sheet),
      calibrated('randomRead', 270_000, [4096, 128], `${sheet}: depth 32 on four threads`),
      calibrated('randomWrite', 85_000, [4096, 128], `${sheet}: depth 32 on four threads, fresh drive`),
      predicted('randomRead', 11_000, [4096, 1], hosted, host),
      predicted('randomWrite', 43_000, [4096, 1], hosted, { ...host, miss: writeMiss }),
    ],
    capacityBytes: 256_060_514_304,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 8,
        ways: 2,
        dies: 1,
        planes: 2,
        blocksPerPlane: 2048,
        pagesPerBlock: 256,
        pageBytes: 16_384,
        oobBytes: 1536,
        slotBytes: 4096,
        cellBits: 2,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [47_000, 47_000],
        programNs: [500_000, 500_000],
        eraseNs: 4_000_000,
        channelBytesPerSec: 533_000_000,
      },
      features: { ...defaultFeatures, independentPlaneReads: false, suspend: 'program+erase' },
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 2_230_000_000,
      writeBytesPerSec: 3_200_000_000,
      duplex: 'full',
      commandNs: 300,
      chunkBytes: 16_384,
    },
    firmware: {
      cores: 2,
      binding: 'lpn',
      readPipelineNs: 13_500,
      readNs: 6_500,
      writeNs: 23_000,
      flushNs: 10_000,
      discardNs: 20_000,
      readSlotNs: 500,
      writeSlotNs: 500,
    },
    buffer: {
      slots: 16_384,
      earlyCompletion: true,
      drain: 'eager',
      highWatermark: 0,
      lowWatermark: 0,
      inFlightSlots: 0,
    },
    queue: { depth: 1024, queues: 8 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 5_000_000,
  },
  provenance: {
    ...usual,
    capacityBytes: datasheet(`${sheet}: 256 GB`),
    'nand.geometry': paper(vnand),
    'nand.geometry.channels': paper(vnsim),
    'nand.geometry.ways': datasheet(`${sheet}: 256 GB, which is 16 dies`),
    'nand.geometry.slotBytes': chosen('Usual mapping unit'),
    'nand.geometry.pageBytes': chosen('16 KiB, programmed in pairs of planes'),
    'nand.geometry.oobBytes': chosen('Usual for 16 KiB'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': fitted('Random read at depth, 270 k/s over 16 dies'),
    'nand.timing.programNs': fitted('Sequential write, 0.9 GB/s over 16 dies: 56 MB/s each, 50 to 56 are published'),
    'nand.timing.eraseNs': chosen('Usual of MLC V-NAND'),
    'nand.timing.channelBytesPerSec': chosen('Toggle 2.0 or NV-DDR2, 400 to 667 MT/s'),
    link: datasheet('PCI Express Base Specification 3.0: four lanes of 985 MB/s, payload efficiency 0.85'),
    'link.readBytesPerSec': fitted('Sequential read, 2.2 GB/s'),
    'link.commandNs': chosen('Order of magnitude'),
    'link.chunkBytes': chosen('A flash page'),
    firmware: chosen('Order of magnitude'),
    'firmware.cores': datasheet(`${sheet}: three cores, two for the NAND side`),
    'firmware.readPipelineNs': chosen('With readNs 20 us per command: firmware of a controller at 500 MHz'),
    'firmware.readNs': chosen('Below the bound of the dies'),
    'firmware.writeNs': fitted('Random write at depth, 85 k/s over two cores'),
    buffer: chosen('64 MiB of the 512 MB DRAM'),
    queue: chosen('Deep enough never to matter'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, predicted, usual } from './preset.js';

const sheet = 'Intel X25-M vendor sheet, as quoted in press reviews (2008)';
const review = datasheet('Press review (2008): 20 chips of 4 GB on ten channels, 50 nm MLC, 16 MB SDRAM, SATA 3 Gb/s');

/** The Intel X25-M of 80 GB in physical terms: commands, transfers and cells take their time, nothing else is serial. */
export const intelX25mG180: Preset = {
  config: {
    name: 'intel-x25m-g1-80',
    summary: 'Intel X25-M 80 GB, first generation (2008): SATA 3 Gb/s, ten channels of two chips of 50 nm MLC.',
    sources: [
      'Intel X25-M vendor sheet, as quoted in press reviews (2008): bandwidths, IOPS; its latencies are recalled, not re-checked',
      'Press review (2008): 20 chips of 4 GB, ten channels, 50 nm MLC, 16 MB SDRAM',
      'Open NAND Flash Interface: asynchronous timing mode 4, 40 MB/s',
    ],
    figures: [
      calibrated('sequentialRead', 250e6, [131_072, 32], sheet),
      calibrated('sequentialWrite', 70e6, [131_072, 32], sheet),
      calibrated('randomRead', 35_000, [4096, 32], sheet),
      calibrated('randomWrite', 8696, [4096, 1], `${sheet}: write latency of 115 us`),
      predicted('randomRead', 11_765, [4096, 1], `${sheet}: read latency of 85 us`, {
        miss: 'The sheet does not say how much is read; 4 KiB take 100 us on a channel of 40 MB/s alone',
      }),
    ],
    capacityBytes: 80_026_361_856,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 10,
        ways: 2,
        dies: 1,
        planes: 1,
        blocksPerPlane: 8192,
        pagesPerBlock: 128,
        pageBytes: 4096,
        oobBytes: 128,
        slotBytes: 4096,
        cellBits: 2,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [50_000, 50_000],
        programNs: [1_060_000, 1_060_000],
        eraseNs: 2_000_000,
        channelBytesPerSec: 40_000_000,
      },
      features: { ...defaultFeatures, multiPlane: false },
      reliability: null,
    },
    ftl: { domain: 'unit', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 255_000_000,
      writeBytesPerSec: 255_000_000,
      duplex: 'half',
      commandNs: 1_000,
      chunkBytes: 4096,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 28_500,
      writeNs: 98_000,
      flushNs: 20_000,
      discardNs: 100_000,
      readSlotNs: 500,
      writeSlotNs: 500,
    },
    buffer: {
      slots: 2048,
      earlyCompletion: true,
      drain: 'eager',
      highWatermark: 0,
      lowWatermark: 0,
      inFlightSlots: 0,
    },
    queue: { depth: 32, queues: 1 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 10_000_000,
  },
  provenance: {
    ...usual,
    capacityBytes: datasheet('Vendor sheet: 80 GB'),
    'nand.geometry': chosen('Usual sizes of a 50 nm MLC part: 4 KiB pages, 128 pages per block'),
    'nand.geometry.channels': review,
    'nand.geometry.ways': review,
    'nand.geometry.blocksPerPlane': datasheet('Press review (2008): chips of 4 GB'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': chosen('Usual tR of 50 nm MLC'),
    'nand.timing.programNs': fitted('Sequential write, 70 MB/s over 20 chips'),
    'nand.timing.eraseNs': chosen('Usual tBERS of 50 nm MLC'),
    'nand.timing.channelBytesPerSec': datasheet('Open NAND Flash Interface: asynchronous timing mode 4, 40 MB/s'),
    link: chosen('Frames of a SATA command'),
    'link.readBytesPerSec': fitted('Sequential read, 250 MB/s; SATA 3 Gb/s carries at most 276'),
    'link.writeBytesPerSec': fitted('As for reads: one link'),
    firmware: chosen('No document'),
    'firmware.readNs': fitted('Random read, 35 k/s'),
    'firmware.writeNs': fitted('Write latency, 115 us'),
    buffer: chosen('Half of the 16 MB SDRAM'),
    queue: datasheet('Serial ATA: native command queue of 32'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, usual } from './preset.js';

const f2fs = 'F2FS: A New File System for Flash Storage (FAST 2015)';
const reviews = datasheet('Press reviews of the Samsung 840 series (2012-13)');

/**
 * A SATA drive of the class used in the F2FS paper, calibrated on that paper's four bandwidths. They were measured at
 * depth 1 through a file descriptor and so include the host's software; the constants here carry it.
 */
export const sata840ProClass: Preset = {
  config: {
    name: 'sata-840-pro-class',
    summary: 'SATA 6 Gb/s drive of 256 GB (2012 class, MLC): the SATA SSD of the F2FS paper.',
    sources: [
      'F2FS: A New File System for Flash Storage (FAST 2015): 486/471 MB/s of 512 KiB, 40/140 MB/s of 4 KiB, one thread, O_DIRECT',
      'Press reviews of the Samsung 840 series (2012-13): eight channels, 64 Gbit dies, Toggle 2.0 at 400 MT/s, SATA 6 Gb/s',
    ],
    figures: [
      calibrated('sequentialRead', 486e6, [524_288, 1], f2fs),
      calibrated('sequentialWrite', 471e6, [524_288, 1], f2fs),
      calibrated('randomRead', 9766, [4096, 1], `${f2fs}: 40 MB/s`),
      calibrated('randomWrite', 34_180, [4096, 1], `${f2fs}: 140 MB/s`),
    ],
    capacityBytes: 256_060_514_304,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 8,
        ways: 4,
        dies: 1,
        planes: 2,
        blocksPerPlane: 2048,
        pagesPerBlock: 256,
        pageBytes: 8192,
        oobBytes: 744,
        slotBytes: 4096,
        cellBits: 2,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [55_000, 55_000],
        programNs: [1_066_000, 1_066_000],
        eraseNs: 3_000_000,
        channelBytesPerSec: 400_000_000,
      },
      features: defaultFeatures,
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 545_000_000,
      writeBytesPerSec: 545_000_000,
      duplex: 'half',
      commandNs: 2_000,
      chunkBytes: 8192,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 26_000,
      writeNs: 19_500,
      flushNs: 10_000,
      discardNs: 30_000,
      readSlotNs: 500,
      writeSlotNs: 500,
    },
    buffer: {
      slots: 8192,
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
    capacityBytes: paper(`${f2fs}: a SATA SSD of 250 GB; 256 GB is the class`),
    'nand.geometry': chosen('64 Gbit MLC of the 2x nm class: 8 KiB pages, two planes'),
    'nand.geometry.channels': reviews,
    'nand.geometry.ways': chosen('Four dies per channel of eight make 256 GB'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': chosen('Usual tR of 2x nm MLC'),
    'nand.timing.programNs': fitted('Sequential write, 471 MB/s'),
    'nand.timing.eraseNs': datasheet('64 Gbit MLC part: 3 ms'),
    'nand.timing.channelBytesPerSec': reviews,
    link: fitted('Sequential read, 486 MB/s; SATA 6 Gb/s carries at most 555'),
    'link.commandNs': chosen('Frames of a SATA command'),
    'link.chunkBytes': chosen('A flash page'),
    firmware: chosen('No document'),
    'firmware.readNs': fitted('Random read, 40 MB/s'),
    'firmware.writeNs': fitted('Random write, 140 MB/s'),
    buffer: chosen('32 MiB'),
    queue: datasheet('Serial ATA: native command queue of 32'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, usual } from './preset.js';

const f2fs = 'F2FS: A New File System for Flash Storage (FAST 2015)';

/**
 * The eMMC of the F2FS paper, that of a Galaxy S4. Its bandwidths were measured by one thread through a file descriptor
 * and so include the host's software; the constants here carry it.
 */
export const emmc45: Preset = {
  config: {
    name: 'emmc-4.5',
    summary: 'eMMC 4.5 of 16 GB (Galaxy S4, 2013): HS200, one command at a time, the eMMC of the F2FS paper.',
    sources: [
      `${f2fs}: 114/72 MB/s of 512 KiB, 12/12 MB/s of 4 KiB, one thread, O_DIRECT`,
      'JEDEC eMMC 4.5: HS200, no command queue',
    ],
    figures: [
      calibrated('sequentialRead', 114e6, [524_288, 1], f2fs),
      calibrated('sequentialWrite', 72e6, [524_288, 1], f2fs),
      calibrated('randomRead', 2930, [4096, 1], `${f2fs}: 12 MB/s`),
      calibrated('randomWrite', 2930, [4096, 1], `${f2fs}: 12 MB/s`),
    ],
    capacityBytes: 15_758_000_128,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 1,
        ways: 4,
        dies: 1,
        planes: 2,
        blocksPerPlane: 1024,
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
        readNs: [75_000, 75_000],
        programNs: [825_000, 825_000],
        eraseNs: 3_000_000,
        channelBytesPerSec: 200_000_000,
      },
      features: defaultFeatures,
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 125_000_000,
      writeBytesPerSec: 125_000_000,
      duplex: 'half',
      commandNs: 5_000,
      chunkBytes: 16_384,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 204_000,
      writeNs: 302_000,
      flushNs: 50_000,
      discardNs: 200_000,
      readSlotNs: 1_000,
      writeSlotNs: 1_000,
    },
    buffer: {
      slots: 128,
      earlyCompletion: true,
      drain: 'eager',
      highWatermark: 0,
      lowWatermark: 0,
      inFlightSlots: 0,
    },
    queue: { depth: 1, queues: 1 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 20_000_000,
  },
  provenance: {
    ...usual,
    capacityBytes: paper(`${f2fs}: 16 GB; the exact size is a usual one`),
    'nand.geometry': datasheet('MLC of the 2x nm class: 8,192 + 744 bytes, 256 pages per block, two planes'),
    'nand.geometry.channels': chosen('One is usual'),
    'nand.geometry.ways': chosen('Two to four dies are usual'),
    'nand.geometry.blocksPerPlane': chosen('32 Gbit dies: four make 16 GB'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': datasheet('64 Gbit MLC part: 75 us typical'),
    'nand.timing.programNs': fitted('Sequential write, 72 MB/s over four dies'),
    'nand.timing.eraseNs': datasheet('64 Gbit MLC part: 3 ms typical'),
    'nand.timing.channelBytesPerSec': datasheet('64 Gbit MLC part: NV-DDR, 200 MT/s'),
    link: fitted('Sequential read, 114 MB/s; HS200 carries at most 200'),
    'link.commandNs': chosen('A command and its response'),
    'link.chunkBytes': chosen('The program unit'),
    firmware: chosen('No document'),
    'firmware.readNs': fitted('Random read, 12 MB/s'),
    'firmware.writeNs': fitted('Random write, 12 MB/s'),
    buffer: chosen('512 KiB'),
    queue: datasheet('JEDEC eMMC 4.5: no command queue'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, usual } from './preset.js';

const release = 'Vendor press release on eMMC 5.0, quoted 2015';

/** An eMMC 5.0 device of the 2014 flagship phones. */
export const emmc50: Preset = {
  config: {
    name: 'emmc-5.0',
    summary: 'eMMC 5.0 of 64 GB (2014 flagship phones): HS400, one command at a time, four MLC dies on two channels.',
    sources: [
      'Vendor press release on eMMC 5.0, quoted 2015: 250/90 MB/s, 7 k/7 k IOPS of 4 KiB',
      'JEDEC eMMC 5.0: HS400, no command queue',
      'Datasheet of a 128 Gbit MLC part, 20 nm: 16 KiB pages, 512 pages per block, tR 115 us max',
    ],
    figures: [
      calibrated('sequentialRead', 250e6, [524_288, 1], release),
      calibrated('sequentialWrite', 90e6, [524_288, 1], release),
      calibrated('randomRead', 7000, [4096, 1], release),
      calibrated('randomWrite', 7000, [4096, 1], release),
    ],
    capacityBytes: 64_023_257_088,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 2,
        ways: 2,
        dies: 1,
        planes: 2,
        blocksPerPlane: 1024,
        pagesPerBlock: 512,
        pageBytes: 16_384,
        oobBytes: 1872,
        slotBytes: 4096,
        cellBits: 2,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [90_000, 90_000],
        programNs: [1_265_000, 1_265_000],
        eraseNs: 3_000_000,
        channelBytesPerSec: 200_000_000,
      },
      features: defaultFeatures,
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 270_000_000,
      writeBytesPerSec: 270_000_000,
      duplex: 'half',
      commandNs: 3_000,
      chunkBytes: 16_384,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 14_000,
      writeNs: 122_000,
      flushNs: 30_000,
      discardNs: 100_000,
      readSlotNs: 1_000,
      writeSlotNs: 1_000,
    },
    buffer: {
      slots: 256,
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
    capacityBytes: datasheet('Vendor press release: 64 GB'),
    'nand.geometry': datasheet(
      '128 Gbit MLC part, 20 nm: 16 KiB pages, 512 pages per block, two planes of about 1,024 blocks',
    ),
    'nand.geometry.channels': chosen('One or two are usual'),
    'nand.geometry.ways': chosen('Four dies make 64 GB'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': chosen('Below the 115 us at most of the part'),
    'nand.timing.programNs': fitted('Sequential write, 90 MB/s over four dies'),
    'nand.timing.eraseNs': datasheet('128 Gbit MLC part, 20 nm: 3 ms'),
    'nand.timing.channelBytesPerSec': chosen('NV-DDR2, between 166 and 200 MT/s'),
    link: fitted('Sequential read, 250 MB/s; HS400 carries at most 400'),
    'link.commandNs': chosen('A command and its response'),
    'link.chunkBytes': chosen('A flash page'),
    firmware: chosen('No document'),
    'firmware.readNs': fitted('Random read, 7 k/s'),
    'firmware.writeNs': fitted('Random write, 7 k/s'),
    buffer: chosen('1 MiB'),
    queue: datasheet('JEDEC eMMC 5.0: no command queue'),
  },
};

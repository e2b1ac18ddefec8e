import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler, type PublishedFigure, type SsdConfig } from '../config.js';
import type { Preset, Provenance } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, predicted, usual } from './preset.js';

const sheet = 'Press reviews of the Samsung 840 series (2012-13)';
const reviews = datasheet(sheet);
const tlc = 'SimpleSSD (2018), planar TLC: tR 56.5/77.5/106 us, tPROG 0.82/2.2/5.7 ms by page type';

const hostMiss =
  'The published figure includes host software, 11 to 16 us per request by the difference; no source gives it for this drive';

/** Values that all sizes share: the dies are those of the 250 GB drive, the controller that of the 500 GB drive. */
const provenance: Provenance = {
  ...usual,
  'nand.geometry': chosen('Usual sizes of a 21 nm TLC part: 8 KiB pages, 192 pages per block, two planes'),
  'nand.geometry.channels': reviews,
  'nand.geometry.cellBits': reviews,
  'nand.geometry.blocksPerPlane': datasheet(`${sheet}: dies of 64 Gbit`),
  'nand.timing': commandCycles,
  'nand.timing.readNs': paper(tlc),
  'nand.timing.programNs': fitted(
    `Sequential write of the 250 GB drive: the published ratios, 70 % of the times (${tlc})`,
  ),
  'nand.timing.eraseNs': paper('SimpleSSD (2018), planar TLC: 3 ms'),
  'nand.timing.channelBytesPerSec': datasheet(`${sheet}: Toggle 2.0, 400 MT/s`),
  link: fitted('Sequential read, 540 MB/s; SATA 6 Gb/s carries at most 555'),
  'link.commandNs': chosen('Frames of a SATA command'),
  'link.chunkBytes': chosen('A flash page'),
  firmware: chosen('No document'),
  'firmware.readNs': fitted('Random read of the 500 GB drive, 98 k/s'),
  'firmware.writeNs': fitted('Random write of the 500 GB drive, 70 k/s'),
  'firmware.writeSlotNs': fitted('Sequential write of the 500 GB drive, 330 MB/s'),
  buffer: chosen('32 MiB of the 512 MB DRAM'),
  queue: datasheet('Serial ATA: native command queue of 32'),
};

/** One size of the series: `ways` dies of 64 Gbit on each of eight channels. */
function size(gigabytes: number, ways: number, capacityBytes: number, figures: readonly PublishedFigure[]): Preset {
  const config: SsdConfig = {
    name: `samsung-840-${gigabytes}`,
    summary: `Samsung 840 ${gigabytes} GB (2012): SATA 6 Gb/s, ${8 * ways} dies of 21 nm TLC on eight channels.`,
    sources: [
      `${sheet}: bandwidths, IOPS, eight channels, 64 Gbit dies of 21 nm TLC, Toggle 2.0 at 400 MT/s, 512 MB DRAM`,
      tlc,
    ],
    figures,
    capacityBytes,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 8,
        ways,
        dies: 1,
        planes: 2,
        blocksPerPlane: 2732,
        pagesPerBlock: 192,
        pageBytes: 8192,
        oobBytes: 744,
        slotBytes: 4096,
        cellBits: 3,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [56_500, 77_500, 106_000],
        programNs: [575_000, 1_560_000, 4_020_000],
        eraseNs: 3_000_000,
        channelBytesPerSec: 400_000_000,
      },
      features: defaultFeatures,
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 550_000_000,
      writeBytesPerSec: 550_000_000,
      duplex: 'half',
      commandNs: 2_000,
      chunkBytes: 8192,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 10_200,
      writeNs: 14_200,
      flushNs: 10_000,
      discardNs: 30_000,
      readSlotNs: 500,
      writeSlotNs: 12_300,
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
  };
  const dies = datasheet(`${sheet}: ${gigabytes} GB, which is ${8 * ways} dies`);
  return { config, provenance: { ...provenance, capacityBytes: dies, 'nand.geometry.ways': dies } };
}

/** Samsung 840, 120 GB: everything at depth is predicted from the larger drives. */
export const samsung840g120: Preset = size(120, 2, 120_034_123_776, [
  predicted('sequentialRead', 530e6, [131_072, 32], sheet),
  predicted('sequentialWrite', 130e6, [131_072, 32], sheet),
  predicted('randomRead', 86_000, [4096, 32], sheet, {
    miss: 'Sixteen dies could serve 177 k; here link and controller bound all three sizes alike, at the rate of the largest',
  }),
  predicted('randomWrite', 32_000, [4096, 32], sheet),
]);

/** Samsung 840, 250 GB: its sequential write gives the time of the cells. */
export const samsung840g250: Preset = size(250, 4, 250_059_350_016, [
  predicted('sequentialRead', 540e6, [131_072, 32], sheet),
  calibrated('sequentialWrite', 250e6, [131_072, 32], sheet),
  predicted('randomRead', 96_000, [4096, 32], sheet),
  predicted('randomWrite', 62_000, [4096, 32], `${sheet}; one review prints 44 k`),
  predicted('randomRead', 7900, [4096, 1], sheet, { miss: hostMiss }),
  predicted('randomWrite', 29_000, [4096, 1], sheet, { miss: hostMiss }),
]);

/** Samsung 840, 500 GB: bound by link and controller, which it is calibrated on. */
export const samsung840g500: Preset = size(500, 8, 500_107_862_016, [
  calibrated('sequentialRead', 540e6, [131_072, 32], sheet),
  calibrated('sequentialWrite', 330e6, [131_072, 32], sheet),
  calibrated('randomRead', 98_000, [4096, 32], sheet),
  calibrated('randomWrite', 70_000, [4096, 32], `${sheet}; one review prints 44 k`),
]);

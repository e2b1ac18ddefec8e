import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, predicted, simulator, usual } from './preset.js';

const sheet = 'Intel X25-M vendor sheet, as quoted in press reviews (2008)';
const shipped = simulator('VSSIM: Virtual Machine Based SSD Simulator (2013), shipped configuration of the X25-M');

/**
 * The Intel X25-M with the structure and delays of VSSIM, on any scheduler; `vssim-x25m` is on VSSIM's own. Its channel switch delay (16 us per page read, 33 us per page written, over the
 * whole device) is the time of one firmware core per slot here; its register times are the channel's rate.
 */
export const intelX25mVssim: Preset = {
  config: {
    name: 'intel-x25m-vssim',
    summary: 'Intel X25-M (2008) in the structure of VSSIM: SATA 3 Gb/s, ten channels of two MLC flash chips.',
    sources: [
      'VSSIM: Virtual Machine Based SSD Simulator (2013) and its shipped configuration: structure, delays, buffers, over-provisioning',
      'Intel X25-M vendor sheet, as quoted in press reviews (2008): bandwidths',
    ],
    figures: [
      calibrated('sequentialRead', 250e6, [131_072, 32], `${sheet}; VSSIM issues a page every 16 us, 256 MB/s`),
      calibrated(
        'sequentialWrite',
        80e6,
        [131_072, 32],
        'VSSIM configuration: 20 chips over 940 + 82 us; the sheet says 70 MB/s',
      ),
      predicted('randomRead', 35_000, [4096, 32], sheet, {
        miss: 'VSSIM has no other cost per request than the switch delay, so small reads are as fast as its page rate',
      }),
    ],
    capacityBytes: 20_452_225_024,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 10,
        ways: 2,
        dies: 1,
        planes: 1,
        blocksPerPlane: 1024,
        pagesPerBlock: 256,
        pageBytes: 4096,
        oobBytes: 0,
        slotBytes: 4096,
        cellBits: 2,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [140_000, 140_000],
        programNs: [940_000, 940_000],
        eraseNs: 2_000_000,
        channelBytesPerSec: 49_951_219,
      },
      features: { ...defaultFeatures, multiPlane: false },
      reliability: null,
    },
    ftl: { domain: 'unit', victim: 'greedy' },
    link: {
      readBytesPerSec: 276_000_000,
      writeBytesPerSec: 276_000_000,
      duplex: 'half',
      commandNs: 500,
      chunkBytes: 4096,
    },
    firmware: {
      cores: 1,
      binding: 'leastLoaded',
      readPipelineNs: 0,
      readNs: 16_000,
      writeNs: 33_000,
      flushNs: 16_000,
      discardNs: 33_000,
      readSlotNs: 16_000,
      writeSlotNs: 33_000,
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
    ftl: simulator('VSSIM: page mapping, greedy victims'),
    capacityBytes: simulator('VSSIM shipped configuration: 5 % over-provisioning of 20 GiB'),
    'nand.geometry': shipped,
    'nand.geometry.oobBytes': chosen('VSSIM moves no spare bytes'),
    'nand.geometry.cellBits': chosen('The drive is of MLC; VSSIM does not say'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': shipped,
    'nand.timing.programNs': shipped,
    'nand.timing.eraseNs': shipped,
    'nand.timing.channelBytesPerSec': simulator('VSSIM: 82 us for a page of 4,096 bytes'),
    link: datasheet('SATA 3 Gb/s: 300 MB/s, of which framing leaves 92 %'),
    'link.commandNs': chosen('Frames of a SATA command'),
    'link.chunkBytes': chosen('A page'),
    firmware: simulator(
      'VSSIM: channel switch delay of 16 us per page read, 33 us per page written, as time of one core',
    ),
    'firmware.flushNs': chosen('As a page read; VSSIM knows no flush'),
    'firmware.discardNs': chosen('As a page write; VSSIM knows no discard'),
    'firmware.readPipelineNs': chosen('VSSIM has none'),
    buffer: shipped,
    queue: datasheet('Serial ATA: native command queue of 32'),
  },
};

import { defaultCommandTiming, defaultFeatures, defaultVssimDelays } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware } from '../config.js';
import type { Preset } from '../provenance.js';
import { chosen, commandCycles, predicted, simulator, target, usual } from './preset.js';

const shipped = simulator('VSSIM: Virtual Machine Based SSD Simulator (2013), shipped configuration of the X25-M');
const sheet = 'Intel X25-M vendor sheet, as quoted in press reviews (2008)';

/** VSSIM's own X25-M on VSSIM's own delay model: the drive to compare with what VSSIM says. */
export const vssimX25m: Preset = {
  config: {
    name: 'vssim-x25m',
    summary: 'Intel X25-M (2008) as VSSIM simulates it: ten channels of two chips, on the delay model of VSSIM.',
    sources: [
      'VSSIM: Virtual Machine Based SSD Simulator (2013) and its shipped configuration: structure, delays, buffers, over-provisioning',
      'Intel X25-M vendor sheet, as quoted in press reviews (2008): bandwidths',
    ],
    figures: [
      target(
        'sequentialRead',
        256e6,
        [131_072, 32],
        0.02,
        'Closed form of the model: 4,096 B per switch delay of 16 us',
      ),
      target(
        'sequentialWrite',
        79e6,
        [131_072, 32],
        0.02,
        'Closed form of the model: 20 chips of 82 + 940 us, 78 to 80 MB/s',
      ),
      predicted('sequentialRead', 250e6, [131_072, 32], sheet, { tolerance: 0.03 }),
      predicted('sequentialWrite', 70e6, [131_072, 32], sheet, { tolerance: 0.15 }),
      predicted('randomRead', 35_000, [4096, 32], sheet, {
        miss: 'VSSIM issues strictly in order: a read whose chip is busy holds back all reads behind it, whichever chips are idle',
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
        channelBytesPerSec: 49_951_220,
      },
      // VSSIM knows no loss of paired pages; with it, every flush would pad.
      features: { ...defaultFeatures, multiPlane: false, pairedLost: 0 },
      reliability: null,
    },
    ftl: { domain: 'unit', victim: 'greedy', gcMode: 'blocking' },
    link: null,
    firmware: freeFirmware,
    buffer: {
      slots: 8192,
      earlyCompletion: true,
      drain: 'eager',
      highWatermark: 0,
      lowWatermark: 0,
      inFlightSlots: 0,
    },
    queue: { depth: 32, queues: 1 },
    scheduler: { ...defaultScheduler, kind: 'vssim', vssim: defaultVssimDelays },
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 10_000_000,
  },
  provenance: {
    ...usual,
    'nand.features.pairedLost': simulator('VSSIM knows no loss of paired pages'),
    ftl: simulator('VSSIM: page mapping, greedy victims'),
    capacityBytes: simulator('VSSIM shipped configuration: 5 % over-provisioning of 20 GiB'),
    'nand.geometry': shipped,
    'nand.geometry.oobBytes': chosen('VSSIM moves no spare bytes'),
    'nand.geometry.cellBits': chosen('The drive is of MLC; VSSIM does not say'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': shipped,
    'nand.timing.programNs': shipped,
    'nand.timing.eraseNs': shipped,
    'nand.timing.channelBytesPerSec': simulator('VSSIM: 82 us for a page; only the scan after a power cut uses it'),
    firmware: simulator('VSSIM: no processor time'),
    buffer: shipped,
    queue: chosen('NCQ of the drive'),
    'scheduler.vssim': shipped,
  },
};

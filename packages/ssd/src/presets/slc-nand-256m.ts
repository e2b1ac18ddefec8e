import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, usual } from './preset.js';

const part = datasheet('Common 1 to 8 Gbit SLC parts, large page: 2,048 + 64 bytes, 64 pages per block');
const board =
  'Revisiting Read-ahead Efficiency for Raw NAND Flash Storage in Embedded Linux (EWiLi 2014): OMAP3530, 256 MB of SLC NAND';

/** A raw SLC chip as embedded boards carry: one die, no buffer, no link, a processor that costs nothing. */
export const slcNand256m: Preset = {
  config: {
    name: 'slc-nand-256m',
    summary: 'Raw SLC NAND chip of 256 MB (2010 embedded board): one die of 2 KiB pages, no controller, no buffer.',
    sources: [
      `${board}; a page of 2,048 bytes is read in 130 us including the bus`,
      'Datasheets of common 1 to 8 Gbit SLC parts: tR 25 us, tPROG 200 us, tBERS 1.5 to 2 ms',
    ],
    figures: [calibrated('randomRead', 1e9 / 130_000, [2048, 1], `${board}: 2,048 bytes in 130 us including the bus`)],
    capacityBytes: 251_658_240,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 1,
        ways: 1,
        dies: 1,
        planes: 1,
        blocksPerPlane: 2048,
        pagesPerBlock: 64,
        pageBytes: 2048,
        oobBytes: 64,
        slotBytes: 2048,
        cellBits: 1,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [25_000],
        programNs: [200_000],
        eraseNs: 1_500_000,
        channelBytesPerSec: 19_530_900,
      },
      features: { ...defaultFeatures, multiPlane: false, nop: 4, codewordBytes: 512 },
      reliability: null,
    },
    ftl: { domain: 'unit', victim: 'greedy' },
    link: null,
    firmware: freeFirmware,
    buffer: null,
    queue: { depth: 1, queues: 1 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 0,
  },
  provenance: {
    ...usual,
    'nand.features': datasheet('2 Gbit SLC part: four programs a page, codewords of 512 bytes'),
    capacityBytes: chosen('A spare sixteenth for a mapping layer, so that the chip can be used as a block device'),
    'nand.geometry': part,
    'nand.geometry.blocksPerPlane': paper(`${board}`),
    'nand.timing': commandCycles,
    'nand.timing.readNs': part,
    'nand.timing.programNs': part,
    'nand.timing.eraseNs': part,
    'nand.timing.channelBytesPerSec': fitted('What is left of the 130 us after tR and the command'),
    firmware: chosen('A raw chip has none'),
    queue: chosen('A raw chip takes one command at a time'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { chosen, commandCycles, datasheet, paper, target, usual } from './preset.js';

const vnand = paper('Vendor comparison of V-NAND generations: 64-layer TLC');

/** A mainstream NVMe drive that is no particular product: a neutral base for experiments. */
export const genericTlcNvme: Preset = {
  config: {
    name: 'generic-tlc-nvme',
    summary: 'Generic 480 GB NVMe drive of 64-layer TLC, PCIe 3.0 x4: a neutral base for experiments.',
    sources: [
      'Vendor comparison of V-NAND generations, 64-layer TLC: 16 KiB page, tR 60 us, tPROG 700 us per word line, tBERS 3.5 ms',
      'PCI Express Base Specification 3.0: 985 MB/s per lane; payload efficiency 0.85',
      'NVMeVirt: A Versatile Software-defined Virtual NVMe Device (FAST 2023): order of magnitude of firmware costs',
    ],
    figures: [
      target('sequentialRead', 3.35e9, [131_072, 32], 0.05, 'Link bound of PCIe 3.0 x4 at 85 % efficiency; chosen'),
      target('sequentialWrite', 3.2e9, [131_072, 32], 0.1, 'Link and die bound; chosen'),
      target('randomRead', 415_000, [4096, 128], 0.1, 'Bound of 32 dies at depth 128; chosen'),
      target('randomWrite', 400_000, [4096, 32], 0.1, 'Bound of four firmware cores on an empty drive; chosen'),
    ],
    capacityBytes: 480_000_000_000,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 8,
        ways: 4,
        dies: 1,
        planes: 2,
        blocksPerPlane: 682,
        pagesPerBlock: 768,
        pageBytes: 16_384,
        oobBytes: 1872,
        slotBytes: 4096,
        cellBits: 3,
        pairing: 'simple',
        programUnit: 'wordline',
      },
      timing: {
        ...defaultCommandTiming,
        readNs: [60_000, 60_000, 60_000],
        programNs: [700_000],
        eraseNs: 3_500_000,
        channelBytesPerSec: 667_000_000,
      },
      features: { ...defaultFeatures, suspend: 'program+erase' },
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 3_350_000_000,
      writeBytesPerSec: 3_350_000_000,
      duplex: 'full',
      commandNs: 300,
      chunkBytes: 16_384,
    },
    firmware: {
      cores: 4,
      binding: 'leastLoaded',
      readPipelineNs: 5_000,
      readNs: 8_000,
      writeNs: 10_000,
      flushNs: 5_000,
      discardNs: 10_000,
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
    capacityBytes: chosen('A usual size'),
    'nand.geometry': chosen('Usual sizes of a 64-layer TLC part'),
    'nand.geometry.pageBytes': vnand,
    'nand.timing': commandCycles,
    'nand.timing.readNs': vnand,
    'nand.timing.programNs': vnand,
    'nand.timing.eraseNs': vnand,
    'nand.timing.channelBytesPerSec': datasheet('Open NAND Flash Interface: NV-DDR3, 667 MT/s'),
    link: datasheet('PCI Express Base Specification 3.0: four lanes of 985 MB/s, payload efficiency 0.85'),
    'link.commandNs': chosen('Order of magnitude'),
    'link.chunkBytes': chosen('A flash page'),
    firmware: chosen('Order of magnitude of NVMeVirt (FAST 2023)'),
    buffer: chosen('64 MiB'),
    queue: chosen('Deep enough never to matter'),
  },
};

import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler } from '../config.js';
import type { Preset } from '../provenance.js';
import { calibrated, chosen, commandCycles, datasheet, fitted, paper, usual } from './preset.js';

const f2fs = 'F2FS: A New File System for Flash Storage (FAST 2015)';

/**
 * The PCIe drive of the F2FS paper, which does not name it. Its bandwidths were measured by one thread through a file
 * descriptor and so include the host's software; the constants here carry it.
 */
export const f2fsPcie960: Preset = {
  config: {
    name: 'f2fs-pcie-960',
    summary: 'PCIe drive of 960 GB (2014 class, MLC): the PCIe SSD of the F2FS paper.',
    sources: [
      `${f2fs}: 1,295/922 MB/s of 512 KiB, 41/254 MB/s of 4 KiB, one thread, O_DIRECT`,
      'Datasheet of a 128 Gbit MLC part, 20 nm: 16 KiB pages, 512 pages per block, tPROG 1.6 ms',
      'PCI Express Base Specification 2.0: 500 MB/s per lane',
    ],
    figures: [
      calibrated('sequentialRead', 1295e6, [524_288, 1], f2fs),
      calibrated('sequentialWrite', 922e6, [524_288, 1], f2fs),
      calibrated('randomRead', 10_010, [4096, 1], `${f2fs}: 41 MB/s`),
      calibrated('randomWrite', 62_012, [4096, 1], `${f2fs}: 254 MB/s`),
    ],
    capacityBytes: 960_197_124_096,
    blockBytes: 512,
    nand: {
      geometry: {
        channels: 16,
        ways: 4,
        dies: 1,
        planes: 2,
        blocksPerPlane: 1048,
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
        readNs: [60_000, 60_000],
        programNs: [1_600_000, 1_600_000],
        eraseNs: 3_000_000,
        channelBytesPerSec: 333_000_000,
      },
      features: defaultFeatures,
      reliability: null,
    },
    ftl: { domain: 'die', victim: 'greedy', wearLevelling: { kind: 'threshold' } },
    link: {
      readBytesPerSec: 1_950_000_000,
      writeBytesPerSec: 960_000_000,
      duplex: 'full',
      commandNs: 1_000,
      chunkBytes: 16_384,
    },
    firmware: {
      cores: 2,
      binding: 'leastLoaded',
      readPipelineNs: 10_000,
      readNs: 14_000,
      writeNs: 11_000,
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
    queue: { depth: 256, queues: 1 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 20_000,
    idleNs: 5_000_000,
  },
  provenance: {
    ...usual,
    capacityBytes: paper(`${f2fs}: 960 GB; the exact size is a usual one`),
    'nand.geometry': datasheet(
      '128 Gbit MLC part, 20 nm: 16,384 + 1,872 bytes, 512 pages per block, two planes of 1,048 blocks',
    ),
    'nand.geometry.channels': chosen('Usual of PCIe drives of that time'),
    'nand.geometry.ways': chosen('64 dies of 128 Gbit make 960 GB and spare'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': chosen('Below the 115 us at most of the part'),
    'nand.timing.programNs': datasheet('128 Gbit MLC part, 20 nm: 1.6 ms typical'),
    'nand.timing.eraseNs': datasheet('128 Gbit MLC part, 20 nm: 3 ms typical'),
    'nand.timing.channelBytesPerSec': datasheet('Open NAND Flash Interface: NV-DDR2, 333 MT/s'),
    link: chosen('Order of magnitude'),
    'link.readBytesPerSec': fitted('Sequential read, 1,295 MB/s; four lanes of PCIe 2.0 carry 1.7 to 1.84 GB/s'),
    'link.writeBytesPerSec': fitted('Sequential write, 922 MB/s'),
    firmware: chosen('Order of magnitude'),
    'firmware.readNs': fitted('Random read, 41 MB/s'),
    'firmware.writeNs': fitted('Random write, 254 MB/s'),
    buffer: chosen('64 MiB'),
    queue: chosen('Deep enough never to matter'),
  },
};

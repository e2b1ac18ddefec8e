import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler, type SsdConfig } from '../config.js';

/**
 * The Intel X25-M as VSSIM models it. Its channel switch delay (16 us per page read, 33 us per page written, over the
 * whole device) is the time of one firmware core per slot here; its register times are the channel's rate.
 */
export const intelX25mVssim: SsdConfig = {
  name: 'intel-x25m-vssim',
  summary: 'Intel X25-M (2008) in the structure of VSSIM: SATA 3 Gb/s, ten channels of two MLC flash chips.',
  sources: [
    'VSSIM: Virtual Machine Based SSD Simulator (2013) and its shipped configuration: structure, delays, buffers, over-provisioning',
    'Intel X25-M vendor sheet, as quoted in press reviews (2008): bandwidths',
  ],
  figures: [
    {
      metric: 'sequentialRead',
      value: 250e6,
      requestBytes: 131_072,
      depth: 32,
      kind: 'calibrated',
      tolerance: 0.05,
      source: 'Intel X25-M vendor sheet: 250 MB/s; VSSIM issues a page every 16 us, 256 MB/s',
    },
    {
      metric: 'sequentialWrite',
      value: 80e6,
      requestBytes: 131_072,
      depth: 32,
      kind: 'calibrated',
      tolerance: 0.05,
      source: 'VSSIM configuration: 20 chips over 940 + 82 us; the vendor sheet says 70 MB/s',
    },
    {
      metric: 'randomRead',
      value: 35_000,
      requestBytes: 4096,
      depth: 32,
      kind: 'predicted',
      tolerance: 0.1,
      source: 'Intel X25-M vendor sheet',
      miss: 'VSSIM has no other cost per request than the switch delay, so small reads are as fast as its page rate',
    },
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
};

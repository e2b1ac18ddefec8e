import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware, type SsdConfig } from '../config.js';

/** The drive of the benchmarks: small, no buffer, a controller that costs nothing, so that FTL and flash are measured. */
export const mqsimB8: SsdConfig = {
  name: 'mqsim-b8',
  summary: 'Benchmark drive of 8 GiB raw in the structure of the MQSim default, without write buffer.',
  sources: [
    'MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices (FAST 2018): structure and timing of the shipped configuration, fewer chips and blocks',
  ],
  figures: [
    {
      metric: 'sequentialRead',
      value: 749e6,
      requestBytes: 131_072,
      depth: 32,
      kind: 'target',
      // A read books its transfer when its command is sent, so that the two dies of a channel leave gaps: 657 MB/s.
      tolerance: 0.15,
      source: 'Bound of 16 dies, each a 4 KiB page per tR and transfer; computed, not published',
    },
    {
      metric: 'randomWrite',
      value: 20_980,
      requestBytes: 4096,
      depth: 256,
      kind: 'target',
      tolerance: 0.1,
      source: 'Bound of 16 dies, each a page per transfer and tPROG; computed, not published',
    },
  ],
  // MQSim counts over-provisioning against raw capacity: 12.7 % of 8 GiB are spare (14.5 % of what the host sees).
  capacityBytes: 7_499_010_048,
  blockBytes: 512,
  nand: {
    geometry: {
      channels: 8,
      ways: 2,
      dies: 1,
      planes: 2,
      blocksPerPlane: 256,
      pagesPerBlock: 256,
      pageBytes: 4096,
      oobBytes: 128,
      slotBytes: 4096,
      cellBits: 2,
      pairing: 'simple',
      programUnit: 'page',
    },
    timing: {
      ...defaultCommandTiming,
      readNs: [75_000, 75_000],
      programNs: [750_000, 750_000],
      eraseNs: 3_800_000,
      channelBytesPerSec: 333_000_000,
    },
    // MQSim knows no loss of paired pages; with it, every flush would pad.
    features: { ...defaultFeatures, pairedLost: 0 },
    reliability: null,
  },
  ftl: { domain: 'unit', victim: 'greedy' },
  link: {
    readBytesPerSec: 4_000_000_000,
    writeBytesPerSec: 4_000_000_000,
    duplex: 'full',
    commandNs: 0,
    chunkBytes: 4096,
  },
  firmware: freeFirmware,
  buffer: null,
  queue: { depth: 65_536, queues: 8 },
  scheduler: defaultScheduler,
  powerLossProtection: false,
  keeps: 'nothing',
  gatherNs: 20_000,
  idleNs: 0,
};

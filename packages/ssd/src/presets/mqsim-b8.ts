import { defaultCommandTiming, defaultFeatures } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware } from '../config.js';
import type { Preset } from '../provenance.js';
import { chosen, commandCycles, simulator, target, usual } from './preset.js';

const mqsim = simulator('MQSim (FAST 2018), shipped configuration');

/** The drive of the benchmarks: small, no buffer, a controller that costs nothing, so that FTL and flash are measured. */
export const mqsimB8: Preset = {
  config: {
    name: 'mqsim-b8',
    summary: 'Benchmark drive of 8 GiB raw in the structure of the MQSim default, without write buffer.',
    sources: [
      'MQSim: A Framework for Enabling Realistic Studies of Modern Multi-Queue SSD Devices (FAST 2018): structure and timing of the shipped configuration, fewer chips and blocks',
    ],
    figures: [
      // A read books its transfer when its command is sent, so that the two dies of a channel leave gaps: 657 MB/s.
      target(
        'sequentialRead',
        749e6,
        [131_072, 32],
        0.15,
        'Bound of 16 dies, each a 4 KiB page per tR and transfer; computed',
      ),
      target('randomWrite', 20_980, [4096, 256], 0.1, 'Bound of 16 dies, each a page per transfer and tPROG; computed'),
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
  },
  provenance: {
    ...usual,
    ftl: simulator('MQSim: page mapping, greedy victims of each plane'),
    'nand.features.pairedLost': simulator('MQSim knows no loss of paired pages'),
    capacityBytes: simulator('MQSim: 12.7 % of the raw capacity are spare'),
    'nand.geometry': mqsim,
    'nand.geometry.ways': chosen('Fewer chips than MQSim, for speed'),
    'nand.geometry.dies': chosen('Fewer dies than MQSim, for speed'),
    'nand.geometry.blocksPerPlane': chosen('Fewer blocks than MQSim, for speed'),
    'nand.geometry.pageBytes': chosen('A mapping unit per page'),
    'nand.geometry.oobBytes': chosen('Usual for 4 KiB'),
    'nand.geometry.slotBytes': chosen('Usual mapping unit'),
    'nand.timing': commandCycles,
    'nand.timing.readNs': mqsim,
    'nand.timing.programNs': mqsim,
    'nand.timing.eraseNs': mqsim,
    'nand.timing.channelBytesPerSec': mqsim,
    link: chosen('Fast enough never to matter'),
    firmware: chosen('Costs nothing, so that FTL and flash are measured'),
    queue: chosen('Deep enough never to matter'),
  },
};

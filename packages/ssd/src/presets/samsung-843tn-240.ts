import type { Preset } from '../provenance.js';
import { calibrated, chosen, datasheet, fitted, paper, predicted } from './preset.js';
import { samsung840g250 } from './samsung-840.js';

const sheet = 'Press reviews of the Samsung 845DC EVO (2014), the nearest drive with a public sheet';
const orcfs = 'OrcFS: Orchestrated File System for Flash Storage (ACM TOS, 2018)';
const client = samsung840g250.config;

/** The class of the Samsung 843TN, whose own sheet was not found: a data-centre drive of the 840 series with capacitors. */
export const samsung843tn240: Preset = {
  config: {
    ...client,
    name: 'samsung-843tn-240',
    summary: 'Data-centre SATA drive of 240 GB (2013 class, TLC, capacitors): the Samsung 843TN of the OrcFS paper.',
    sources: [`${orcfs}: a Samsung 843TN of 240 GB`, `${sheet}: bandwidths, IOPS in steady state`, ...client.sources],
    figures: [
      calibrated('sequentialRead', 530e6, [131_072, 32], sheet),
      calibrated('sequentialWrite', 270e6, [131_072, 32], sheet),
      calibrated('randomRead', 87_000, [4096, 32], sheet),
      predicted('randomWrite', 12_000, [4096, 32], `${sheet}: steady state`, {
        state: 'steady',
        miss: 'Dies that serve in order of arrival wait for each other under collection; the event scheduler comes to 15 k',
      }),
    ],
    capacityBytes: 240_057_409_536,
    nand: {
      ...client.nand,
      timing: { ...client.nand.timing, programNs: [531_000, 1_442_000, 3_716_000] },
    },
    link: {
      readBytesPerSec: 540_000_000,
      writeBytesPerSec: 540_000_000,
      duplex: 'half',
      commandNs: 2_000,
      chunkBytes: 8192,
    },
    firmware: { ...client.firmware, readNs: 11_400 },
    powerLossProtection: true,
  },
  provenance: {
    ...samsung840g250.provenance,
    capacityBytes: paper(`${orcfs}: 240 GB`),
    'nand.geometry.ways': datasheet('As the Samsung 840 of 250 GB: 32 dies of 64 Gbit'),
    'nand.timing.programNs': fitted('Sequential write, 270 MB/s; ratios between page types as in the Samsung 840'),
    link: fitted('Sequential read, 530 MB/s'),
    'link.commandNs': chosen('Frames of a SATA command'),
    'firmware.readNs': fitted('Random read, 87 k/s'),
  },
};

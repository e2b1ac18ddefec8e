import { defaultCommandTiming, defaultFeatures, type NandFeatures } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware, type SsdConfig } from '@flashstack/ssd';

/** Bytes of a page, and what VNSIM's shipped setting says of it, ns (digest of the papers, 7.3). */
export const vnsimPage = {
  bytes: 16_384,
  commandNs: 8000,
  registerNs: 24_000,
  readNs: 35_000,
  programNs: 390_000,
  eraseNs: 4_000_000,
} as const;

/** A drive of VNSIM's cells with a structure of its own: no link, no cost of firmware, no buffer. */
export function vnsimDrive(
  structure: {
    readonly channels: number;
    readonly ways: number;
    readonly blocksPerPlane: number;
    readonly capacityBytes: number;
  },
  features: Partial<NandFeatures> = {},
): SsdConfig {
  const { channels, ways, blocksPerPlane, capacityBytes } = structure;
  const { bytes, commandNs, registerNs, readNs, programNs, eraseNs } = vnsimPage;
  return {
    name: `vnsim-${channels}x${ways}`,
    summary: "A drive of VNSIM's cells.",
    sources: [],
    figures: [],
    capacityBytes,
    blockBytes: 4096,
    nand: {
      geometry: {
        channels,
        ways,
        dies: 1,
        planes: 1,
        blocksPerPlane,
        pagesPerBlock: 256,
        pageBytes: bytes,
        oobBytes: 0,
        slotBytes: 4096,
        cellBits: 1,
        pairing: 'simple',
        programUnit: 'page',
      },
      timing: {
        ...defaultCommandTiming,
        commandNs,
        readNs: [readNs],
        programNs: [programNs],
        eraseNs,
        channelBytesPerSec: (bytes * 1e9) / registerNs,
      },
      features: { ...defaultFeatures, multiPlane: false, ...features },
      reliability: null,
    },
    ftl: {},
    link: null,
    firmware: freeFirmware,
    buffer: null,
    queue: { depth: 1024, queues: 1 },
    scheduler: defaultScheduler,
    powerLossProtection: false,
    keeps: 'nothing',
    gatherNs: 0,
    idleNs: 0,
  };
}

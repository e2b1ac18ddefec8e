import type { BlockDevice } from '@flashstack/block-device';
import { defaultCommandTiming, defaultFeatures, defaultReliability, type NandConfig } from '@flashstack/nand-device';
import { defaultScheduler, freeFirmware, Ssd, type SsdConfig } from '@flashstack/ssd';
import type { DriveSubject } from '../src/index.js';

/** Two channels of a die of 2 planes, blocks of 16 pages of one or four sectors. */
function nand(pageBytes: number, failing: boolean, blocksPerPlane: number): NandConfig {
  const none = { ...defaultReliability(2).rawBitErrors, r0: 0, a: 0, c: 0, f: 0 };
  return {
    geometry: {
      channels: 2,
      ways: 1,
      dies: 1,
      planes: 2,
      blocksPerPlane,
      pagesPerBlock: 16,
      pageBytes,
      oobBytes: 128,
      slotBytes: 4096,
      cellBits: 2,
      pairing: 'simple',
      programUnit: 'page',
    },
    timing: {
      ...defaultCommandTiming,
      readNs: [50_000, 60_000],
      programNs: [400_000, 900_000],
      eraseNs: 3_000_000,
      channelBytesPerSec: 400_000_000,
    },
    features: defaultFeatures,
    reliability: failing
      ? { ...defaultReliability(2), factoryBad: 0.02, ratedCycles: 40, programFailShare: 1, rawBitErrors: none }
      : null,
  };
}

const buffer = {
  slots: 24,
  earlyCompletion: true,
  drain: 'eager',
  highWatermark: 0,
  lowWatermark: 0,
  inFlightSlots: 0,
} as const;

/** A small drive of sectors of 4 KiB behind a volatile buffer. */
function config(mapping: string, changes: Partial<SsdConfig> = {}, pageBytes = 4096, failing = false): SsdConfig {
  return {
    name: mapping,
    summary: 'A small drive.',
    sources: [],
    figures: [],
    capacityBytes: 500 * 4096,
    blockBytes: 4096,
    // Few blocks beyond those of the data, so that garbage is collected all the time.
    nand: nand(pageBytes, failing, { page: 12, dftl: 15 }[failing ? '' : mapping] ?? 24),
    ftl: { mapping },
    link: { readBytesPerSec: 1e9, writeBytesPerSec: 1e9, duplex: 'full', commandNs: 100, chunkBytes: 8192 },
    firmware: freeFirmware,
    buffer,
    queue: { depth: 16, queues: 2 },
    scheduler: { ...defaultScheduler, kind: 'event' },
    powerLossProtection: false,
    keeps: 'contents',
    gatherNs: 20_000,
    idleNs: 0,
    ...changes,
  };
}

/** What stands in front of a drive. */
export type Front = (device: BlockDevice) => BlockDevice;

/** A drive as a subject. */
export function driveSubject(
  name: string,
  of: SsdConfig,
  front: Front = (device) => device,
  prepare: (ssd: Ssd) => void = () => {},
): DriveSubject {
  return {
    name,
    promise: of.powerLossProtection ? 'protected' : 'volatile',
    make: (simulator, seed) => {
      const ssd = new Ssd(simulator, of, { seed });
      prepare(ssd);
      return {
        device: front(ssd),
        powerCut: () => ssd.powerCut(),
        powerOn: () => ssd.powerOn(),
        inspect: () => ssd.flash.ftl.inspect(),
      };
    },
  };
}

const through = { ...buffer, earlyCompletion: false };

/** Every mapping scheme that takes writes anywhere, with each kind of buffer. */
export const driveSubjects: readonly DriveSubject[] = ['page', 'dftl', 'block', 'bast', 'fast', 'sast', 'last'].flatMap(
  (mapping) => [
    driveSubject(`${mapping}, volatile buffer`, config(mapping)),
    driveSubject(`${mapping}, protected buffer`, config(mapping, { powerLossProtection: true })),
    driveSubject(`${mapping}, no buffer`, config(mapping, { buffer: null })),
    driveSubject(`${mapping}, write-through buffer`, config(mapping, { buffer: through })),
    driveSubject(`${mapping}, pages of four sectors`, config(mapping, {}, 16_384)),
    driveSubject(`${mapping}, failing blocks`, config(mapping, {}, 4096, true)),
  ],
);

/** The plainest of them, for controls. */
export const plainDrive: SsdConfig = config('page');

/** Defects of the page-mapping FTL: what is planted into a new drive, and the rule that it breaks. */
export const ftlDefects: readonly {
  readonly name: string;
  readonly rule: string;
  readonly plant: (ssd: Ssd) => void;
}[] = [
  {
    name: 'a flush is answered before what it covers is programmed',
    rule: 'D1 flush',
    plant: ({ flash: { ftl } }) => {
      ftl.flush = (job) => ftl.read(0, 1, job);
    },
  },
  {
    name: 'a trim is forgotten',
    rule: 'D6 trim',
    plant: ({ flash: { ftl } }) => {
      ftl.trim = (lpn, count, job) => ftl.read(lpn, count, job);
    },
  },
  {
    name: 'recovery maps the oldest copy',
    rule: 'D1 flush',
    plant: ({ flash }) => {
      const recover = flash.recover.bind(flash);
      flash.recover = () => {
        const seq = flash.array.seq as Float64Array;
        for (let at = 0; at < seq.length; at++) seq[at] = -seq[at];
        const report = recover();
        for (let at = 0; at < seq.length; at++) seq[at] = -seq[at];
        return report;
      };
    },
  },
];

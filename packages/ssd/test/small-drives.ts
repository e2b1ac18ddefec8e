import { PageMapFtl } from '@flashstack/ftl';
import { defaultCommandTiming, defaultFeatures, defaultVssimDelays, type NandConfig } from '@flashstack/nand-device';
import {
  type BufferConfig,
  defaultScheduler,
  freeFirmware,
  type SchedulerConfig,
  type Ssd,
  type SsdConfig,
} from '../src/index.js';

/** A flash part small enough for thousands of runs: 4 dies of 2 planes, blocks of 16 pages. */
export const smallNand: NandConfig = {
  geometry: {
    channels: 2,
    ways: 2,
    dies: 1,
    planes: 2,
    blocksPerPlane: 12,
    pagesPerBlock: 16,
    pageBytes: 4096,
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
  reliability: null,
};

/** Several slots per page, both planes of a die together: program units of eight slots. */
const wideNand: NandConfig = {
  ...smallNand,
  geometry: { ...smallNand.geometry, pageBytes: 16_384 },
};

const smallBuffer: BufferConfig = {
  slots: 24,
  earlyCompletion: true,
  drain: 'eager',
  highWatermark: 0,
  lowWatermark: 0,
  inFlightSlots: 0,
};

/** No buffer, one slot per page: the plainest drive. Contents are kept; blocks are an eighth of a slot. */
export const plainDrive: SsdConfig = {
  name: 'plain',
  summary: 'A small drive for tests.',
  sources: [],
  figures: [],
  capacityBytes: 700 * 4096,
  blockBytes: 512,
  nand: smallNand,
  ftl: {},
  link: { readBytesPerSec: 1e9, writeBytesPerSec: 1e9, duplex: 'full', commandNs: 100, chunkBytes: 8192 },
  firmware: {
    cores: 2,
    binding: 'leastLoaded',
    readPipelineNs: 700,
    readNs: 3_000,
    writeNs: 5_000,
    flushNs: 1_000,
    discardNs: 2_000,
    readSlotNs: 400,
    writeSlotNs: 600,
  },
  buffer: null,
  queue: { depth: 16, queues: 2 },
  scheduler: defaultScheduler,
  powerLossProtection: false,
  keeps: 'contents',
  gatherNs: 20_000,
  idleNs: 0,
};

export const bufferedDrive: SsdConfig = { ...plainDrive, name: 'buffered', buffer: smallBuffer };

export const lazyDrive: SsdConfig = {
  ...plainDrive,
  name: 'lazy',
  buffer: { ...smallBuffer, drain: 'watermark', highWatermark: 0.75, lowWatermark: 0.25, inFlightSlots: 16 },
};

/** Program units of eight slots behind a buffer that only completes what is programmed. */
export const wideDrive: SsdConfig = {
  ...plainDrive,
  name: 'wide',
  capacityBytes: 2700 * 4096,
  nand: wideNand,
  ftl: { domain: 'die' },
  buffer: { ...smallBuffer, slots: 80 },
};

const throughDrive: SsdConfig = {
  ...wideDrive,
  name: 'write-through',
  buffer: { ...smallBuffer, slots: 80, earlyCompletion: false },
};

const wideUnbufferedDrive: SsdConfig = { ...wideDrive, name: 'wide-unbuffered', buffer: null };

/** Blocks as large as slots, nothing in the controller costs time, no link: as much as possible happens at once. */
const instantHostDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'instant-host',
  blockBytes: 4096,
  link: null,
  firmware: freeFirmware,
  queue: { depth: 4, queues: 1 },
};

export const protectedDrive: SsdConfig = { ...wideDrive, name: 'protected', powerLossProtection: true };

/** Cores that share the channels out, one in front of them, and one for collection that is slow enough to hold writes up. */
const coresDrive: SsdConfig = {
  ...wideDrive,
  name: 'cores',
  firmware: {
    ...plainDrive.firmware,
    cores: 2,
    binding: 'channel',
    hostCore: true,
    hostNs: 900,
    gcCore: true,
    gcPageNs: 150_000,
  },
};

/** Halves smaller than the slots that wait for their program units: one cannot become durable without being padded. */
const doubleDrive: SsdConfig = {
  ...wideDrive,
  name: 'double',
  buffer: { ...smallBuffer, slots: 40, kind: 'double', drain: 'full', timerNs: 2_000_000 },
};

export const fullDrainDrive: SsdConfig = {
  ...plainDrive,
  name: 'drained-when-full',
  buffer: { ...smallBuffer, drain: 'full' },
};

export const idleDrainDrive: SsdConfig = {
  ...plainDrive,
  name: 'drained-when-idle',
  buffer: { ...smallBuffer, drain: 'idle', idleNs: 200_000 },
};

export const timerDrainDrive: SsdConfig = {
  ...plainDrive,
  name: 'drained-by-timer',
  buffer: { ...smallBuffer, drain: 'timer', timerNs: 1_500_000 },
};

const protectedDoubleDrive: SsdConfig = { ...doubleDrive, name: 'protected-double', powerLossProtection: true };

/** A cache small enough that slots are displaced all the time, filled by reads, by reading ahead and by writes. */
const cachedDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'cached',
  readCache: { slots: 48, readAheadSlots: 12, after: 1, writes: true },
};

const cachedUnbufferedDrive: SsdConfig = {
  ...coresDrive,
  name: 'cached-unbuffered',
  buffer: null,
  readCache: { slots: 40, readAheadSlots: 16, after: 1 },
};

/** The map in flash, and next to nothing of it in RAM. */
const mapInFlashDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'map-in-flash',
  capacityBytes: 500 * 4096,
  ftl: { mapping: { name: 'dftl', parameters: { cmtEntries: 24, entryBytes: 128 } } },
};

const sataDrive: SsdConfig = {
  ...wideDrive,
  name: 'sata',
  queue: { depth: 8, queues: 1 },
  host: { kind: 'sata-ncq' },
};

const packedDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'packed',
  queue: { depth: 1, queues: 1 },
  host: { kind: 'emmc', packedCommands: 6, flushNs: 5_000 },
};

const uncachedDrive: SsdConfig = {
  ...packedDrive,
  name: 'uncached',
  host: { kind: 'emmc', packedCommands: 3, cache: false },
};

const nvmeDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'nvme',
  queue: { depth: 4, queues: 4 },
  host: { kind: 'nvme', arbitration: 'weightedRoundRobin', classes: ['urgent', 'high', 'medium', 'low'] },
};

/** A part with cache registers, whose planes work one by one: reads come in runs, data comes in while the array works. */
const registersDrive: SsdConfig = {
  ...bufferedDrive,
  name: 'registers',
  nand: { ...smallNand, features: { ...defaultFeatures, cacheRegister: true, multiPlane: false } },
};

const drives: readonly SsdConfig[] = [
  plainDrive,
  bufferedDrive,
  lazyDrive,
  wideDrive,
  throughDrive,
  wideUnbufferedDrive,
  instantHostDrive,
  protectedDrive,
  coresDrive,
  doubleDrive,
  fullDrainDrive,
  idleDrainDrive,
  timerDrainDrive,
  protectedDoubleDrive,
  cachedDrive,
  cachedUnbufferedDrive,
  mapInFlashDrive,
  sataDrive,
  packedDrive,
  uncachedDrive,
  nvmeDrive,
  registersDrive,
];

/** A drive on a scheduler; VSSIM knows no multi-plane commands. */
export function onScheduler(drive: SsdConfig, kind: SchedulerConfig['kind']): SsdConfig {
  const scheduler = { ...drive.scheduler, kind };
  if (kind !== 'vssim') return { ...drive, scheduler };
  const features = { ...drive.nand.features, multiPlane: false };
  return { ...drive, nand: { ...drive.nand, features }, scheduler: { ...scheduler, vssim: defaultVssimDelays } };
}

/** Every drive on the timeline and the event scheduler, and three of them on that of VSSIM. */
export const variants: readonly { drive: SsdConfig; kind: SchedulerConfig['kind'] }[] = [
  ...drives.flatMap((drive) => (['timeline', 'event'] as const).map((kind) => ({ drive, kind }))),
  ...[plainDrive, bufferedDrive, wideDrive].map((drive) => ({ drive, kind: 'vssim' as const })),
];

/** The FTL of a drive with page mapping. */
export function pageMapOf(ssd: Ssd): PageMapFtl {
  const { ftl } = ssd.flash;
  if (!(ftl instanceof PageMapFtl)) throw new Error('the drive does not map pages');
  return ftl;
}

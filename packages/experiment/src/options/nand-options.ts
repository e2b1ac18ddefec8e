import type {
  NandEcc,
  NandFeatures,
  NandGeometry,
  NandReliability,
  NandTiming,
  RawBitErrors,
} from '@flashstack/nand-device';
import { choice, count, flag, rate, real, size, time } from './builders.js';
import type { Option } from './option.js';

type Section<T> = Readonly<Record<keyof T, Option>>;

const geometry: Section<NandGeometry> = {
  channels: count(1, 1024, 'Independent data buses.'),
  ways: count(1, 1024, 'Chip enables (packages) per channel.'),
  dies: count(1, 1024, 'Dies (LUNs) per way.'),
  planes: count(1, 8, 'Planes per die.'),
  blocksPerPlane: count(1, 1 << 24, 'Blocks per plane.'),
  pagesPerBlock: count(1, 1 << 16, 'Pages per block.'),
  pageBytes: size(16, 1 << 20, 'User bytes of a page.'),
  oobBytes: size(0, 1 << 16, 'Spare bytes of a page; they travel with every program.'),
  slotBytes: size(16, 1 << 20, 'The mapping unit inside a page.'),
  cellBits: count(1, 4, '1 SLC, 2 MLC, 3 TLC, 4 QLC.'),
  pairing: { type: 'pairing', default: 'as the preset says', help: 'How the pages of a block share word lines.' },
  programUnit: choice(['page', 'wordline'], 'One program command writes a page, or all pages of a word line.'),
};

const timing: Section<NandTiming> = {
  readNs: time('tR per page type.', { list: true }),
  programNs: time('tPROG per page type; with word-line programs the first entry is the whole word line.', {
    list: true,
  }),
  eraseNs: time('tBERS.'),
  channelBytesPerSec: rate('One channel: MT/s × 10^6 on an 8-bit bus.'),
  commandNs: time('Command and address cycles of a read or program.'),
  eraseCommandNs: time('Command and address cycles of an erase.'),
  shortCommandNs: time('A command without address (suspend, resume, next cache page).'),
  statusNs: time('Status poll on the bus after program and erase; 0: not modelled.'),
  tDbsyNs: time('tDBSY: pause between the planes of a multi-plane command.'),
  tCbsyNs: time('tCBSY: handing the cache register over to the array.'),
  tRcbsyNs: time('tRCBSY: copying the data register to the cache register.'),
  featureNs: time('SET FEATURES before each read retry.'),
  suspendEraseNs: time('From the suspend command until the die is usable: erase.'),
  suspendProgramNs: time('The same: program.'),
  resumeNs: time('Added to the remaining array time by a resume.'),
  erasePulseNs: time('Length of an erase pulse, repeated by a resume with eraseRestart.', { min: 1 }),
};

const features: Section<NandFeatures> = {
  cacheRegister: flag('A second register per plane: transfers overlap array time.'),
  multiPlane: flag('Multi-plane commands.'),
  mpSameBlock: flag('Multi-plane commands need the same block index in every plane.'),
  independentPlaneReads: flag('Planes of a die read independently of each other.'),
  copyback: flag('Copyback commands.'),
  copybackParity: flag('Copyback only between pages of equal parity.'),
  copybackCheck: flag("Copyback sends the data over the bus once, for the controller's ECC."),
  maxCopybacks: count(0, 255, 'Copybacks of one datum before it must go through the controller.'),
  randomPageProgram: flag('SLC parts that accept the pages of a block in any order.'),
  nop: count(1, 15, 'Partial programs of a page between erases (NOP).'),
  suspend: choice(['none', 'erase', 'program+erase'], 'Which operations can be suspended.'),
  minRemainingNs: time('An operation with less array time left is not suspended.'),
  maxSuspends: count(0, 1_000_000, 'Suspensions of one operation.'),
  maxSuspendNs: time('A suspended operation resumes after this time even if reads wait.', {
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
  }),
  eraseRestart: flag('A resumed erase repeats its current pulse.'),
  codewordBytes: size(1, 1 << 20, 'ECC codeword: reads are rounded up to it.'),
  tornLost: real(0, 1, 'Probability that a page torn by a power cut is uncorrectable.'),
  pairedLost: real(0, 1, 'Probability that a lower page is lost with the upper page of its word line in a power cut.'),
};

const reliability: Section<Omit<NandReliability, 'rawBitErrors' | 'ecc'>> = {
  factoryBad: real(0, 1, 'Probability that a block is bad from the factory.'),
  ratedCycles: count(1, 1e9, 'Rated program/erase cycles.', { of: 'cycles' }),
  enduranceShape: real(0.01, 1e6, 'Shape of the Weibull distribution of block endurance.'),
  enduranceMedian: real(1e-9, 1e9, 'Median endurance / rated cycles.'),
  eraseFailFrom: real(0, 1e9, "Erases never fail below this share of the block's endurance …"),
  eraseFailTo: real(1e-9, 1e9, '… and always at this share.'),
  programFailShare: real(0, 1, 'Program failures per block life, as a share of the erase failure probability.'),
  wearEraseSlope: real(0, 100, 'tBERS grows by this share until rated cycles.'),
  wearProgramSlope: real(0, 1, 'tPROG shrinks by this share until rated cycles.'),
};

const rawBitErrors: Section<RawBitErrors> = {
  r0: real(0, 0.5, 'Raw bit error rate of a new block.'),
  a: real(0, 1e3, 'Factor of wear.'),
  ka: real(0, 100, 'Exponent of wear.'),
  c: real(0, 1e3, 'Factor of retention.'),
  kc: real(0, 100, 'Exponent of wear in retention.'),
  kt: real(0, 100, 'Exponent of time in retention.'),
  f: real(0, 1e3, 'Factor of read disturb.'),
  retentionNs: real(1, 1e300, 'Time constant of retention, ns.'),
  reads: real(1, 1e15, 'Reads that read disturb is relative to.'),
  upperPageFactor: real(0, 1e3, 'Factor for pages that are not LSB.'),
  wordLineSigma: real(0, 10, 'Sigma of the lognormal factor of a word line.'),
  tornFactor: real(0, 1e6, 'Factor for a page that was torn but is readable.'),
};

const ecc: Section<NandEcc> = {
  correctableBits: count(0, 1 << 20, 'Bits that hard decoding corrects in a codeword.'),
  maxRetry: count(0, 1000, 'Retry levels.'),
  retryGain: real(0, 1, 'Each level multiplies the error rate by this.'),
  softReads: count(0, 1000, 'Array reads of a soft decode after the last level; 0: no soft decoder.'),
  softLimit: real(0, 0.5, 'Soft decoding succeeds up to this raw bit error rate.'),
  refreshAtRetries: count(1, 1_000_000, 'A page that needed so many retries is written again in idle time (idleNs).'),
  readReclaimLimit: count(
    1,
    1e15,
    'A block read more often than this since its erase is relocated in idle time (idleNs).',
  ),
};

/** The options of the flash part by the prefix of their paths. */
export const nandSections: readonly (readonly [prefix: string, section: Readonly<Record<string, Option>>])[] = [
  ['nand.geometry.', geometry],
  ['nand.timing.', timing],
  ['nand.features.', features],
  ['nand.reliability.', reliability],
  ['nand.reliability.rawBitErrors.', rawBitErrors],
  ['nand.reliability.ecc.', ecc],
];

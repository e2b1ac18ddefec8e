/** Everything that defines a NAND device. Plain data; check it with `checkNandConfig`. */
export interface NandConfig {
  readonly geometry: NandGeometry;
  readonly timing: NandTiming;
  readonly features: NandFeatures;
  /** Faults and wear, or null for a device that never fails (and costs nothing per operation for it). */
  readonly reliability: NandReliability | null;
}

/** How the pages of a block share word lines; see `pageTable`. */
export type NandPairing = 'simple' | 'shifted' | 'tlc' | PageTable;

/** A page table of one's own, one entry per page of a block. */
export interface PageTable {
  /** 0 LSB, 1 CSB (or MSB of MLC), 2 MSB of TLC, 3 top page of QLC. */
  readonly pageType: readonly number[];
  /** Word line of each page. Default: the k-th page of each type is on word line k. */
  readonly wordLine?: readonly number[];
}

/** Sizes of the device, outermost level first. */
export interface NandGeometry {
  /** Independent data buses. */
  readonly channels: number;
  /** Chip enables (packages) per channel. */
  readonly ways: number;
  /** Dies (LUNs) per way. */
  readonly dies: number;
  /** Planes per die. */
  readonly planes: number;
  readonly blocksPerPlane: number;
  readonly pagesPerBlock: number;
  /** User bytes of a page. */
  readonly pageBytes: number;
  /** Spare bytes of a page; they travel with every program. */
  readonly oobBytes: number;
  /** The mapping unit inside a page, bytes. */
  readonly slotBytes: number;
  /** 1 SLC, 2 MLC, 3 TLC, 4 QLC. */
  readonly cellBits: number;
  readonly pairing: NandPairing;
  /** `wordline`: one program command writes all `cellBits` pages of a word line (3D one-shot programming). */
  readonly programUnit: 'page' | 'wordline';
}

/** Times of the part, ns, and the rate of its bus. */
export interface NandTiming {
  /** tR per page type. */
  readonly readNs: readonly number[];
  /** tPROG per page type; with `programUnit: 'wordline'` the first entry is the time of the whole word line. */
  readonly programNs: readonly number[];
  /** tBERS. */
  readonly eraseNs: number;
  /** Bytes per second of one channel (MT/s × 10^6 on an 8-bit bus). A transfer is rounded up to whole ns. */
  readonly channelBytesPerSec: number;
  /** Command and address cycles of a read or program. */
  readonly commandNs: number;
  /** Command and address cycles of an erase. */
  readonly eraseCommandNs: number;
  /** A command without address (suspend, resume, next cache page). */
  readonly shortCommandNs: number;
  /** Status poll on the bus after program and erase; 0: not modelled. */
  readonly statusNs: number;
  /** tDBSY: pause between the planes of a multi-plane command. */
  readonly tDbsyNs: number;
  /** tCBSY: handing the cache register over to the array in a cache program. */
  readonly tCbsyNs: number;
  /** tRCBSY: copying the data register to the cache register in a cache read. */
  readonly tRcbsyNs: number;
  /** SET FEATURES before each read retry. */
  readonly featureNs: number;
  /** From the suspend command until the die is usable. */
  readonly suspendEraseNs: number;
  readonly suspendProgramNs: number;
  /** Added to the remaining array time by a resume. */
  readonly resumeNs: number;
  /** Length of an erase pulse, restarted by a resume with `eraseRestart`. */
  readonly erasePulseNs: number;
}

/** What the part can do, and its rules. */
export interface NandFeatures {
  /** A second register per plane: transfers overlap array time, cache commands exist. */
  readonly cacheRegister: boolean;
  readonly multiPlane: boolean;
  /** Multi-plane commands need the same block index in every plane (ONFI block address restriction). */
  readonly mpSameBlock: boolean;
  /** Planes of a die read independently of each other. */
  readonly independentPlaneReads: boolean;
  readonly copyback: boolean;
  /** Copyback only between pages of equal parity. */
  readonly copybackParity: boolean;
  /** Copyback sends the data over the bus once, to be checked by the controller's ECC. */
  readonly copybackCheck: boolean;
  /** Copybacks of one datum before it must go through the controller. */
  readonly maxCopybacks: number;
  /** SLC parts that accept the pages of a block in any order. */
  readonly randomPageProgram: boolean;
  /** Partial programs of a page between erases (NOP). */
  readonly nop: number;
  readonly suspend: 'none' | 'erase' | 'program+erase';
  /** An operation with less array time left is not suspended. */
  readonly minRemainingNs: number;
  /** Suspensions of one operation. */
  readonly maxSuspends: number;
  /** A suspended operation resumes after this time even if reads wait. */
  readonly maxSuspendNs: number;
  /** A resumed erase repeats its current pulse instead of continuing. */
  readonly eraseRestart: boolean;
  /** ECC codeword, bytes: reads are rounded up to it. */
  readonly codewordBytes: number;
  /** Probability that a page torn by a power cut is uncorrectable (otherwise: new data with elevated error rate). */
  readonly tornLost: number;
  /** Probability that a programmed lower page is lost when power fails while an upper page of its word line programs. */
  readonly pairedLost: number;
}

/** Raw bit error rate: r0 + a·w^ka + c·w^kc·(t/T)^kt + f·w·(r/R) with w = cycles / rated, t since program, r reads. */
export interface RawBitErrors {
  readonly r0: number;
  readonly a: number;
  readonly ka: number;
  readonly c: number;
  readonly kc: number;
  readonly kt: number;
  readonly f: number;
  /** T, ns. */
  readonly retentionNs: number;
  /** R. */
  readonly reads: number;
  /** Factor for pages that are not LSB. */
  readonly upperPageFactor: number;
  /** Sigma of the lognormal factor fixed per (block, word line). */
  readonly wordLineSigma: number;
  /** Factor for a page that was torn by a power cut but is readable. */
  readonly tornFactor: number;
}

/** Error correction and read retry. */
export interface NandEcc {
  /** Bits that hard decoding corrects in a codeword. */
  readonly correctableBits: number;
  /** Retry levels. */
  readonly maxRetry: number;
  /** Each level multiplies the error rate by this. */
  readonly retryGain: number;
  /** Array reads of a soft decode after the last level; 0: no soft decoder. */
  readonly softReads: number;
  /** Soft decoding succeeds up to this raw bit error rate. */
  readonly softLimit: number;
  /** A page that needed at least so many retries is queued for refresh. */
  readonly refreshAtRetries: number;
  /** A block read more often than this since its erase is queued for relocation. */
  readonly readReclaimLimit: number;
}

/** Faults and wear. Defaults: `defaultReliability`. */
export interface NandReliability {
  /** Probability that a block is bad from the factory (block 0 of every die is good). */
  readonly factoryBad: number;
  /** PE: rated program/erase cycles. */
  readonly ratedCycles: number;
  /** Shape of the Weibull distribution of block endurance. */
  readonly enduranceShape: number;
  /** Median endurance / rated cycles. */
  readonly enduranceMedian: number;
  /** Erase failures: probability 0 below this share of the block's endurance … */
  readonly eraseFailFrom: number;
  /** … rising linearly to 1 at this share. */
  readonly eraseFailTo: number;
  /** Program failures per block life, as a share of the erase failure probability. */
  readonly programFailShare: number;
  /** tBERS grows by this share until rated cycles. */
  readonly wearEraseSlope: number;
  /** tPROG shrinks by this share until rated cycles. */
  readonly wearProgramSlope: number;
  readonly rawBitErrors: RawBitErrors;
  readonly ecc: NandEcc;
}

/** Features of a plain part: one register, multi-plane commands, no copyback, no suspension. */
export const defaultFeatures: NandFeatures = {
  cacheRegister: false,
  multiPlane: true,
  mpSameBlock: false,
  independentPlaneReads: false,
  copyback: false,
  copybackParity: false,
  copybackCheck: false,
  maxCopybacks: 2,
  randomPageProgram: false,
  nop: 1,
  suspend: 'none',
  minRemainingNs: 100_000,
  maxSuspends: 8,
  maxSuspendNs: 5_000_000,
  eraseRestart: false,
  codewordBytes: 1024,
  tornLost: 0.5,
  pairedLost: 0.5,
};

/** Command times of an asynchronous command interface with tWC = 20 ns; the array times are a part's own. */
export const defaultCommandTiming: Omit<NandTiming, 'readNs' | 'programNs' | 'eraseNs' | 'channelBytesPerSec'> = {
  commandNs: 140,
  eraseCommandNs: 100,
  shortCommandNs: 40,
  statusNs: 0,
  tDbsyNs: 1_000,
  tCbsyNs: 5_000,
  tRcbsyNs: 3_000,
  featureNs: 1_000,
  suspendEraseNs: 100_000,
  suspendProgramNs: 20_000,
  resumeNs: 30_000,
  erasePulseNs: 500_000,
};

const YEAR_NS = 31_536_000_000_000_000;

/** Calibrated defaults for a cell type: `cellBits` 1 to 4; none of them is a figure of a particular part. */
export function defaultReliability(cellBits: number): NandReliability {
  // Error rates relative to MLC; QLC is taken as another factor of three.
  const scale = [0.01, 1, 3, 9][cellBits - 1];
  return {
    factoryBad: 0.005,
    ratedCycles: [100_000, 3_000, 1_000, 500][cellBits - 1],
    enduranceShape: 8,
    enduranceMedian: 1.3,
    eraseFailFrom: 0.7,
    eraseFailTo: 1.1,
    programFailShare: 0.1,
    wearEraseSlope: 0.5,
    wearProgramSlope: 0.1,
    rawBitErrors: {
      r0: 1e-6 * scale,
      a: 2e-4 * scale,
      ka: 1.5,
      c: 1.2e-3 * scale,
      kc: 1.2,
      kt: 0.6,
      f: 1e-4 * scale,
      retentionNs: YEAR_NS,
      reads: 100_000,
      upperPageFactor: 1.5,
      wordLineSigma: 0.3,
      tornFactor: 10,
    },
    ecc: {
      correctableBits: [8, 40, 72, 120][cellBits - 1],
      maxRetry: 8,
      retryGain: 0.6,
      softReads: 0,
      softLimit: 1e-2,
      refreshAtRetries: 3,
      readReclaimLimit: 100_000,
    },
  };
}

import { InputError } from '@flashstack/sim';
import type { NandConfig, NandGeometry, PageTable } from './config.js';

/** Range of a numeric key; `int` unless stated. */
type Range = readonly [min: number, max: number, kind?: 'real'];

const MAX_NS = 0x3fff_ffff;
const MAX_PAGES = 0x7fff_ffff;
const MAX_SLOTS = 0xffff_fffe;

const geometryRanges: Record<string, Range> = {
  channels: [1, 1024],
  ways: [1, 1024],
  dies: [1, 1024],
  planes: [1, 8],
  blocksPerPlane: [1, 1 << 24],
  pagesPerBlock: [1, 1 << 16],
  pageBytes: [16, 1 << 20],
  oobBytes: [0, 1 << 16],
  slotBytes: [16, 1 << 20],
  cellBits: [1, 4],
};

const timingRanges: Record<string, Range> = {
  eraseNs: [0, MAX_NS],
  channelBytesPerSec: [1, 1e12, 'real'],
  commandNs: [0, MAX_NS],
  eraseCommandNs: [0, MAX_NS],
  shortCommandNs: [0, MAX_NS],
  statusNs: [0, MAX_NS],
  tDbsyNs: [0, MAX_NS],
  tCbsyNs: [0, MAX_NS],
  tRcbsyNs: [0, MAX_NS],
  featureNs: [0, MAX_NS],
  suspendEraseNs: [0, MAX_NS],
  suspendProgramNs: [0, MAX_NS],
  resumeNs: [0, MAX_NS],
  erasePulseNs: [1, MAX_NS],
};

const featureRanges: Record<string, Range> = {
  maxCopybacks: [0, 255],
  nop: [1, 15],
  minRemainingNs: [0, MAX_NS],
  maxSuspends: [0, 1_000_000],
  maxSuspendNs: [1, Number.MAX_SAFE_INTEGER],
  codewordBytes: [1, 1 << 20],
  tornLost: [0, 1, 'real'],
  pairedLost: [0, 1, 'real'],
};

const featureFlags = [
  'cacheRegister',
  'multiPlane',
  'mpSameBlock',
  'independentPlaneReads',
  'copyback',
  'copybackParity',
  'copybackCheck',
  'randomPageProgram',
  'eraseRestart',
];

const reliabilityRanges: Record<string, Range> = {
  factoryBad: [0, 1, 'real'],
  ratedCycles: [1, 1e9],
  enduranceShape: [0.01, 1e6, 'real'],
  enduranceMedian: [1e-9, 1e9, 'real'],
  eraseFailFrom: [0, 1e9, 'real'],
  eraseFailTo: [1e-9, 1e9, 'real'],
  programFailShare: [0, 1, 'real'],
  wearEraseSlope: [0, 100, 'real'],
  wearProgramSlope: [0, 1, 'real'],
};

const rawBitErrorRanges: Record<string, Range> = {
  r0: [0, 0.5, 'real'],
  a: [0, 1e3, 'real'],
  ka: [0, 100, 'real'],
  c: [0, 1e3, 'real'],
  kc: [0, 100, 'real'],
  kt: [0, 100, 'real'],
  f: [0, 1e3, 'real'],
  retentionNs: [1, 1e300, 'real'],
  reads: [1, 1e15, 'real'],
  upperPageFactor: [0, 1e3, 'real'],
  wordLineSigma: [0, 10, 'real'],
  tornFactor: [0, 1e6, 'real'],
};

const eccRanges: Record<string, Range> = {
  correctableBits: [0, 1 << 20],
  maxRetry: [0, 1000],
  retryGain: [0, 1, 'real'],
  softReads: [0, 1000],
  softLimit: [0, 0.5, 'real'],
  refreshAtRetries: [1, 1_000_000],
  readReclaimLimit: [1, 1e15],
};

/** Collects what is wrong, so that a user sees all of it at once. */
class Findings {
  readonly lines: string[] = [];
  firstKey = '';

  add(key: string, message: string): void {
    if (this.lines.length === 0) this.firstKey = key;
    this.lines.push(`${key}: ${message}`);
  }

  /** Checks that `value` is an object with exactly these keys; numbers also by range. */
  section(path: string, value: unknown, ranges: Record<string, Range>, others: readonly string[]): boolean {
    if (typeof value !== 'object' || value === null) {
      this.add(path, `expected an object, found ${show(value)}`);
      return false;
    }
    const record = value as Record<string, unknown>;
    const known = [...Object.keys(ranges), ...others];
    for (const key of known) if (!(key in record)) this.add(`${path}.${key}`, 'is missing');
    for (const key of Object.keys(record)) {
      if (!known.includes(key)) this.add(`${path}.${key}`, `unknown key; known are ${known.join(', ')}`);
    }
    for (const [key, range] of Object.entries(ranges)) {
      if (key in record) this.number(`${path}.${key}`, record[key], range);
    }
    return true;
  }

  number(key: string, value: unknown, [min, max, kind]: Range): void {
    const fits =
      typeof value === 'number' && value >= min && value <= max && (kind === 'real' || Number.isInteger(value));
    if (!fits)
      this.add(
        key,
        `expected ${kind === 'real' ? 'a number' : 'an integer'} from ${min} to ${max}, found ${show(value)}`,
      );
  }

  oneOf(key: string, value: unknown, allowed: readonly string[]): void {
    if (!allowed.includes(value as string))
      this.add(key, `expected one of ${allowed.join(', ')}, found ${show(value)}`);
  }
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
}

/**
 * Checks a configuration as it may come from a file.
 * @throws InputError `ERR_NAND_CONFIG`, whose message lists every key that is wrong, what was found and what is expected.
 */
export function checkNandConfig(config: NandConfig): void {
  const findings = new Findings();
  if (findings.section('nand', config, {}, ['geometry', 'timing', 'features', 'reliability'])) {
    checkGeometry(findings, config.geometry);
    checkTiming(findings, config);
    checkFeatures(findings, config);
    if (config.reliability !== null) checkReliability(findings, config);
  }
  if (findings.lines.length === 0) return;
  throw new InputError('ERR_NAND_CONFIG', `impossible NAND device: ${findings.lines.join('; ')}`, findings.firstKey);
}

function checkGeometry(findings: Findings, g: NandGeometry): void {
  const before = findings.lines.length;
  if (!findings.section('nand.geometry', g, geometryRanges, ['pairing', 'programUnit'])) return;
  findings.oneOf('nand.geometry.programUnit', g.programUnit, ['page', 'wordline']);
  if (typeof g.pairing === 'object' && g.pairing !== null) checkPageTable(findings, g, g.pairing);
  else findings.oneOf('nand.geometry.pairing', g.pairing, ['simple', 'shifted', 'tlc']);
  if (findings.lines.length > before) return;
  if (g.pageBytes % g.slotBytes !== 0) {
    findings.add('nand.geometry.slotBytes', `must divide pageBytes (${g.pageBytes}), found ${g.slotBytes}`);
  } else if (g.pageBytes / g.slotBytes > 30) {
    findings.add(
      'nand.geometry.slotBytes',
      `gives ${g.pageBytes / g.slotBytes} slots per page; at most 30 fit a slot mask`,
    );
  }
  if (g.pairing === 'shifted' && (g.cellBits !== 2 || g.pagesPerBlock < 12 || g.pagesPerBlock % 4 !== 0)) {
    findings.add('nand.geometry.pairing', 'shifted needs cellBits 2 and pagesPerBlock a multiple of 4 of at least 12');
  }
  if (g.pairing === 'tlc' && g.cellBits !== 3) findings.add('nand.geometry.pairing', 'tlc needs cellBits 3');
  if (g.programUnit === 'wordline' && (g.pairing !== 'simple' || g.pagesPerBlock % g.cellBits !== 0)) {
    findings.add('nand.geometry.programUnit', 'wordline needs pairing simple and pagesPerBlock a multiple of cellBits');
  }
  const pages = g.channels * g.ways * g.dies * g.planes * g.blocksPerPlane * g.pagesPerBlock;
  if (pages > MAX_PAGES) findings.add('nand.geometry', `has ${pages} pages; at most ${MAX_PAGES} can be addressed`);
  const slots = (pages * g.pageBytes) / g.slotBytes;
  if (slots > MAX_SLOTS) findings.add('nand.geometry', `has ${slots} slots; at most ${MAX_SLOTS} can be addressed`);
}

function checkPageTable(findings: Findings, g: NandGeometry, table: PageTable): void {
  const key = 'nand.geometry.pairing';
  if (!Array.isArray(table.pageType) || table.pageType.length !== g.pagesPerBlock) {
    findings.add(`${key}.pageType`, `expected an array of ${g.pagesPerBlock} page types`);
  } else if (!table.pageType.every((type) => Number.isInteger(type) && type >= 0 && type < g.cellBits)) {
    findings.add(`${key}.pageType`, `expected integers from 0 to ${g.cellBits - 1}`);
  }
  if (table.wordLine === undefined) return;
  const ok =
    Array.isArray(table.wordLine) &&
    table.wordLine.length === g.pagesPerBlock &&
    table.wordLine.every((line) => Number.isInteger(line) && line >= 0);
  if (!ok) findings.add(`${key}.wordLine`, `expected an array of ${g.pagesPerBlock} integers from 0`);
}

function checkTiming(findings: Findings, { timing, geometry }: NandConfig): void {
  if (!findings.section('nand.timing', timing, timingRanges, ['readNs', 'programNs'])) return;
  const types = geometry?.cellBits ?? 1;
  const shots = geometry?.programUnit === 'wordline' ? 1 : types;
  times(findings, 'nand.timing.readNs', timing.readNs, types);
  times(findings, 'nand.timing.programNs', timing.programNs, shots);
}

function times(findings: Findings, key: string, value: readonly number[], count: number): void {
  if (!Array.isArray(value) || value.length !== count) {
    findings.add(key, `expected an array of ${count} times (one per page type), found ${show(value)}`);
    return;
  }
  value.forEach((ns: number, type) => {
    findings.number(`${key}[${type}]`, ns, [0, MAX_NS]);
  });
}

function checkFeatures(findings: Findings, { features, geometry }: NandConfig): void {
  if (!findings.section('nand.features', features, featureRanges, [...featureFlags, 'suspend'])) return;
  const record = features as unknown as Record<string, unknown>;
  for (const key of featureFlags) {
    if (typeof record[key] !== 'boolean')
      findings.add(`nand.features.${key}`, `expected true or false, found ${show(record[key])}`);
  }
  findings.oneOf('nand.features.suspend', features.suspend, ['none', 'erase', 'program+erase']);
  if (geometry?.programUnit === 'wordline' && (features.randomPageProgram || features.nop > 1 || features.copyback)) {
    findings.add('nand.features', 'word-line programming allows neither randomPageProgram, nop above 1 nor copyback');
  }
}

function checkReliability(findings: Findings, { reliability }: NandConfig): void {
  if (!findings.section('nand.reliability', reliability, reliabilityRanges, ['rawBitErrors', 'ecc'])) return;
  const given = reliability as NonNullable<typeof reliability>;
  findings.section('nand.reliability.rawBitErrors', given.rawBitErrors, rawBitErrorRanges, []);
  findings.section('nand.reliability.ecc', given.ecc, eccRanges, []);
  if (given.eraseFailTo <= given.eraseFailFrom) {
    findings.add(
      'nand.reliability.eraseFailTo',
      `must be above eraseFailFrom (${given.eraseFailFrom}), found ${given.eraseFailTo}`,
    );
  }
}

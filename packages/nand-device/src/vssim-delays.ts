import { InputError, nearestName } from '@flashstack/sim';
import type { NandConfig } from './config.js';

/** Delays of the VSSIM model, ns, beside tR, tPROG and tBERS of the part. */
export interface VssimDelays {
  /** A page command on another channel than the last one starts at least so long after that one, if it was a read … */
  readonly switchReadNs: number;
  /** … or a write. A command also begins its first phase so long after its own start. */
  readonly switchWriteNs: number;
  /** A page from the register to the controller, and from the controller to the register. */
  readonly registerReadNs: number;
  readonly registerWriteNs: number;
  /** What works on one command at a time: a whole `chip` (a die here), or each `plane` of it. */
  readonly parallel: 'chip' | 'plane';
}

/** The delays that VSSIM ships for the Intel X25-M. */
export const defaultVssimDelays: VssimDelays = {
  switchReadNs: 16_000,
  switchWriteNs: 33_000,
  registerReadNs: 82_000,
  registerWriteNs: 82_000,
  parallel: 'chip',
};

const MAX_NS = 0x3fff_ffff;
const TIMES = ['switchReadNs', 'switchWriteNs', 'registerReadNs', 'registerWriteNs'];
const KEYS = [...TIMES, 'parallel'];

/**
 * Checks the delays, and that the part has nothing that VSSIM does not know.
 * @throws InputError `ERR_NAND_VSSIM`, whose message lists every key that is wrong, what was found and what is expected.
 */
export function checkVssim(config: NandConfig, delays: VssimDelays): void {
  const findings = [...wrongDelays(delays), ...unknownToVssim(config)];
  if (findings.length === 0) return;
  const text = findings.map(([key, what]) => `${key}: ${what}`).join('; ');
  throw new InputError('ERR_NAND_VSSIM', `scheduler vssim: ${text}`, findings[0][0]);
}

type Finding = readonly [key: string, what: string];

function wrongDelays(delays: VssimDelays): Finding[] {
  if (typeof delays !== 'object' || delays === null) return [['vssim', `expected a map with ${KEYS.join(', ')}`]];
  const record = delays as unknown as Readonly<Record<string, unknown>>;
  const findings: Finding[] = [];
  for (const key of Object.keys(record)) {
    if (KEYS.includes(key)) continue;
    const nearest = nearestName(key, KEYS);
    const hint = nearest === null ? `known are ${KEYS.join(', ')}` : `did you mean ${nearest}?`;
    findings.push([`vssim.${key}`, `unknown key; ${hint}`]);
  }
  for (const key of TIMES) {
    const value = record[key];
    if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_NS) continue;
    findings.push([`vssim.${key}`, `expected an integer from 0 to ${MAX_NS}, found ${show(value)}`]);
  }
  if (record.parallel !== 'chip' && record.parallel !== 'plane') {
    findings.push(['vssim.parallel', `expected chip or plane, found ${show(record.parallel)}`]);
  }
  return findings;
}

function unknownToVssim({ features, geometry, timing }: NandConfig): Finding[] {
  const findings: Finding[] = [];
  for (const key of ['cacheRegister', 'multiPlane', 'independentPlaneReads', 'copyback'] as const) {
    if (features[key]) findings.push([`nand.features.${key}`, 'VSSIM has none; expected false, found true']);
  }
  if (features.suspend !== 'none') {
    findings.push(['nand.features.suspend', `VSSIM has none; expected none, found ${features.suspend}`]);
  }
  if (geometry.programUnit !== 'page') {
    findings.push(['nand.geometry.programUnit', `VSSIM programs pages; expected page, found ${geometry.programUnit}`]);
  }
  if (timing.statusNs > 0) {
    findings.push(['nand.timing.statusNs', `VSSIM polls no status; expected 0, found ${timing.statusNs}`]);
  }
  return findings;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
}

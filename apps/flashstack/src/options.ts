import { nearestName } from '@flashstack/sim';
import type { AddressPolicy, ReplayLoop } from '@flashstack/workloads';
import { addressPolicies } from '@flashstack/workloads';
import { UsageError } from './report-error.js';

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** A size such as `4GiB`, `512M`, `4096`; letters are powers of 1024. */
export function parseSize(option: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b)?$/i.exec(text.trim());
  const bytes = match === null ? Number.NaN : Math.round(Number(match[1]) * units[match[2].toLowerCase()]);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  if (bytes > 0) throw new UsageError(`${option} is "${text}", too large: the limit is 8 PiB.`);
  throw new UsageError(`${option} is "${text}", expected a size above 0.`, ['Write it as 4GiB, 512MiB or in bytes.']);
}

/** A whole number of at least `least`. */
export function parseWhole(option: string, text: string, least: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= least) return value;
  if (value >= least) throw new UsageError(`${option} is "${text}", too large: the limit is 2^53 - 1.`);
  throw new UsageError(`${option} is "${text}", expected a whole number of at least ${least}.`);
}

/** A share such as `7%` or `0.07`, above 0. */
export function parseShare(option: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim());
  const share = match === null ? Number.NaN : Number(match[1]) / (match[2] === '%' ? 100 : 1);
  if (share > 0 && share < 100) return share;
  throw new UsageError(`${option} is "${text}", expected a share above 0.`, ['Write it as 7% or 0.07.']);
}

/** `path=value` pairs; a value is JSON (a number, true, null, a list …) or else the text itself. */
export function parseSettings(option: string, texts: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new UsageError(`${option} is "${text}", expected PATH=VALUE.`, ['Such as ftl.victim=fifo.']);
      return [text.slice(0, at), jsonOrText(text.slice(at + 1))];
    }),
  );
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A number above 0. */
export function parsePositive(option: string, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${option} is "${text}", expected a number above 0.`);
}

/** One of a few words, with the nearest one named when it is none of them. */
export function parseChoice<T extends string>(option: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const near = nearestName(text, choices);
  const hint = near === null ? '' : `Did you mean ${near}? `;
  throw new UsageError(
    `${option} is "${text}", expected one of ${choices.join(', ')}.`,
    hint === '' ? [] : [hint.trim()],
  );
}

/** `open`, `closed` (depth 32) or `closed:N`. */
export function parseLoop(text: string, timeScale: number): ReplayLoop {
  if (text === 'open') return { kind: 'open', timeScale };
  const match = /^closed(?::(.*))?$/.exec(text);
  if (match === null) {
    parseChoice('--loop', text, ['open', 'closed', 'closed:N']);
    throw new UsageError('--loop is "closed:N": put a number in place of N, such as closed:32.');
  }
  return { kind: 'closed', depth: match[1] === undefined ? 32 : parseWhole('--loop closed:N', match[1], 1) };
}

/** One of the address policies. */
export function parseAddress(text: string): AddressPolicy {
  return parseChoice('--address', text, addressPolicies);
}

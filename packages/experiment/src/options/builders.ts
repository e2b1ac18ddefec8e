import type { StrategyKind } from '@flashstack/sim';
import type { Option } from './option.js';

/** Largest time that fits the integer arithmetic of the schedulers, ns: about a second. */
export const MAX_NS = 0x3fff_ffff;
const PRESET = 'as the preset says';

type Extra = Partial<Pick<Option, 'default' | 'nullable' | 'list' | 'of'>>;

/** A whole number of something, from `min` to `max`. */
export function count(min: number, max: number, help: string, extra: Extra = {}): Option {
  return { type: 'amount', unit: 'count', whole: true, min, max, default: PRESET, help, ...extra };
}

/** Any number from `min` to `max`. */
export function real(min: number, max: number, help: string, extra: Extra = {}): Option {
  return { type: 'amount', unit: 'count', min, max, default: PRESET, help, ...extra };
}

/** A time in whole ns. */
export function time(help: string, extra: Extra & { max?: number; min?: number } = {}): Option {
  const { min = 0, max = MAX_NS, ...rest } = extra;
  return { type: 'amount', unit: 'time', whole: true, min, max, default: PRESET, help, ...rest };
}

/** A size in whole bytes. */
export function size(min: number, max: number, help: string, extra: Extra = {}): Option {
  return { type: 'amount', unit: 'size', whole: true, min, max, default: PRESET, help, ...extra };
}

/** Bytes per second. */
export function rate(help: string): Option {
  return { type: 'amount', unit: 'rate', min: 1, max: 1e12, default: PRESET, help };
}

/** A share from 0 to 1. */
export function share(help: string, extra: Extra = {}): Option {
  return { type: 'amount', unit: 'share', min: 0, max: 1, default: PRESET, help, ...extra };
}

/** True or false. */
export function flag(help: string, fallback?: boolean): Option {
  return { type: 'boolean', default: fallback === undefined ? PRESET : String(fallback), help };
}

/** One of a few words. */
export function choice(values: readonly string[], help: string, fallback: string = PRESET): Option {
  return { type: 'enum', values, default: fallback, help };
}

/** A strategy by name, or by name with parameters. */
export function strategyOf(kinds: readonly StrategyKind<unknown>[], help: string, fallback: string): Option {
  return { type: 'strategy', kinds, default: fallback, help };
}

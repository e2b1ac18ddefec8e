import { InputError } from '@flashstack/sim';

/** Stable codes of {@link ReplayError}. */
export const ReplayErrorCode = {
  /** A request reaches beyond the device and the address policy is `fail`. */
  beyondDevice: 'ERR_REPLAY_BEYOND_DEVICE',
  /** No policy can place the workload: one request, or the space it touches, is larger than the device. */
  tooLarge: 'ERR_REPLAY_TOO_LARGE',
  /** The source holds no operation. */
  empty: 'ERR_REPLAY_EMPTY',
  /** An option has an impossible value. */
  option: 'ERR_REPLAY_OPTION',
} as const;

/** A replay that cannot be done as asked. */
export class ReplayError extends InputError {
  constructor(code: string, message: string, key = '') {
    super(code, message, key);
    this.name = 'ReplayError';
  }
}

/** Bytes for people: binary units, at most three significant digits or one decimal (`301 GiB`, `1.5 MiB`). */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** The error of an option that is not what it must be. */
export function wrongOption(name: string, expected: string, found: unknown): ReplayError {
  const shown = typeof found === 'number' ? String(found) : JSON.stringify(found);
  return new ReplayError(ReplayErrorCode.option, `${name} must be ${expected}, found ${shown}`, name);
}

/** A whole number of at least `least`. @throws ReplayError */
export function wholeOption(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw wrongOption(name, `a whole number of at least ${least}`, value);
}

/** A number within bounds. @throws ReplayError */
export function optionBetween(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw wrongOption(name, `a number from ${least} to ${most}`, value);
}

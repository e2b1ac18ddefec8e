import { type DeviceSpec, type Extensions, resolveDevice } from '@flashstack/experiment';
import { InputError, Simulator } from '@flashstack/sim';
import { Ssd } from '@flashstack/ssd';

const STEP = 2 ** 20;
/** A drive that does not fit into so much would be too large to try out. */
const MOST = 2 ** 36;

/**
 * The least capacity, in whole MiB, to which a drive can be scaled: found by trying, since blocks shrink in steps as a
 * drive gets smaller. Null if none up to 64 GiB works.
 */
export function leastCapacity(device: DeviceSpec, extensions: Extensions): number | null {
  let low = 0;
  let high = STEP;
  while (!fits(device, high, extensions)) {
    if (high >= MOST) return null;
    low = high;
    high *= 2;
  }
  while (high - low > Math.max(STEP, high / 64)) {
    const middle = Math.ceil((low + high) / 2 / STEP) * STEP;
    if (fits(device, middle, extensions)) high = middle;
    else low = middle;
  }
  return high;
}

function fits(device: DeviceSpec, capacityBytes: number, extensions: Extensions): boolean {
  try {
    const config = resolveDevice({ device: { ...device, capacityBytes } }, extensions);
    new Ssd(new Simulator(), { ...config, keeps: 'nothing' });
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

import { BlockStatus } from '@flashstack/block-device';

const EIO = 5;
const NUMBERS: ReadonlyMap<number, number> = new Map([
  [BlockStatus.ok, 0],
  // ENODATA, ENOSPC, EOPNOTSUPP, EROFS, ENODEV: what the kernel makes of the like.
  [BlockStatus.mediaError, 61],
  [BlockStatus.noSpace, 28],
  [BlockStatus.notSupported, 95],
  [BlockStatus.readOnly, 30],
  [BlockStatus.powerLost, 19],
]);

/** The error number of Linux for a `BlockStatus`; EIO for what it has no word for. */
export function errorNumber(status: number): number {
  return NUMBERS.get(status) ?? EIO;
}

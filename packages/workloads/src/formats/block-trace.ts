import { BlockFlag } from '@flashstack/block-device';

/** Bytes of a sector, the unit of addresses in block traces of the kernel. */
export const SECTOR_BYTES = 512;

/** Bits of the minor number in a device number of the kernel; the major number lies above them. */
export const MINOR_BITS = 20;

/** A device number as the kernel's tools print it, such as `8,0`. */
export function deviceName(device: number): string {
  return `${device >>> MINOR_BITS},${device & ((1 << MINOR_BITS) - 1)}`;
}

/** The `BlockFlag` bits of a request; durability flags belong to writes only. */
export function blockFlags(write: boolean, fua: boolean, preflush: boolean, sync: boolean): number {
  const durable = write ? (fua ? BlockFlag.fua : 0) | (preflush ? BlockFlag.preflush : 0) : 0;
  return durable | (sync ? BlockFlag.sync : 0);
}

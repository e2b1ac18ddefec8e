import { BlockFlag, BlockOp } from '@flashstack/block-device';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';

/** Bytes of a sector, the unit of addresses in block traces of the kernel. */
export const SECTOR_BYTES = 512;

/** Bits of the minor number in a device number of the kernel; the major number lies above them. */
const MINOR_BITS = 20;

/** A device number as the kernel's tools print it, such as `8,0`. */
export function deviceName(device: number): string {
  return `${device >>> MINOR_BITS},${device & ((1 << MINOR_BITS) - 1)}`;
}

const MAJOR_BITS = 12;

/** The device number of a text trace. `field` is blamed for one that the kernel cannot have: it would be another's. */
export function deviceNumber(row: Row, field: number, major: number, minor: number): number {
  if (major < 2 ** MAJOR_BITS && minor < 2 ** MINOR_BITS) return major * 2 ** MINOR_BITS + minor;
  return row.fail(field, `there is no device ${major},${minor}: major numbers have 12 bits, minor ones 20`);
}

/** The `BlockFlag` bits of a request by its `BlockOp`; durability belongs to writes only, reading ahead to reads. */
export function blockFlags(op: number, fua: boolean, preflush: boolean, ahead: boolean, sync: boolean): number {
  const durable = (fua ? BlockFlag.fua : 0) | (preflush ? BlockFlag.preflush : 0);
  const own = op === BlockOp.write ? durable : op === BlockOp.read && ahead ? BlockFlag.ahead : 0;
  return own | (sync ? BlockFlag.sync : 0);
}

/** A request issued and not yet completed. */
interface Outstanding {
  readonly operation: number;
  readonly flow: number;
  readonly lengthBytes: number;
  readonly timeNs: number;
  readonly next: Outstanding | undefined;
}

/** Matches completions with the requests they belong to, by device, first byte and length. */
export class Completions {
  private readonly respond: (operation: number, responseNs: number) => void;
  private readonly byOffset = new Map<number, Outstanding>();
  private found: Outstanding | undefined;

  constructor(respond: (operation: number, responseNs: number) => void) {
    this.respond = respond;
  }

  /** The operation of this number was issued. An equal one that never completed is forgotten. */
  issued(operation: number, { flow, offsetBytes, lengthBytes, timeNs }: Operation): void {
    if (lengthBytes === 0) return;
    const next = this.without(this.byOffset.get(offsetBytes), flow, lengthBytes);
    this.byOffset.set(offsetBytes, { operation, flow, lengthBytes, timeNs, next });
  }

  /** A request of this place and length has completed. One that was merged with others matches none. */
  completed(flow: number, offsetBytes: number, lengthBytes: number, timeNs: number): void {
    this.found = undefined;
    const rest = this.without(this.byOffset.get(offsetBytes), flow, lengthBytes);
    if (this.found === undefined) return;
    if (rest === undefined) this.byOffset.delete(offsetBytes);
    else this.byOffset.set(offsetBytes, rest);
    const { operation, timeNs: issuedNs }: Outstanding = this.found;
    this.respond(operation, Math.max(0, timeNs - issuedNs));
  }

  /** The list without its entry for this device and length, which becomes `found`. */
  private without(list: Outstanding | undefined, flow: number, lengthBytes: number): Outstanding | undefined {
    if (list === undefined) return undefined;
    if (list.flow === flow && list.lengthBytes === lengthBytes) {
      this.found = list;
      return list.next;
    }
    const next = this.without(list.next, flow, lengthBytes);
    return next === list.next ? list : { ...list, next };
  }
}

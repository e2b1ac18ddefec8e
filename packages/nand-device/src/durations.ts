import type { NandArray } from './array.js';
import type { NandConfig } from './config.js';
import type { Geometry } from './geometry.js';

/** Time of `bytes` on a channel, ns, rounded up. */
export function transferNs(bytes: number, bytesPerSec: number): number {
  return Math.ceil((bytes * 1e9) / bytesPerSec);
}

/** Durations of bus and array phases of a device as tables, ns. */
export class DurationTable {
  readonly commandNs: number;
  /** Per page of a block: tR; tPROG of the program unit that begins there. */
  readonly readOfPage: Int32Array;
  readonly programOfPage: Int32Array;
  /** Data transfer of a read, by number of slots. */
  readonly readTransfer: Int32Array;
  /** Data of one program unit with its spare bytes. */
  readonly programTransferNs: number;
  /** A page without spare bytes. */
  readonly pageTransferNs: number;
  private readonly array: NandArray;
  private readonly config: NandConfig;
  private readonly geometry: Geometry;

  constructor(array: NandArray) {
    const { config, geometry } = array;
    const { timing, features } = config;
    this.array = array;
    this.config = config;
    this.geometry = geometry;
    this.commandNs = timing.commandNs;
    this.readOfPage = Int32Array.from(geometry.pageType, (type) => timing.readNs[type]);
    const oneShot = geometry.programPages > 1;
    this.programOfPage = Int32Array.from(geometry.pageType, (type) => timing.programNs[oneShot ? 0 : type]);
    const { pageBytes, oobBytes, slotBytes } = geometry.config;
    const rate = timing.channelBytesPerSec;
    this.readTransfer = new Int32Array(geometry.slotsPerPage + 1);
    for (let slots = 1; slots <= geometry.slotsPerPage; slots++) {
      const codewords = Math.ceil((slots * slotBytes) / features.codewordBytes);
      const bytes = codewords * features.codewordBytes;
      // A page smaller than a codeword is its own codeword.
      this.readTransfer[slots] = transferNs(Math.min(bytes, Math.max(pageBytes, slots * slotBytes)), rate);
    }
    this.programTransferNs = transferNs((pageBytes + oobBytes) * geometry.programPages, rate);
    this.pageTransferNs = transferNs(pageBytes, rate);
  }

  /** tPROG of the unit that begins at `ppn`, at its block's wear. */
  programNs(ppn: number): number {
    const nominal = this.programOfPage[this.geometry.pageOf(ppn)];
    const { reliability } = this.array;
    return reliability === null ? nominal : reliability.programNs(this.geometry.blockOf(ppn), nominal);
  }

  /** tBERS of this block at its wear. */
  eraseNs(block: number): number {
    const { reliability } = this.array;
    return reliability === null ? this.config.timing.eraseNs : reliability.eraseNs(block);
  }

  /** Bus time of `planes` commands of `each` ns with tDBSY between them. */
  onBus(planes: number, each: number): number {
    return planes * each + (planes - 1) * this.config.timing.tDbsyNs;
  }
}

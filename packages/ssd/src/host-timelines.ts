import type { Simulator } from '@flashstack/sim';
import { BookedAhead } from './booked-ahead.js';
import type { LinkConfig, SsdConfig } from './config.js';
import { programSlots } from './program-unit.js';

/** Timelines before those of the I/O cores: link to host, link to device, host-interface core, collection core. */
export const Line = { toHost: 0, toDevice: 1, hostCore: 2, gcCore: 3, firstCore: 4 } as const;

/**
 * Next-free times of the controller cores and the host link. A booking takes the first time from `earliestNs` on;
 * bookings are in order of call.
 */
export class HostTimelines {
  /** The channels are divided among the cores, and requests are cut accordingly. */
  readonly parted: boolean;
  /** Consecutive slots that belong to one core where the channels are divided: a program unit, as static placement has it. */
  readonly partSlots: number;
  private readonly simulator: Simulator;
  private readonly link: LinkConfig | null;
  private readonly cores: number;
  private readonly leastLoaded: boolean;
  private readonly channels: number;
  private readonly readNsPerByte: number;
  private readonly writeNsPerByte: number;
  /** Next-free times by `Line`, then one I/O core after the other, ns. With a half-duplex link both directions use the first. */
  private readonly freeNs: Float64Array;
  /** Time booked since counting began, laid out as `freeNs`. */
  private readonly bookedNs: Float64Array;
  /** Transfers on the link, which may be booked for later than now, with gaps between them. */
  private readonly transfers: BookedAhead = new BookedAhead();
  private readonly toDevice: number;
  /** Slots of a request by core, between calls all zero. */
  private readonly share: Int32Array;
  private turn = 0;

  constructor(simulator: Simulator, config: SsdConfig) {
    const { link, firmware } = config;
    this.simulator = simulator;
    this.link = link;
    this.cores = firmware.cores;
    this.leastLoaded = firmware.binding === 'leastLoaded';
    this.parted = firmware.binding === 'channel';
    this.partSlots = programSlots(config);
    this.channels = config.nand.geometry.channels;
    this.readNsPerByte = link === null ? 0 : 1e9 / link.readBytesPerSec;
    this.writeNsPerByte = link === null ? 0 : 1e9 / link.writeBytesPerSec;
    this.freeNs = new Float64Array(Line.firstCore + firmware.cores);
    this.bookedNs = new Float64Array(Line.firstCore + firmware.cores);
    this.toDevice = link?.duplex === 'half' ? Line.toHost : Line.toDevice;
    this.share = new Int32Array(firmware.cores);
  }

  /** Time of a line that was busy from the start of counting up to now, ns: what is booked beyond is not counted yet. */
  busyNs(line: number): number {
    return this.bookedNs[line] - this.aheadNs(line);
  }

  /** Starts counting now; what is booked already counts as far as it lies ahead. */
  restart(): void {
    for (let line = 0; line < this.bookedNs.length; line++) this.bookedNs[line] = this.aheadNs(line);
  }

  /** End of `costNs` of work for a command that begins at `lpn`. */
  core(lpn: number, earliestNs: number, costNs: number): number {
    return this.book(this.coreOf(lpn), earliestNs, costNs);
  }

  /** The timeline of the core that serves `lpn`. */
  coreOf(lpn: number): number {
    if (this.cores === 1) return Line.firstCore;
    if (this.leastLoaded) return this.firstFree();
    if (this.parted) return Line.firstCore + ((Math.floor(lpn / this.partSlots) % this.channels) % this.cores);
    return Line.firstCore + (lpn % this.cores);
  }

  /**
   * Where the channels are divided: every core with slots of `lpn … lpn + count − 1` works on its piece.
   * @returns the end of the last piece; each takes `commandNs`, and `slotNs` per slot beyond `free` of them.
   */
  pieces(lpn: number, count: number, earliestNs: number, commandNs: number, slotNs: number, free: number): number {
    const { share } = this;
    this.divide(lpn, count);
    let end = earliestNs;
    for (let core = 0; core < this.cores; core++) {
      if (share[core] === 0) continue;
      const costNs = commandNs + slotNs * (share[core] - free);
      share[core] = 0;
      if (costNs > 0) end = Math.max(end, this.book(Line.firstCore + core, earliestNs, costNs));
    }
    return end;
  }

  /** `costNs` of work on every I/O core; the end of the last. */
  everyCore(earliestNs: number, costNs: number): number {
    let end = earliestNs;
    for (let core = 0; core < this.cores; core++) {
      end = Math.max(end, this.book(Line.firstCore + core, earliestNs, costNs));
    }
    return end;
  }

  /** End of the host-interface core's work on a command. */
  hostCore(earliestNs: number, costNs: number): number {
    return this.book(Line.hostCore, earliestNs, costNs);
  }

  /** Work on one relocated page: on the collection core, or on the I/O cores: the first that is free, or each in turn. */
  gcPage(onGcCore: boolean, earliestNs: number, costNs: number): void {
    let line: number = Line.gcCore;
    if (!onGcCore) {
      line = this.leastLoaded ? this.firstFree() : Line.firstCore + this.turn;
      this.turn = this.turn + 1 === this.cores ? 0 : this.turn + 1;
    }
    this.book(line, earliestNs, costNs);
  }

  /** When the collection core will have done what it has. */
  get gcCoreFreeNs(): number {
    return this.freeNs[Line.gcCore];
  }

  /** Link time of `bytes` towards the device, ns. */
  writeTransferNs(bytes: number): number {
    return Math.round(bytes * this.writeNsPerByte);
  }

  /** End of the command frames, if any, and `bytes` of data towards the device. */
  receive(earliestNs: number, bytes: number, withCommand: boolean): number {
    if (this.link === null) return earliestNs;
    const costNs = (withCommand ? this.link.commandNs : 0) + Math.round(bytes * this.writeNsPerByte);
    return this.transfer(this.toDevice, Line.toDevice, earliestNs, costNs);
  }

  /** End of the transfer of `bytes` to the host; the first part of a request carries the command frames. */
  send(earliestNs: number, bytes: number, first: boolean): number {
    if (this.link === null) return earliestNs;
    const command = first ? this.link.commandNs : 0;
    const costNs = command + Math.round(bytes * this.readNsPerByte);
    return this.transfer(Line.toHost, Line.toHost, earliestNs, costNs);
  }

  /** Books work on a core, for now or as soon as it is free; returns its end. */
  book(line: number, earliestNs: number, costNs: number): number {
    const end = Math.max(this.freeNs[line], earliestNs) + costNs;
    this.freeNs[line] = end;
    this.bookedNs[line] += costNs;
    return end;
  }

  private aheadNs(line: number): number {
    const { now } = this.simulator;
    if (line === Line.toHost || line === Line.toDevice) return this.transfers.after(now, line);
    // Cores take what they are given as soon as they are free: there is no gap from now on.
    return Math.max(0, this.freeNs[line] - now);
  }

  private firstFree(): number {
    const free = this.freeNs;
    let line: number = Line.firstCore;
    for (let i = Line.firstCore + 1; i < free.length; i++) if (free[i] < free[line]) line = i;
    return line;
  }

  /** Counts the slots of each core into `share`. */
  private divide(lpn: number, count: number): void {
    const last = lpn + count;
    let at = lpn;
    while (at < last) {
      const end = Math.min(last, at - (at % this.partSlots) + this.partSlots);
      this.share[this.coreOf(at) - Line.firstCore] += end - at;
      at = end;
    }
  }

  private transfer(line: number, counter: number, earliestNs: number, costNs: number): number {
    const free = this.freeNs;
    const start = Math.max(free[line], earliestNs);
    const end = start + costNs;
    free[line] = end;
    this.bookedNs[counter] += costNs;
    this.transfers.add(counter, start, end, this.simulator.now);
    return end;
  }
}

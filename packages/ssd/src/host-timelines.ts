import type { FirmwareConfig, LinkConfig } from './config.js';

/**
 * Next-free times of the controller cores and the host link. A booking takes the first time from `earliestNs` on;
 * bookings are in order of call.
 */
export class HostTimelines {
  /** Busy time so far: [link to host, link to device, cores together], ns. */
  readonly busyNs: Float64Array = new Float64Array(3);
  private readonly link: LinkConfig | null;
  private readonly cores: number;
  private readonly leastLoaded: boolean;
  private readonly readNsPerByte: number;
  private readonly writeNsPerByte: number;
  /** Next-free times: to host, to device, then one per core. With a half-duplex link both directions use the first. */
  private readonly freeNs: Float64Array;
  private readonly toDevice: number;

  constructor(link: LinkConfig | null, firmware: FirmwareConfig) {
    this.link = link;
    this.cores = firmware.cores;
    this.leastLoaded = firmware.binding === 'leastLoaded';
    this.readNsPerByte = link === null ? 0 : 1e9 / link.readBytesPerSec;
    this.writeNsPerByte = link === null ? 0 : 1e9 / link.writeBytesPerSec;
    this.freeNs = new Float64Array(2 + firmware.cores);
    this.toDevice = link?.duplex === 'half' ? 0 : 1;
  }

  /** End of `costNs` of work on a core. */
  core(lpn: number, earliestNs: number, costNs: number): number {
    const free = this.freeNs;
    let core = 2;
    if (this.cores > 1) {
      if (this.leastLoaded) {
        for (let i = 3; i < free.length; i++) if (free[i] < free[core]) core = i;
      } else {
        core = 2 + (lpn % this.cores);
      }
    }
    const start = Math.max(free[core], earliestNs);
    free[core] = start + costNs;
    this.busyNs[2] += costNs;
    return start + costNs;
  }

  /** Link time of `bytes` towards the device, ns. */
  writeTransferNs(bytes: number): number {
    return Math.round(bytes * this.writeNsPerByte);
  }

  /** End of the command frames and `bytes` of data towards the device. */
  receive(earliestNs: number, bytes: number): number {
    if (this.link === null) return earliestNs;
    return this.book(this.toDevice, 1, earliestNs, this.link.commandNs + Math.round(bytes * this.writeNsPerByte));
  }

  /** End of the transfer of `bytes` to the host; the first part of a request carries the command frames. */
  send(earliestNs: number, bytes: number, first: boolean): number {
    if (this.link === null) return earliestNs;
    const command = first ? this.link.commandNs : 0;
    return this.book(0, 0, earliestNs, command + Math.round(bytes * this.readNsPerByte));
  }

  private book(resource: number, counter: number, earliestNs: number, costNs: number): number {
    const free = this.freeNs;
    const start = Math.max(free[resource], earliestNs);
    free[resource] = start + costNs;
    this.busyNs[counter] += costNs;
    return start + costNs;
  }
}

import { BlockFlag, BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import type { RandomStream } from '@flashstack/sim';
import type { Violation } from '../judge/violation.js';
import type { Drive } from './drive.js';
import { readSector, SECTOR_BYTES, writeSector } from './sector.js';
import type { Change, DriveShadow } from './shadow.js';

/** What a request in flight is. */
interface Flight {
  readonly submitted: number;
  readonly change: Change | null;
  readonly flushes: boolean;
}

/** Sectors of the longest request. */
const MOST_SECTORS = 12;

/** Sends random requests to a drive, several in flight, and tells the shadow what becomes of them. */
export class DriveTraffic implements IoOwner {
  /** What went wrong besides lost contents. */
  readonly violations: Violation[] = [];
  private readonly drive: Drive;
  private readonly shadow: DriveShadow;
  private readonly random: RandomStream;
  private readonly flights: Map<BlockRequest, Flight> = new Map();
  private left = 0;
  private version = 0;

  constructor(drive: Drive, shadow: DriveShadow, random: RandomStream) {
    this.drive = drive;
    this.shadow = shadow;
    this.random = random;
  }

  /** Requests that have not been given back. */
  get inFlight(): number {
    return this.flights.size;
  }

  /** Starts `requests` requests, at most `depth` in flight. */
  start(requests: number, depth: number): void {
    this.left = requests;
    for (let at = 0; at < depth; at++) this.send();
  }

  /** The power fails: nothing that is in flight comes back. */
  cut(): void {
    this.left = 0;
    this.flights.clear();
    this.shadow.cut();
    this.drive.powerCut();
  }

  /** Every sector is written once, so that the drive must collect garbage. */
  overwrite(): void {
    for (let first = 0; first < this.shadow.sectors; first += MOST_SECTORS) {
      this.write(first, Math.min(MOST_SECTORS, this.shadow.sectors - first), 0);
    }
  }

  ioDone(request: BlockRequest): void {
    const flight = this.flights.get(request);
    if (flight === undefined) {
      this.wrong('D9 usable', 'a request was given back twice or after a power cut');
      return;
    }
    this.flights.delete(request);
    if (request.status !== 0) this.wrong('D9 usable', `operation ${request.op} ended with status ${request.status}`);
    else {
      if (flight.flushes) this.shadow.flushed(flight.submitted);
      if (flight.change !== null) this.shadow.completed(flight.change, (request.flags & BlockFlag.fua) !== 0);
    }
    this.send();
  }

  private wrong(rule: string, text: string): void {
    this.violations.push({ rule, path: 'drive', text });
  }

  private send(): void {
    if (this.left-- <= 0) return;
    const { random, shadow } = this;
    const count = 1 + random.below(random.below(5) === 0 ? MOST_SECTORS : 3);
    // Most fall on a quarter, so that they meet.
    const area = random.below(4) > 0 ? Math.ceil(shadow.sectors / 4) : shadow.sectors;
    const first = Math.min(random.below(area), shadow.sectors - count);
    const kind = random.below(100);
    if (kind < 62) this.write(first, count, this.flagsOfWrite());
    else if (kind < 76) this.submit(BlockOp.flush, 0, 0, 0, null);
    else if (kind < 86) this.clear(BlockOp.discard, first, count);
    else if (kind < 90) this.clear(BlockOp.writeZeroes, first, count);
    else this.submit(BlockOp.read, first, count, 0, null);
  }

  private flagsOfWrite(): number {
    const kind = this.random.below(10);
    if (kind === 0) return BlockFlag.fua;
    if (kind === 1) return BlockFlag.preflush | BlockFlag.fua;
    return kind === 2 ? BlockFlag.preflush : 0;
  }

  private write(first: number, count: number, flags: number): void {
    const words = new Uint32Array((count * SECTOR_BYTES) / 4);
    this.version++;
    for (let at = 0; at < count; at++) writeSector(words, (at * SECTOR_BYTES) / 4, first + at, this.version);
    this.submit(BlockOp.write, first, count, flags, new Uint8Array(words.buffer));
  }

  private clear(op: number, first: number, count: number): void {
    this.submit(op, first, count, 0, null);
  }

  private submit(op: number, first: number, count: number, flags: number, data: Uint8Array | null): void {
    const { shadow, drive } = this;
    const request = new BlockRequest(this);
    Object.assign(request, { op, block: first, count, flags, data });
    if (op === BlockOp.read) request.data = new Uint8Array(count * SECTOR_BYTES);
    const submitted = shadow.submitted();
    const clears = op === BlockOp.discard || op === BlockOp.writeZeroes;
    const isChange = clears || op === BlockOp.write;
    const change = isChange ? shadow.change(first, count, clears ? 0 : this.version, clears) : null;
    const flushes = op === BlockOp.flush || (flags & BlockFlag.preflush) !== 0;
    this.flights.set(request, { submitted, change, flushes });
    drive.device.submit(request);
  }
}

/** What each sector of a buffer of sectors shows, from sector 0 on. */
export function shownBy(bytes: Uint8Array): number[] {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  return Array.from({ length: bytes.length / SECTOR_BYTES }, (_, lpn) =>
    readSector(words, (lpn * SECTOR_BYTES) / 4, lpn),
  );
}

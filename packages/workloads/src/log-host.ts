import { BlockOp, Origin } from '@flashstack/block-device';
import { Operation, type OperationSource } from './operation.js';
import { wrongOption } from './replay-error.js';
import type { SegmentShape } from './segments.js';

/** What a log-structured host keeps, and where. */
export interface LogHostOptions {
  readonly shape: SegmentShape;
  /** Size of the space that the workload addresses, a multiple of the device's unit; addresses beyond it are wrapped. */
  readonly userBytes: number;
  /** Most bytes that the cleaner reads or writes at a time. Default 131,072. */
  readonly copyBytes?: number;
}

const NONE = -1;

/**
 * Runs a workload that writes anywhere on a device that takes writes in order: a host that keeps a map of units (the
 * device's, such as 4 KiB), appends what is written to a log of segments, and cleans the closed segment with the fewest live
 * units when only one is free (greedy; two if the last segment is shorter), into a log of its own. A segment is released before it is written again.
 *
 * The map costs no I/O, and a copy does not wait for what it copies to be read: reads and writes are submitted in order.
 * Writes are rounded out to whole units, discards in; these end at the host.
 */
export class LogStructuredHost implements OperationSource {
  readonly count = -1;
  readonly endByte: number;
  /** Bytes of writes of the workload so far, rounded out to units, and of copies by the cleaner. */
  userWritten = 0;
  cleaned = 0;
  private readonly source: OperationSource;
  private readonly shape: SegmentShape;
  private readonly userUnits: number;
  private readonly copyUnits: number;
  private readonly perSegment: number;
  /** By unit of the workload: its place in the log, −1: none. By place: its unit, −1: not live. */
  private readonly places: Int32Array;
  private readonly owners: Int32Array;
  private readonly live: Int32Array;
  private readonly closed: Uint8Array;
  /** Ring of free segments, the one released longest ago first. */
  private readonly free: Int32Array;
  private firstFree = 0;
  private freeCount = 0;
  /** Free segments that are the cleaner's: what one victim may need. */
  private readonly reserve: number;
  /** Place that the next write of the workload, or the next copy, gets; −1: no segment is open. */
  private userHead = NONE;
  private copyHead = NONE;
  private releaseDue = NONE;
  private victim = NONE;
  /** Place up to which the victim is cleaned, and how many units from there have been read for their copies. */
  private cursor = 0;
  private copying = 0;
  /** The request of the workload that is under way: what is left of it. */
  private readonly request = new Operation();
  private unit = 0;
  private left = 0;

  /** @throws ReplayError if the segments cannot hold what the workload addresses and three more. */
  constructor(source: OperationSource, { shape, userBytes, copyBytes = 131_072 }: LogHostOptions) {
    const { alignBytes, count, capacityBytes, lastCapacityBytes } = shape;
    this.source = source;
    this.shape = shape;
    this.perSegment = capacityBytes / alignBytes;
    this.userUnits = userBytes / alignBytes;
    this.copyUnits = Math.floor(copyBytes / alignBytes);
    if (!Number.isSafeInteger(this.userUnits) || this.userUnits < 1) {
      throw wrongOption('userBytes', `a multiple of ${alignBytes}, the unit of the device`, userBytes);
    }
    this.reserve = lastCapacityBytes === capacityBytes ? 1 : 2;
    const room = (count - 3 - this.reserve) * capacityBytes + lastCapacityBytes;
    if (userBytes > room) {
      const why = `at most ${room}: ${2 + this.reserve} of the ${count} segments are being written or free`;
      throw wrongOption('userBytes', why, userBytes);
    }
    if (this.copyUnits < 1) throw wrongOption('copyBytes', `at least ${alignBytes}, the unit of the device`, copyBytes);
    if (shape.mostOpen === 1)
      throw wrongOption('shape.mostOpen', 'at least 2: the log of the workload and the cleaner’s', 1);
    this.endByte = shape.firstByte + (count - 1) * shape.segmentBytes + lastCapacityBytes;
    if (shape.release !== BlockOp.discard) this.endByte = shape.firstByte + count * shape.segmentBytes;
    this.places = new Int32Array(this.userUnits);
    this.owners = new Int32Array(count * this.perSegment);
    this.live = new Int32Array(count);
    this.closed = new Uint8Array(count);
    this.free = new Int32Array(count);
    this.clear();
  }

  next(out: Operation): boolean {
    for (;;) {
      if (this.releaseDue !== NONE) return this.release(out);
      if (this.copying > 0) return this.copy(out);
      if (this.victim !== NONE) {
        if (this.clean(out)) return true;
        continue;
      }
      if (this.left > 0) {
        if (this.proceed(out)) return true;
        continue;
      }
      if (!this.source.next(this.request)) return false;
      if (this.begin(out)) return true;
    }
  }

  restart(): void {
    this.source.restart();
    this.clear();
  }

  private clear(): void {
    this.places.fill(NONE);
    this.owners.fill(NONE);
    this.live.fill(0);
    this.closed.fill(0);
    for (let segment = 0; segment < this.free.length; segment++) this.free[segment] = segment;
    this.firstFree = 0;
    this.freeCount = this.free.length;
    this.userHead = NONE;
    this.copyHead = NONE;
    this.releaseDue = NONE;
    this.victim = NONE;
    this.copying = 0;
    this.left = 0;
    this.userWritten = 0;
    this.cleaned = 0;
  }

  /** Takes up a request of the workload; true: it goes to the device as it is. */
  private begin(out: Operation): boolean {
    const { request } = this;
    if (request.op === BlockOp.flush) {
      this.fill(out, BlockOp.flush, 0, 0, request.origin);
      out.flags = request.flags;
      return true;
    }
    const start = request.offsetBytes / this.shape.alignBytes;
    const end = (request.offsetBytes + request.lengthBytes) / this.shape.alignBytes;
    const inner = request.op === BlockOp.discard;
    const first = inner ? Math.ceil(start) : Math.floor(start);
    this.unit = first % this.userUnits;
    this.left = Math.max(0, (inner ? Math.floor(end) : Math.ceil(end)) - first);
    return false;
  }

  /** The next part of the workload's request; false: nothing of it goes to the device, or it must wait for room. */
  private proceed(out: Operation): boolean {
    const { request } = this;
    if (request.op === BlockOp.write) return this.write(out);
    if (request.op === BlockOp.read) return this.read(out);
    while (this.left > 0) this.kill(this.take(1));
    return false;
  }

  /** The first of so many units of the request, which are done with. */
  private take(units: number): number {
    const first = this.unit;
    this.unit = (first + units) % this.userUnits;
    this.left -= units;
    return first;
  }

  private write(out: Operation): boolean {
    if (this.userHead === NONE) {
      if (this.freeCount <= this.reserve) this.chooseVictim();
      else this.userHead = this.open();
      return false;
    }
    const place = this.userHead;
    const units = Math.min(this.left, this.roomAt(place));
    for (let i = 0; i < units; i++) {
      const unit = this.take(1);
      this.kill(unit);
      this.keep(unit, place + i);
    }
    this.userHead = this.after(place, units);
    this.userWritten += units * this.shape.alignBytes;
    this.fill(out, BlockOp.write, place, units, this.request.origin);
    out.flags = this.request.flags;
    out.stream = this.request.stream;
    return true;
  }

  /** Reads units that follow each other in the log, too; what was never written is known without the device. */
  private read(out: Operation): boolean {
    const place = this.places[this.take(1)];
    if (place === NONE) return false;
    const most = this.roomAt(place);
    let units = 1;
    while (this.left > 0 && units < most && this.places[this.unit] === place + units) {
      this.take(1);
      units++;
    }
    this.fill(out, BlockOp.read, place, units, this.request.origin);
    out.flags = this.request.flags;
    return true;
  }

  private chooseVictim(): void {
    const { live, closed } = this;
    let least = NONE;
    for (let segment = 0; segment < closed.length; segment++) {
      if (closed[segment] !== 0 && (least === NONE || live[segment] < live[least])) least = segment;
    }
    this.victim = least;
    this.cursor = least * this.perSegment;
  }

  /** Reads the next live units of the victim; false: there are none left, or a segment must be opened for them. */
  private clean(out: Operation): boolean {
    const { owners, victim, live } = this;
    if (live[victim] === 0) {
      this.closed[victim] = 0;
      this.free[(this.firstFree + this.freeCount++) % this.free.length] = victim;
      this.victim = NONE;
      return false;
    }
    if (this.copyHead === NONE) {
      this.copyHead = this.open();
      return false;
    }
    while (owners[this.cursor] === NONE) this.cursor++;
    const most = Math.min(this.copyUnits, this.roomAt(this.cursor), this.roomAt(this.copyHead));
    let units = 1;
    while (units < most && owners[this.cursor + units] !== NONE) units++;
    this.copying = units;
    this.fill(out, BlockOp.read, this.cursor, units, Origin.cleaning);
    return true;
  }

  private copy(out: Operation): boolean {
    const { copying: units, copyHead: place } = this;
    for (let i = 0; i < units; i++) {
      const unit = this.owners[this.cursor + i];
      this.kill(unit);
      this.keep(unit, place + i);
    }
    this.cursor += units;
    this.copying = 0;
    this.copyHead = this.after(place, units);
    this.cleaned += units * this.shape.alignBytes;
    this.fill(out, BlockOp.write, place, units, Origin.cleaning);
    return true;
  }

  /** Takes the free segment that was released longest ago; its release goes out before anything is written to it. */
  private open(): number {
    const segment = this.free[this.firstFree];
    this.firstFree = (this.firstFree + 1) % this.free.length;
    this.freeCount--;
    this.releaseDue = segment;
    return segment * this.perSegment;
  }

  private release(out: Operation): boolean {
    const { shape, releaseDue: segment } = this;
    this.releaseDue = NONE;
    this.fill(out, shape.release, segment * this.perSegment, 0, this.request.origin);
    out.lengthBytes = shape.release === BlockOp.discard ? this.capacityOf(segment) : shape.segmentBytes;
    return true;
  }

  private capacityOf(segment: number): number {
    return segment === this.shape.count - 1 ? this.shape.lastCapacityBytes : this.shape.capacityBytes;
  }

  /** Units from a place to the end of its segment. */
  private roomAt(place: number): number {
    const segment = Math.floor(place / this.perSegment);
    return segment * this.perSegment + this.capacityOf(segment) / this.shape.alignBytes - place;
  }

  /** Where a log goes on; a segment that has become full is closed. */
  private after(place: number, units: number): number {
    if (units < this.roomAt(place)) return place + units;
    this.closed[Math.floor(place / this.perSegment)] = 1;
    return NONE;
  }

  private keep(unit: number, place: number): void {
    this.places[unit] = place;
    this.owners[place] = unit;
    this.live[Math.floor(place / this.perSegment)]++;
  }

  private kill(unit: number): void {
    const place = this.places[unit];
    if (place === NONE) return;
    this.places[unit] = NONE;
    this.owners[place] = NONE;
    this.live[Math.floor(place / this.perSegment)]--;
  }

  private fill(out: Operation, op: number, place: number, units: number, origin: number): void {
    const { firstByte, segmentBytes, alignBytes } = this.shape;
    const segment = Math.floor(place / this.perSegment);
    out.op = op;
    out.offsetBytes =
      op === BlockOp.flush ? 0 : firstByte + segment * segmentBytes + (place % this.perSegment) * alignBytes;
    out.lengthBytes = units * alignBytes;
    out.timeNs = this.request.timeNs;
    out.responseNs = 0;
    out.flags = 0;
    out.stream = 0;
    out.flow = this.request.flow;
    out.origin = origin;
  }
}

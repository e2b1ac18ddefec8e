import { NandClass, type NandProbe, OpKind, type PhaseTrace, type TransactionScheduler } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import type { Ssd } from '@flashstack/ssd';

/** What a recorder keeps. */
export interface RecorderOptions {
  /** Simulated time since the recorder was made from which on intervals are kept, ns. Default 0. */
  readonly fromNs?: number;
  /** Until when, ns. Default: no end. */
  readonly toNs?: number;
  /** Intervals kept at most; what comes later is only counted. Default 1,000,000, about 22 MB. */
  readonly limit?: number;
}

/** A channel or a die was taken. */
export interface Interval {
  readonly track: 'channel' | 'die';
  /** Which one. */
  readonly index: number;
  /** What for, such as `GC program`; `busy` where that is not known. */
  readonly name: string;
  /** Since the recorder was made, ns. */
  readonly startNs: number;
  readonly endNs: number;
}

const FIRST_CAPACITY = 4096;
const DEFAULT_LIMIT = 1_000_000;

/** Names of intervals; an index is kept with each. */
const NAMES = [
  'busy',
  'read',
  'program',
  'erase',
  'copyback',
  'GC read',
  'GC program',
  'GC erase',
  'GC copyback',
  'mapping read',
  'mapping program',
] as const;
const NAME_OF_KIND = new Uint8Array(8);
NAME_OF_KIND[OpKind.read] = 1;
NAME_OF_KIND[OpKind.readRun] = 1;
NAME_OF_KIND[OpKind.program] = 2;
NAME_OF_KIND[OpKind.cacheProgram] = 2;
NAME_OF_KIND[OpKind.erase] = 3;
NAME_OF_KIND[OpKind.copyback] = 4;
const GC_OFFSET = 4;
const MAPPING_OFFSET = 8;
const gcClasses: readonly number[] = [NandClass.gcRead, NandClass.gcWrite, NandClass.gcErase];
const mappingClasses: readonly number[] = [NandClass.mappingRead, NandClass.mappingWrite];

type TracedScheduler = TransactionScheduler & { trace: PhaseTrace | null };

/**
 * Writes down when each channel and each die of a drive is taken, in bounded memory. On the `timeline` scheduler an
 * interval is known by its operation; the `event` scheduler tells only that the die or channel was busy.
 */
export class TimelineRecorder implements PhaseTrace, NandProbe {
  /** Number of channels and of dies of the drive. */
  readonly channels: number;
  readonly dies: number;
  /** Intervals that were not kept because there were too many. */
  dropped = 0;
  private readonly scheduler: TracedScheduler;
  private readonly startNs: number;
  private readonly fromNs: number;
  private readonly toNs: number;
  private readonly limit: number;
  private readonly named: boolean;
  private used = 0;
  private name = 0;
  private times: Float64Array = new Float64Array(2 * FIRST_CAPACITY);
  /** Track of each interval (channels first, then dies) × 16 + its name. */
  private tracks: Int32Array = new Int32Array(FIRST_CAPACITY);

  /**
   * Listens to the flash of a drive from now on. Attach it after preconditioning, which replaces the flash.
   * @throws InputError `ERR_REPORT_WINDOW` for times or a limit that make no sense, `ERR_REPORT_TRACED` if somebody else
   * listens already.
   */
  constructor(ssd: Ssd, options: RecorderOptions = {}) {
    const { fromNs = 0, toNs = Number.POSITIVE_INFINITY, limit = DEFAULT_LIMIT } = options;
    if (!(fromNs >= 0 && toNs > fromNs)) {
      const found = `found ${fromNs} to ${toNs}`;
      throw new InputError('ERR_REPORT_WINDOW', `window: ${found}, expected 0 ≤ fromNs < toNs`, 'fromNs');
    }
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw new InputError('ERR_REPORT_WINDOW', `limit: found ${limit}, expected a whole number ≥ 1`, 'limit');
    }
    const { scheduler } = ssd.flash;
    this.scheduler = scheduler as TracedScheduler;
    if (this.scheduler.trace !== null || scheduler.probe !== null) {
      throw new InputError(
        'ERR_REPORT_TRACED',
        'the flash of this drive is already traced: detach the other one first',
      );
    }
    this.channels = scheduler.channelBusyNs.length;
    this.dies = scheduler.dieBusyNs.length;
    this.startNs = ssd.simulator.now;
    this.fromNs = fromNs;
    this.toNs = toNs;
    this.limit = limit;
    // There an operation is booked as it is issued, so that the bookings that follow an issue are its own.
    this.named = ssd.config.scheduler.kind === 'timeline';
    this.scheduler.trace = this;
    if (this.named) scheduler.probe = this;
  }

  /** Stops listening. What was recorded stays. */
  detach(): void {
    if (this.scheduler.trace === this) this.scheduler.trace = null;
    if (this.scheduler.probe === this) this.scheduler.probe = null;
  }

  /** Intervals kept. */
  get length(): number {
    return this.used;
  }

  /** The interval that was recorded as number `at`, from 0. */
  interval(at: number): Interval {
    const track = this.tracks[at] >> 4;
    const die = track >= this.channels;
    return {
      track: die ? 'die' : 'channel',
      index: die ? track - this.channels : track,
      name: NAMES[this.tracks[at] & 15],
      startNs: this.times[2 * at],
      endNs: this.times[2 * at + 1],
    };
  }

  issued(_token: number, kind: number, cls: number): void {
    const name = NAME_OF_KIND[kind];
    if (name === 0) this.name = 0;
    else if (gcClasses.includes(cls)) this.name = name + GC_OFFSET;
    else if (mappingClasses.includes(cls) && name <= 2) this.name = name + MAPPING_OFFSET;
    else this.name = name;
  }

  onBus(channel: number, startNs: number, endNs: number): void {
    this.keep(channel, startNs, endNs);
  }

  onDie(die: number, startNs: number, endNs: number): void {
    this.keep(this.channels + die, startNs, endNs);
  }

  private keep(track: number, startNs: number, endNs: number): void {
    const from = Math.max(startNs - this.startNs, this.fromNs);
    const to = Math.min(endNs - this.startNs, this.toNs);
    if (to <= from) return;
    if (this.used === this.limit) {
      this.dropped++;
      return;
    }
    if (this.used === this.tracks.length) this.grow();
    this.times[2 * this.used] = from;
    this.times[2 * this.used + 1] = to;
    this.tracks[this.used++] = (track << 4) | (this.named ? this.name : 0);
  }

  private grow(): void {
    const capacity = Math.min(this.limit, 2 * this.tracks.length);
    const times = new Float64Array(2 * capacity);
    const tracks = new Int32Array(capacity);
    times.set(this.times);
    tracks.set(this.tracks);
    this.times = times;
    this.tracks = tracks;
  }
}

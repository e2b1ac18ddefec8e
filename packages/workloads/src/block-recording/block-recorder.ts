import { BlockOp, Origin } from '@flashstack/block-device';
import { InputError, type Process, type Simulator, unknownName } from '@flashstack/sim';
import { ByteSink } from '../byte-sink.js';
import {
  BlkparseEventWriter,
  BlktraceEventWriter,
  BlockAction,
  BlockCategory,
  BlockEvent,
  type BlockEventWriter,
} from '../formats/block-events.js';
import { SECTOR_BYTES } from '../formats/block-trace.js';
import { categoryOf } from '../formats/operation-rows.js';
import { errorNumber } from './error-number.js';

/** Formats of recordings: binary records of blktrace, or the text that blkparse prints of them. */
export type BlockRecordingFormat = 'blktrace' | 'blkparse';

/** How a recording is written. */
export interface BlockRecorderOptions {
  /** Default `blktrace`. */
  readonly format?: BlockRecordingFormat;
  /** Takes the bytes as they come, in pieces of 64 KiB and more, and the rest in `end`. */
  readonly write: (bytes: Uint8Array<ArrayBuffer>) => void;
  /** Device number, such as 259 × 2^20 for 259,0, which is the default. */
  readonly device?: number;
  /** Origins besides the fixed ones whose requests are marked as metadata. Default none. */
  readonly metadata?: readonly number[];
}

/** Rows of a recording, by what they tell. */
export interface BlockRecorderStats {
  queued: number;
  merged: number;
  splits: number;
  issued: number;
  completed: number;
}

const MADE: Readonly<Record<BlockRecordingFormat, () => BlockEventWriter>> = {
  blktrace: () => new BlktraceEventWriter(),
  blkparse: () => new BlkparseEventWriter(),
};
const DEFAULT_DEVICE = 259 * 2 ** 20;
const PIECE_BYTES = 65_536;
/** A longer request, which has no room in a row, is told of in several. */
const MAX_BYTES = 2 ** 31;
const NOBODY = 'kernel';
const NAME_LENGTH = 15;
/** Fixed origins that file systems of Linux mark as metadata. */
const METADATA: readonly number[] = [
  Origin.directory,
  Origin.inode,
  Origin.node,
  Origin.allocationMap,
  Origin.journal,
  Origin.checkpoint,
  Origin.superblock,
  Origin.summary,
  Origin.extendedAttribute,
  Origin.quota,
];
const { read, write, flush, sync, meta } = BlockCategory;

/**
 * Writes what becomes of requests as a block trace of Linux, so that its tools work on simulated runs. It is a probe of
 * `@flashstack/host`'s block layer (`layer.probe = recorder`); for a device without one there is `RecordedDevice`. Times
 * are ns since the recorder was made; the thread is the process of the simulator that ran then, numbered from 1 in order
 * of appearance, and 0 for what events do.
 */
export class BlockRecorder {
  readonly stats: BlockRecorderStats = { queued: 0, merged: 0, splits: 0, issued: 0, completed: 0 };
  private readonly simulator: Simulator;
  private readonly sectors: number;
  private readonly writer: BlockEventWriter;
  private readonly take: (bytes: Uint8Array<ArrayBuffer>) => void;
  private readonly sink: ByteSink = new ByteSink();
  private readonly event: BlockEvent = new BlockEvent();
  private readonly isMetadata: Uint8Array = new Uint8Array(256);
  private readonly startNs: number;
  private readonly pids: WeakMap<Process, number> = new WeakMap();
  private lastPid = 0;
  private process: Process | null = null;

  /**
   * @throws InputError `ERR_UNKNOWN_NAME` for the format; `ERR_BLOCK_RECORDING` for blocks that are not of whole sectors, a
   * device number beyond 32 bits, or an origin beyond 255.
   */
  constructor(simulator: Simulator, blockBytes: number, options: BlockRecorderOptions) {
    const { format = 'blktrace', device = DEFAULT_DEVICE, metadata = [] } = options;
    if (!Object.hasOwn(MADE, format)) throw unknownName('format of a block recording', format, Object.keys(MADE));
    if (!(blockBytes >= SECTOR_BYTES) || blockBytes % SECTOR_BYTES !== 0) {
      throw new InputError(
        'ERR_BLOCK_RECORDING',
        `blocks of ${blockBytes} bytes are not of whole sectors of 512 bytes`,
      );
    }
    if (!Number.isInteger(device) || device < 0 || device >= 2 ** 32) {
      throw new InputError('ERR_BLOCK_RECORDING', `device is ${device}, expected a device number below 2^32`);
    }
    this.simulator = simulator;
    this.sectors = blockBytes / SECTOR_BYTES;
    this.writer = MADE[format]();
    this.take = options.write;
    this.startNs = simulator.now;
    this.event.device = device;
    this.event.name = NOBODY;
    for (const origin of [...METADATA, ...metadata]) {
      if (!Number.isInteger(origin) || origin < 0 || origin > 255) {
        throw new InputError('ERR_BLOCK_RECORDING', `metadata names origin ${origin}, expected 0 to 255`);
      }
      this.isMetadata[origin] = 1;
    }
    this.writer.message('simulated by flashstack', device, 0, this.sink);
    this.writer.thread(0, NOBODY, 0, this.sink);
  }

  /** A request came in. */
  queued(op: number, block: number, count: number, flags: number, origin: number): void {
    this.stats.queued++;
    this.row(BlockAction.queue, op, block, count, flags, origin);
  }

  /** Blocks were added to a request that was held back: at its end, or at its front. */
  merged(op: number, block: number, count: number, flags: number, origin: number, front: boolean): void {
    this.stats.merged++;
    this.row(front ? BlockAction.frontMerge : BlockAction.backMerge, op, block, count, flags, origin);
  }

  /** A request was cut: these blocks, and those behind them. */
  split(op: number, block: number, count: number, flags: number, origin: number): void {
    this.stats.splits++;
    this.event.detail = (block + count) * this.sectors;
    this.row(BlockAction.split, op, block, count, flags, origin);
  }

  /** Blocks were not added to another request: they are one. */
  allocated(op: number, block: number, count: number, flags: number, origin: number): void {
    this.row(BlockAction.request, op, block, count, flags, origin);
  }

  /** A first request is held back. */
  plugged(): void {
    this.bare(BlockAction.plug, 0);
  }

  /** So many requests that were held back go on. */
  unplugged(requests: number): void {
    this.bare(BlockAction.unplug, requests);
  }

  /** A request waits for the device. */
  inserted(op: number, block: number, count: number, flags: number, origin: number): void {
    this.row(BlockAction.insert, op, block, count, flags, origin);
  }

  /** A request went to the device. */
  issued(op: number, block: number, count: number, flags: number, origin: number): void {
    this.stats.issued++;
    this.row(BlockAction.issue, op, block, count, flags, origin);
  }

  /** The device is done with it; `status` is a `BlockStatus`. */
  completed(op: number, block: number, count: number, flags: number, origin: number, status: number): void {
    this.stats.completed++;
    this.event.error = errorNumber(status);
    this.row(BlockAction.complete, op, block, count, flags, origin);
    this.event.error = 0;
  }

  /** Gives the rest of the bytes to `write`. */
  end(): void {
    if (this.sink.length > 0) this.take(this.sink.take());
  }

  private row(action: number, op: number, block: number, count: number, flags: number, origin: number): void {
    const { event } = this;
    const atDevice = action === BlockAction.issue || action === BlockAction.complete;
    event.action = action;
    event.category = op === BlockOp.flush ? (atDevice ? read | flush : write | flush | sync) : categoryOf(op, flags);
    if (this.isMetadata[origin] !== 0 && op !== BlockOp.flush) event.category |= meta;
    event.sector = op === BlockOp.flush ? 0 : block * this.sectors;
    let left = count * this.sectors * SECTOR_BYTES;
    for (;;) {
      event.bytes = Math.min(left, MAX_BYTES);
      this.emit();
      left -= event.bytes;
      if (left === 0) return;
      event.sector += MAX_BYTES / SECTOR_BYTES;
    }
  }

  /** A row that is of no request. */
  private bare(action: number, detail: number): void {
    const { event } = this;
    event.action = action;
    event.category = read;
    event.sector = 0;
    event.bytes = 0;
    event.detail = detail;
    this.emit();
  }

  private emit(): void {
    const { event, sink, simulator } = this;
    event.timeNs = simulator.now - this.startNs;
    if (simulator.current !== this.process) this.enter(simulator.current);
    this.writer.event(event, sink);
    if (sink.length >= PIECE_BYTES) this.take(sink.take());
  }

  private enter(process: Process | null): void {
    const { event } = this;
    this.process = process;
    if (process === null) {
      event.pid = 0;
      event.name = NOBODY;
      return;
    }
    event.name = nameOf(process);
    const known = this.pids.get(process);
    event.pid = known ?? ++this.lastPid;
    if (known !== undefined) return;
    this.pids.set(process, event.pid);
    this.writer.thread(event.pid, event.name, event.timeNs, this.sink);
  }
}

/** The name as the kernel keeps names: 15 characters; others than printable ones of ASCII become `?`. */
function nameOf({ name }: Process): string {
  return name.slice(0, NAME_LENGTH).replace(/[^ -~]/g, '?') || '?';
}

import type { FtlOptions } from '@flashstack/ftl';
import type { NandConfig, VssimDelays } from '@flashstack/nand-device';
import type { QueueClass } from './arbiter.js';

/** The cable or lanes between host and drive. Payload rates: framing and encoding are already taken off. */
export interface LinkConfig {
  /** Device to host, bytes per second. */
  readonly readBytesPerSec: number;
  /** Host to device, bytes per second. */
  readonly writeBytesPerSec: number;
  /** `full`: both directions at once (PCIe); `half`: one at a time (SATA, eMMC). */
  readonly duplex: 'full' | 'half';
  /** Link time of one command besides its data (command and completion frames), ns. */
  readonly commandNs: number;
  /** A request longer than this is cut so that its link transfer overlaps flash work, bytes: a multiple of a slot. */
  readonly chunkBytes: number;
}

/** Processor time of the controller. All zero: the controller is never the bottleneck. */
export interface FirmwareConfig {
  /** I/O cores: they carry out commands. */
  readonly cores: number;
  /**
   * `lpn`: a command belongs to the core lpn mod cores, as a partitioned map does; `leastLoaded`: to the first free;
   * `channel`: the cores share the channels out, and a command is cut into a piece for each core that has slots of it.
   * The channel of a slot is that of static placement: floor(lpn / slots of a program unit) mod channels.
   */
  readonly binding: 'lpn' | 'leastLoaded' | 'channel';
  /** Latency of a read that keeps no core busy (address look-up, set-up of flash and host transfers), ns. */
  readonly readPipelineNs: number;
  /** Per command, ns. */
  readonly readNs: number;
  readonly writeNs: number;
  readonly flushNs: number;
  /** DISCARD and WRITE_ZEROES, per command, ns. */
  readonly discardNs: number;
  /** Per slot beyond the first, ns. */
  readonly readSlotNs: number;
  readonly writeSlotNs: number;
  /** A core in front of the I/O cores that every command passes. Default false. */
  readonly hostCore?: boolean;
  /** Its time per command, ns. Default 0. */
  readonly hostNs?: number;
  /** A core of its own for the relocation of pages. Default false: the I/O cores do it. */
  readonly gcCore?: boolean;
  /** Processor time of each relocated page, ns. Default 0. */
  readonly gcPageNs?: number;
}

/** Write buffer in controller RAM. */
export interface BufferConfig {
  /** Capacity in slots (mapping units). */
  readonly slots: number;
  /**
   * `single`; or `double`: two halves of `slots` / 2. A write that does not fit into one goes to the other, or waits; a
   * half is drained as a whole when a write did not fit, on a flush, or `timerNs` after the last drain, and takes writes
   * again when all of it is durable. Default `single`.
   */
  readonly kind?: 'single' | 'double';
  /** True: a write is done when its data is in the buffer; false: when it is programmed (drain `eager` only). */
  readonly earlyCompletion: boolean;
  /**
   * `eager`: drained as fast as flash takes it; `watermark`: from `highWatermark` down to `lowWatermark`; `full`: all of it
   * once a write does not fit; `idle`: while the host has been silent for `idleNs`; `timer`: all of it, `timerNs` after
   * the last drain. With the last two also while writes wait for room; always for a flush. A double buffer needs `full`.
   */
  readonly drain: 'eager' | 'watermark' | 'full' | 'idle' | 'timer';
  /** Share of the slots that are dirty when draining begins. */
  readonly highWatermark: number;
  /** Share of the slots that are dirty when draining ends. */
  readonly lowWatermark: number;
  /** At most so many slots are handed to the FTL at a time; 0: two program units per parallel unit. */
  readonly inFlightSlots: number;
  /** `timer` and double buffers: ns. Default 300 ms. */
  readonly timerNs?: number;
  /** `idle`: ns. Default 1 ms. */
  readonly idleNs?: number;
}

/** Slots of flash kept in controller RAM for reads: those used last stay. */
export interface ReadCacheConfig {
  /** Capacity in slots. */
  readonly slots: number;
  /** How far sequential reads are read ahead, slots; 0: not at all. At most half the cache. */
  readonly readAheadSlots: number;
  /** Consecutive sequential reads from which on that is done. */
  readonly after: number;
  /** What has been written stays when it leaves the write buffer. Default false. */
  readonly writes?: boolean;
}

/** Command queues of the host interface. */
export interface QueueConfig {
  /** Commands the drive works on at a time. */
  readonly depth: number;
  /** Submission queues served in turn; a request goes to queue `flow` mod `queues`. */
  readonly queues: number;
}

/** The protocol of the host interface. What belongs to another kind than the drive's is refused. */
export interface HostConfig {
  /**
   * `nvme`: queues under arbitration, with figures for each; `sata-ncq`: one queue of up to 32 commands, past which a
   * FLUSH goes alone; `emmc`: one command at a time.
   */
  readonly kind: 'nvme' | 'sata-ncq' | 'emmc';
  /** eMMC: most waiting writes that are sent under one command, whose cost they share. Default 1. */
  readonly packedCommands?: number;
  /** eMMC: false: every write is durable before it is done. Default true. */
  readonly cache?: boolean;
  /** eMMC: core time of a flush besides `firmware.flushNs`, ns. Default 0. */
  readonly flushNs?: number;
  /** SATA: a DISCARD is queued like other commands; false: it waits until the drive is idle and goes alone. Default false. */
  readonly queuedTrim?: boolean;
  /** NVMe: all queues alike, or by class. Default `roundRobin`. */
  readonly arbitration?: 'roundRobin' | 'weightedRoundRobin';
  /** NVMe: most commands that are taken from one queue before the next has its turn. Default 1. */
  readonly arbitrationBurst?: number;
  /** Weighted: classes of the queues, the first for queue 0 and so on, over again if there are more queues. Default all medium. */
  readonly classes?: readonly QueueClass[];
  /** Weighted: commands of a class per turn. Defaults 4, 2, 1; urgent queues go before all others. */
  readonly highWeight?: number;
  readonly mediumWeight?: number;
  readonly lowWeight?: number;
}

/** How flash operations are placed in time. */
export interface SchedulerConfig {
  /**
   * `timeline`: in order of arrival, fast; `event`: queues per die, priorities, suspension; `vssim`: the delay model of
   * VSSIM, strictly in order of issue.
   */
  readonly kind: 'timeline' | 'event' | 'vssim';
  /** Event scheduler only: which operation of a die goes first. */
  readonly policy: 'fifo' | 'readFirst' | 'outOfOrder' | 'priority';
  /** Event scheduler only: `reserve` books a read's transfer with its command, `arbitrate` when it is ready. */
  readonly bus: 'reserve' | 'arbitrate';
  /** VSSIM only, and needed there: its delays. They stand in for command times and the rate of the channels. */
  readonly vssim?: VssimDelays;
}

/** A public figure of the modelled drive and how it was measured. */
export interface PublishedFigure {
  readonly metric: 'sequentialRead' | 'sequentialWrite' | 'randomRead' | 'randomWrite';
  /** Bytes per second for the sequential metrics, requests per second for the random ones. */
  readonly value: number;
  readonly requestBytes: number;
  /** Requests in flight. */
  readonly depth: number;
  /** Host software that the figure includes, ns per request: it passes between an end and the next request. Default 0. */
  readonly hostNs?: number;
  /** Of random writes: measured on a drive in steady state instead of an empty one. */
  readonly state?: 'steady';
  /** `calibrated`: constants were fitted to it; `predicted`: it was not used; `target`: chosen, nothing was published. */
  readonly kind: 'calibrated' | 'predicted' | 'target';
  /** Largest accepted relative deviation. */
  readonly tolerance: number;
  /** Where the figure stands, by title. */
  readonly source: string;
  /** Why the model misses, if it does: the figure is then reported but not required. */
  readonly miss?: string;
}

/** Options of the FTL, without the size of its address space. */
export type SsdFtlOptions = Omit<FtlOptions, 'logicalSlots'>;

/** Everything that defines a drive. Plain data: can be stored, hashed, and written as JSON. */
export interface SsdConfig {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Documents the values come from, by title. */
  readonly sources: readonly string[];
  /** Public performance figures to compare with. */
  readonly figures: readonly PublishedFigure[];
  /** What the host may address, bytes: a multiple of the slot. The rest of the raw capacity is over-provisioning. */
  readonly capacityBytes: number;
  /** Logical block of the host, bytes. */
  readonly blockBytes: number;
  readonly nand: NandConfig;
  /** Mapping and garbage collection; the number of logical slots follows from `capacityBytes`. */
  readonly ftl: SsdFtlOptions;
  readonly link: LinkConfig | null;
  readonly firmware: FirmwareConfig;
  /** Null: no buffer; a write is done when it is programmed. */
  readonly buffer: BufferConfig | null;
  /** Default null: every read that the write buffer does not serve goes to flash. */
  readonly readCache?: ReadCacheConfig | null;
  readonly queue: QueueConfig;
  /** Default null: `queue` says it all. */
  readonly host?: HostConfig | null;
  readonly scheduler: SchedulerConfig;
  /** Capacitors: buffer and mapping survive a power cut, issued programs end, FLUSH costs no flash work. */
  readonly powerLossProtection: boolean;
  /** `contents`: what is written can be read back; `nothing`: only addresses are simulated (less memory). */
  readonly keeps: 'contents' | 'nothing';
  /** How long an incomplete program unit may hold back a write that must become durable, before it is padded, ns. */
  readonly gatherNs: number;
  /**
   * Host silence after which the FTL is offered idle time, ns; 0: never. Pages that are hard to read and blocks that were
   * read too often are written again in idle time only.
   */
  readonly idleNs: number;
}

/** A controller whose processors cost nothing. */
export const freeFirmware: FirmwareConfig = {
  cores: 1,
  binding: 'leastLoaded',
  readPipelineNs: 0,
  readNs: 0,
  writeNs: 0,
  flushNs: 0,
  discardNs: 0,
  readSlotNs: 0,
  writeSlotNs: 0,
};

/** The scheduler every preset starts with. */
export const defaultScheduler: SchedulerConfig = { kind: 'timeline', policy: 'outOfOrder', bus: 'arbitrate' };

import type { ZoneCapability } from './zones.js';

/** What a request asks for; devices with zones take those of `ZoneOp` too. */
export const BlockOp = { read: 0, write: 1, flush: 2, discard: 3, writeZeroes: 4 } as const;

/** Bits of `BlockRequest.flags`. */
export const BlockFlag = {
  /** Writes and appends only: durable before it completes. Covers this request only. */
  fua: 1,
  /** Writes and appends only: first make every write durable that had completed before this one was submitted. */
  preflush: 2,
  /** Somebody waits for it; of reads, which are waited for anyway, it need not be said. */
  sync: 4,
  /** Nobody waits for it: write-back, cleaning. */
  background: 8,
  /** The block layer must not join it with another. */
  noMerge: 16,
  /** Reads only: brought before it is asked for, as read-ahead does. It is scheduled and joined as other reads are. */
  ahead: 32,
} as const;

/** Outcome of a request: 0 is success, everything else a failure. */
export const BlockStatus = {
  ok: 0,
  /** The device failed without saying more (`EIO`). */
  ioError: 1,
  /** The medium cannot give the data back (uncorrectable). */
  mediaError: 2,
  /** No room for the data (a full image file, thin provisioning). */
  noSpace: 3,
  /** The device does not offer this: a discard or FUA write without the feature. Nothing was changed. */
  notSupported: 4,
  /** The device takes no more writes. */
  readOnly: 5,
  /** Power was lost before it completed. */
  powerLost: 6,
  /** A read into `tags` met a block that holds bytes which no tag stands for: read it into `data`. */
  notTagged: 7,
  /** The write does not fit between the write pointer and the capacity of its zone (NVMe B8h). */
  zoneBoundary: 8,
  /** The zone is full (NVMe B9h). */
  zoneFull: 9,
  /** The zone can only be read (NVMe BAh). */
  zoneReadOnly: 10,
  /** The zone can be neither read nor written (NVMe BBh). */
  zoneOffline: 11,
  /** The write does not start at the write pointer of its zone (NVMe BCh). */
  zoneInvalidWrite: 12,
  /** As many zones are open or closed as may be (NVMe BDh). */
  tooManyActiveZones: 13,
  /** As many zones are open as may be, and all of them explicitly (NVMe BEh). */
  tooManyOpenZones: 14,
  /** The zone is in a state from which this command does not lead anywhere (NVMe BFh). */
  zoneInvalidTransition: 15,
} as const;

/** Name of a status for messages, such as `mediaError`. */
export function blockStatusName(status: number): string {
  for (const [name, value] of Object.entries(BlockStatus)) if (value === status) return name;
  return `status ${status}`;
}

/** Who gets a request back. */
export interface IoOwner {
  /** The request is done and the owner's again. May come at any time, from inside `submit` too. */
  ioDone(request: BlockRequest): void;
}

/**
 * One request. Pooled and mutable: the submitter fills it in, the device owns it until `owner.ioDone(request)`.
 * The contents of a write are taken by `submit`; the buffer of a read is the device's until `ioDone`.
 */
export class BlockRequest {
  /** A `BlockOp` or `ZoneOp`. */
  op = 0;
  /** First block. */
  block = 0;
  /** Number of blocks; 0 for a flush. */
  count = 0;
  /** `BlockFlag` bits. */
  flags = 0;
  /** Who caused it, 0–255: see `Origin` and `OriginTable`. */
  origin = 0;
  /** Write-lifetime hint to the device, 0: none. */
  stream = 0;
  /** Tenant or queue. */
  flow = 0;
  /** Exactly `count` blocks, or null: contents are given by `tags`. */
  data: Uint8Array | null = null;
  /** One per block: the block filled with this little-endian word. Null without `data`: all zero (write), not wanted (read). */
  tags: Uint32Array | null = null;
  /** Out: a `BlockStatus`. */
  status = 0;
  /** Out: the first block of an append that succeeded. */
  placed = 0;
  /** When it was submitted, ns of simulated time, if the device has a clock. */
  issuedNs = 0;
  owner: IoOwner;
  /** The owner's. */
  cookie = 0;

  constructor(owner: IoOwner) {
    this.owner = owner;
  }

  /** Back to the values of a new request, the owner apart. */
  clear(): void {
    this.op = 0;
    this.block = 0;
    this.count = 0;
    this.flags = 0;
    this.origin = 0;
    this.stream = 0;
    this.flow = 0;
    this.data = null;
    this.tags = null;
    this.status = 0;
    this.placed = 0;
    this.issuedNs = 0;
    this.cookie = 0;
  }
}

/** What a device offers. */
export interface BlockFeatures {
  /** FUA writes are honoured; without it they complete with `notSupported`. */
  readonly fua: boolean;
  /** A completed write may be lost in a power cut until a flush. */
  readonly volatileCache: boolean;
  /** Discards are taken; without it they complete with `notSupported`. Afterwards a block reads as before or as zero. */
  readonly discard: boolean;
  /** An aligned write of up to so many blocks is never torn by a power cut; at least 1. */
  readonly atomicBlocks: number;
  /** `nothing`: reads take time but leave their buffers alone; for block traces. */
  readonly keeps: 'nothing' | 'contents';
}

/**
 * A device of `blockCount` blocks of `blockBytes` bytes.
 *
 * `submit` never throws for an I/O failure: that is the request's `status`. A malformed request throws `RangeError` or
 * `TypeError` and changes nothing. Between requests in flight there is no order; of overlapping writes in flight the one
 * submitted last wins. A flush covers the writes that had completed before it was submitted.
 */
export interface BlockDevice {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  /** Zones that are written in order; absent or null: blocks are written as one likes. */
  readonly zones?: ZoneCapability | null;
  submit(request: BlockRequest): void;
  /** Until `unplug`, requests may be held back and merged. Only a block layer has the two. */
  plug?(): void;
  unplug?(): void;
}

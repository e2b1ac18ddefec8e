/** What a request asks for. */
export const BlockOp = { read: 0, write: 1, flush: 2, discard: 3, writeZeroes: 4 } as const;

/** Bits of `BlockRequest.flags`. */
export const BlockFlag = {
  /** Write only: durable before it completes. Covers this request only. */
  fua: 1,
  /** Write only: first make every write durable that had completed before this one was submitted. */
  preflush: 2,
  /** Somebody waits for it. */
  sync: 4,
  /** Nobody waits for it: write-back, cleaning. */
  background: 8,
  /** The block layer must not join it with another. */
  noMerge: 16,
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
  /** A `BlockOp`. */
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
  submit(request: BlockRequest): void;
  /** Until `unplug`, requests may be held back and merged. Only a block layer has the two. */
  plug?(): void;
  unplug?(): void;
}

const KNOWN_FLAGS = 31;

/**
 * Throws for a malformed request; every device calls it first in `submit`.
 * @throws RangeError for blocks outside the device, a zero length or a payload of the wrong size; TypeError for an
 * unknown operation or flag, or a payload where none belongs.
 */
export function validateRequest(device: BlockDevice, request: BlockRequest): void {
  const { op, block, count, flags, data, tags } = request;
  if (op !== BlockOp.read && op !== BlockOp.write) validateWithoutPayload(request);
  if (op === BlockOp.flush) return;
  const end = block + count;
  if (!Number.isSafeInteger(end) || !Number.isSafeInteger(count) || block < 0 || count < 1 || end > device.blockCount) {
    throw outOfRange(device, request);
  }
  if (flags !== 0) validateFlags(op, flags);
  if (data !== null || tags !== null) validatePayload(device, request);
}

/** Apart from the check, so that the engine does not make strings of the numbers of requests that are in range. */
function outOfRange(device: BlockDevice, { block, count }: BlockRequest): RangeError {
  if (!Number.isSafeInteger(block) || !Number.isSafeInteger(count) || block < 0 || count < 1) {
    return new RangeError(`request for block ${block}, count ${count}: expected a block ≥ 0 and a count ≥ 1`);
  }
  return new RangeError(`blocks ${block}–${block + count - 1} are beyond the device of ${device.blockCount} blocks`);
}

function validatePayload(device: BlockDevice, { count, data, tags }: BlockRequest): void {
  if (data !== null && data.length !== count * device.blockBytes) {
    throw new RangeError(`data holds ${data.length} bytes, expected ${count} × ${device.blockBytes}`);
  }
  if (tags !== null) {
    if (data !== null) throw new TypeError('a request has data or tags, not both');
    if (tags.length !== count) throw new RangeError(`${tags.length} tags for ${count} blocks`);
  }
}

function validateWithoutPayload(request: BlockRequest): void {
  const { op, count, flags } = request;
  if (op !== BlockOp.flush && op !== BlockOp.discard && op !== BlockOp.writeZeroes) {
    throw new TypeError(`unknown operation ${op}`);
  }
  if (request.data !== null || request.tags !== null) throw new TypeError('only reads and writes have a payload');
  if (op === BlockOp.flush) {
    if (count !== 0) throw new RangeError(`a flush has no blocks, found a count of ${count}`);
    validateFlags(op, flags);
  }
}

function validateFlags(op: number, flags: number): void {
  if ((flags & ~KNOWN_FLAGS) !== 0 || !Number.isSafeInteger(flags)) throw new TypeError(`unknown flags ${flags}`);
  if (op !== BlockOp.write && (flags & (BlockFlag.fua | BlockFlag.preflush)) !== 0) {
    throw new TypeError('FUA and PREFLUSH are for writes only');
  }
}

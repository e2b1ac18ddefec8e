import type { EventTarget, RandomStream, Simulator } from '@flashstack/sim';
import { type BlockFeatures, BlockOp, type BlockRequest, BlockStatus } from '../contract.js';
import { ImmediateDevice } from '../immediate-device.js';
import { validateRequest } from '../validate-request.js';
import { BaseImage } from './base-image.js';
import { CrashLog, type CrashRequest } from './crash-log.js';
import { blockIdentity, enlarged, UNREADABLE, VersionPool, ZEROES } from './version-pool.js';

/** How requests of a crash-exploring device take time, so that they overlap and complete in random order. */
export interface CrashLatency {
  readonly simulator: Simulator;
  readonly random: RandomStream;
  /** Each takes a time from this range, ns. */
  readonly leastNs: number;
  readonly mostNs: number;
}

/** How a crash-exploring device differs from the default. */
export interface CrashDeviceOptions {
  /** Default: FUA, discard, a volatile cache, one atomic block, contents kept. */
  readonly features?: Partial<BlockFeatures>;
  /** Default: requests take no time. */
  readonly latency?: CrashLatency;
}

/**
 * A device in memory that writes down in which order it was asked for what, so that `CrashImages` can make everything that
 * a power cut at any moment could have left. It holds only what differs from its base image. What a power cut left is opened
 * as a device made by `successor`, which writes down what recovery does in the same way.
 */
export class CrashDevice extends ImmediateDevice implements EventTarget {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  readonly base: BaseImage;
  /** For `CrashImages`. */
  readonly pool: VersionPool;
  /** How requests take time; null: they take none. May be changed while nothing is in flight. */
  latency: CrashLatency | null;
  /** For `CrashImages`: what has been asked for. */
  readonly log: CrashLog = new CrashLog();
  /** For `CrashImages`: blocks that differed from the base image at the beginning, and their versions then. */
  startBlocks: Int32Array = new Int32Array(64);
  startVersions: Int32Array = new Int32Array(64);
  startCount = 0;
  private readonly options: CrashDeviceOptions;
  private readonly holder: { device: CrashDevice };
  private readonly versions: Int32Array;
  /** Blocks that were set since the beginning or at it, each once. */
  private changed: Int32Array = new Int32Array(64);
  private changedCount = 0;
  private readonly isChanged: Uint8Array;
  private order = 0;
  /** Versions of the pool when this device was last the one that adds some. */
  private end: number;
  /** Requests that wait for their time, and their rows (−1: a read). */
  private readonly slow: (BlockRequest | null)[] = [];
  private readonly slowRows: number[] = [];
  private readonly freeSlow: number[] = [];

  /** A device that holds what the base image holds. */
  constructor(base: BaseImage, options: CrashDeviceOptions = {}, predecessor: CrashDevice | null = null) {
    super();
    this.base = base;
    this.blockBytes = base.blockBytes;
    this.blockCount = base.blockCount;
    this.features = {
      fua: true,
      volatileCache: true,
      discard: true,
      atomicBlocks: 1,
      keeps: 'contents',
      ...options.features,
    };
    this.options = options;
    this.latency = options.latency ?? null;
    this.pool = predecessor?.pool ?? new VersionPool(base.blockBytes, base.pool);
    this.holder = predecessor?.holder ?? { device: this };
    this.versions = base.versions.slice();
    this.isChanged = new Uint8Array(base.blockCount);
    this.end = this.pool.count;
  }

  /**
   * A device for what power cuts of this one leave, to be filled by `CrashImages.open`. While it is in use, nothing can be
   * written to this one.
   */
  successor(options: CrashDeviceOptions = this.options): CrashDevice {
    return new CrashDevice(this.base, options, this);
  }

  /** The present position in the order of submissions, completions and marks. */
  get position(): number {
    return this.order;
  }

  /** The position of something else that happens, in one order with submissions and completions. */
  tick(): number {
    return ++this.order;
  }

  /** Number of recorded requests: writes, discards and flushes. */
  get length(): number {
    return this.log.length;
  }

  /** A recorded request, in order of submission. @throws RangeError beyond `length`. */
  at(index: number): CrashRequest {
    return this.log.at(index);
  }

  /** Holds what the base image holds again, with an empty record. Nothing may be in flight. */
  reset(): void {
    this.begin(this.base.pool.count);
  }

  /** A base image with the present contents. */
  freeze(): BaseImage {
    return BaseImage.from(this.pool, this.versions);
  }

  /** One half (0, 1) of the identity of the present contents: equal for equal contents over the same base image. */
  identity(half: number): number {
    let sum = 0;
    for (let at = 0; at < this.changedCount; at++) {
      const block = this.changed[at];
      sum ^= this.difference(block, this.versions[block], half);
    }
    return sum;
  }

  /** For `CrashImages`: what it adds to one half of the identity that a block has this version. */
  difference(block: number, version: number, half: number): number {
    const { pool, base } = this;
    const before = base.versions[block];
    if (version === before) return 0;
    return blockIdentity(block, pool.half(version, half), half) ^ blockIdentity(block, pool.half(before, half), half);
  }

  /** For `CrashImages`: gives up all versions that are newer than this device's own; it adds to the pool again. */
  seal(): number {
    if (this.holder.device === this) this.end = this.pool.count;
    this.pool.truncate(this.end);
    this.holder.device = this;
    return this.end;
  }

  /** For `CrashImages`: begins anew with the base image and an empty record; versions of the pool from `end` on are given up. */
  begin(end: number): void {
    if (this.slow.length > this.freeSlow.length) throw new Error('requests are in flight');
    this.pool.truncate(end);
    this.holder.device = this;
    this.end = end;
    for (let at = 0; at < this.changedCount; at++) {
      const block = this.changed[at];
      this.versions[block] = this.base.versions[block];
      this.isChanged[block] = 0;
    }
    this.changedCount = 0;
    this.startCount = 0;
    this.log.length = 0;
    this.order = 0;
  }

  /** For `CrashImages`: what a block holds at the beginning. */
  start(block: number, version: number): void {
    this.put(block, version);
    const at = this.startCount++;
    if (at === this.startBlocks.length) {
      this.startBlocks = enlarged(this.startBlocks, new Int32Array(at * 2));
      this.startVersions = enlarged(this.startVersions, new Int32Array(at * 2));
    }
    this.startBlocks[at] = block;
    this.startVersions[at] = version;
  }

  /** For `CrashImages`: its beginning is told. */
  started(): void {
    this.end = this.pool.count;
  }

  override submit(request: BlockRequest): void {
    const { latency } = this;
    if (latency === null) {
      super.submit(request);
      return;
    }
    validateRequest(this, request);
    const row = this.log.length;
    request.status = this.supports(request) ? this.carryOut(request) : BlockStatus.notSupported;
    const slot = this.freeSlow.pop() ?? this.slow.length;
    this.slow[slot] = request;
    this.slowRows[slot] = this.log.length > row ? row : -1;
    const { simulator, random, leastNs, mostNs } = latency;
    simulator.after(leastNs + random.below(mostNs - leastNs + 1), this, slot);
  }

  /** Kernel only: the time of a request is over. */
  fire(slot: number): void {
    const request = this.slow[slot] as BlockRequest;
    this.slow[slot] = null;
    this.freeSlow.push(slot);
    if (this.slowRows[slot] >= 0) this.log.done[this.slowRows[slot]] = ++this.order;
    request.owner.ioDone(request);
  }

  protected perform(request: BlockRequest): number {
    const row = this.log.length;
    const status = this.carryOut(request);
    if (this.log.length > row) this.log.done[row] = ++this.order;
    return status;
  }

  private carryOut(request: BlockRequest): number {
    if (request.op === BlockOp.read) return this.read(request);
    if (this.holder.device !== this) throw new Error('nothing can be written: an image of a power cut is in use');
    const version = this.pool.count;
    this.log.add(request, ++this.order, version);
    const { op, block, count, data, tags } = request;
    if (op === BlockOp.flush) return BlockStatus.ok;
    for (let at = 0; at < count; at++) {
      const added =
        data !== null ? this.pool.addBytes(data, at * this.blockBytes) : this.pool.addTag(tags === null ? 0 : tags[at]);
      this.put(block + at, added);
    }
    return BlockStatus.ok;
  }

  private read({ block, count, data, tags }: BlockRequest): number {
    let status: number = BlockStatus.ok;
    for (let at = 0; at < count; at++) {
      const version = this.versions[block + at];
      if (version === ZEROES && data !== null) {
        // Volumes are mostly zero: one fill for all such blocks that follow each other.
        let end = at + 1;
        while (end < count && this.versions[block + end] === ZEROES) end++;
        data.fill(0, at * this.blockBytes, end * this.blockBytes);
        at = end - 1;
        continue;
      }
      if (version === UNREADABLE) return BlockStatus.mediaError;
      if (data !== null) this.pool.copyOut(version, data, at * this.blockBytes);
      else if (tags !== null) {
        const tag = this.pool.tagOf(version);
        if (tag < 0) status = BlockStatus.notTagged;
        else tags[at] = tag;
      }
    }
    return status;
  }

  private put(block: number, version: number): void {
    this.versions[block] = version;
    if (this.isChanged[block] !== 0) return;
    this.isChanged[block] = 1;
    if (this.changedCount === this.changed.length) {
      this.changed = enlarged(this.changed, new Int32Array(this.changedCount * 2));
    }
    this.changed[this.changedCount++] = block;
  }
}

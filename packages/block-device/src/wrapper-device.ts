import { type BlockDevice, type BlockFeatures, BlockOp, type BlockRequest, type IoOwner } from './contract.js';
import { RequestPool } from './request-pool.js';
import { validateRequest } from './validate-request.js';
import { type ZoneCapability, ZoneOp } from './zones.js';

/**
 * Base of devices that stand in front of another: each request is passed on as one of the wrapper's own, so that the
 * fields of the submitter's request stay as they are.
 */
export abstract class WrapperDevice implements BlockDevice, IoOwner {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  readonly zones: ZoneCapability | null;
  protected readonly device: BlockDevice;
  private readonly pool: RequestPool = new RequestPool(this);
  private readonly outer: (BlockRequest | null)[] = [];
  private readonly freeCookies: number[] = [];

  protected constructor(device: BlockDevice, blockCount: number, zones: ZoneCapability | null = device.zones ?? null) {
    this.device = device;
    this.blockBytes = device.blockBytes;
    this.blockCount = blockCount;
    this.features = device.features;
    this.zones = zones;
    // Only a device that merges has these two, and a wrapper must not claim them for one that has not.
    if (device.plug !== undefined) this.plug = () => device.plug?.();
    if (device.unplug !== undefined) this.unplug = () => device.unplug?.();
  }

  plug?: () => void;
  unplug?: () => void;

  /** Requests that have been submitted here and not been given back. */
  get inFlight(): number {
    return this.outer.length - this.freeCookies.length;
  }

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    this.accept(request);
  }

  ioDone(inner: BlockRequest): void {
    const cookie = inner.cookie;
    const request = this.release(cookie);
    request.status = inner.status;
    // The wrapper's request may be further up than the submitter's.
    if (inner.op === ZoneOp.append) request.placed = inner.placed - (inner.block - request.block);
    this.pool.give(inner);
    this.completed(request, cookie);
  }

  /** A valid request has come in: `forward` it, or `hold` it and answer it later. */
  protected abstract accept(request: BlockRequest): void;

  /** The device is done with a request, whose status is set; `cookie` is what `hold` gave. */
  protected completed(request: BlockRequest, _cookie: number): void {
    request.owner.ioDone(request);
  }

  /** Keeps a request in flight and gives it a small number, free again after `release`. */
  protected hold(request: BlockRequest): number {
    const cookie = this.freeCookies.pop() ?? this.outer.length;
    this.outer[cookie] = request;
    return cookie;
  }

  /** The request of a number, which is no longer in flight. */
  protected release(cookie: number): BlockRequest {
    const request = this.outer[cookie];
    if (request === null || request === undefined) throw new Error(`request ${cookie} was completed twice`);
    this.outer[cookie] = null;
    this.freeCookies.push(cookie);
    return request;
  }

  /** Passes a held request on, `shift` blocks further up. */
  protected forward(request: BlockRequest, cookie: number, shift: number): void {
    const inner = this.pool.take();
    inner.op = request.op;
    inner.block = request.op === BlockOp.flush ? 0 : request.block + shift;
    inner.count = request.count;
    inner.flags = request.flags;
    inner.origin = request.origin;
    inner.stream = request.stream;
    inner.flow = request.flow;
    inner.data = request.data;
    inner.tags = request.tags;
    inner.issuedNs = request.issuedNs;
    inner.cookie = cookie;
    this.device.submit(inner);
  }
}

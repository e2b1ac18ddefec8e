import { BlockOp, type BlockRequest, WrapperDevice } from '@flashstack/block-device';
import type { Ssd } from '@flashstack/ssd';
import { ReplayStats, type RequestStats } from '@flashstack/workloads';

/** Points of a series, and its first interval, as those of a replay. */
const SERIES_INTERVAL_NS = 1_000_000;
const SERIES_POINTS = 600;

/** Counts what the block layer asks of a drive, as a replay counts its requests. */
export class DriveMeter extends WrapperDevice {
  readonly stats: ReplayStats = new ReplayStats(SERIES_INTERVAL_NS, SERIES_POINTS);
  private readonly ssd: Ssd;
  /** Series begin with the first restart. */
  private started = false;
  /** By number of the request in flight. */
  private issuedNs: Float64Array = new Float64Array(64);

  constructor(ssd: Ssd) {
    super(ssd, ssd.blockCount);
    this.ssd = ssd;
  }

  /** Counts from now on. */
  restart(): void {
    const { stats } = this;
    stats.startNs = this.ssd.simulator.now;
    stats.reset(stats.startNs);
    this.started = true;
  }

  protected accept(request: BlockRequest): void {
    const { stats } = this;
    const cookie = this.hold(request);
    if (cookie >= this.issuedNs.length) {
      const grown = new Float64Array(2 * this.issuedNs.length);
      grown.set(this.issuedNs);
      this.issuedNs = grown;
    }
    this.issuedNs[cookie] = this.ssd.simulator.now;
    this.kindOf(request.op).issued++;
    const { inFlight } = this;
    if (inFlight > stats.maxInFlight) stats.maxInFlight = inFlight;
    this.forward(request, cookie, 0);
  }

  protected override completed(request: BlockRequest, cookie: number): void {
    const { stats } = this;
    const { now } = this.ssd.simulator;
    const kind = this.kindOf(request.op);
    stats.endNs = now;
    if (request.status === 0) {
      const latencyNs = now - this.issuedNs[cookie];
      const bytes = request.op === BlockOp.flush ? 0 : request.count * this.blockBytes;
      kind.succeeded(bytes, latencyNs);
      if (this.started) kind.addToSeries(now - stats.startNs, bytes, latencyNs);
    } else {
      kind.failed++;
    }
    request.owner.ioDone(request);
  }

  private kindOf(op: number): RequestStats {
    const { stats } = this;
    if (op === BlockOp.read) return stats.read;
    if (op === BlockOp.write) return stats.write;
    return op === BlockOp.flush ? stats.flush : stats.discard;
  }
}

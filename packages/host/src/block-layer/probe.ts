/**
 * Hears what becomes of requests, as a block trace shows it. Blocks and counts are the device's; `op`, `flags` and `origin`
 * are those of the block-device contract.
 */
export interface BlockLayerProbe {
  /** A request came in. */
  queued(op: number, block: number, count: number, flags: number, origin: number): void;
  /** Blocks were added to a request that was held back: at its end, or at its front. */
  merged(op: number, block: number, count: number, flags: number, origin: number, front: boolean): void;
  /** A request was cut: these blocks go on by themselves, and so do those behind them. */
  split(op: number, block: number, count: number, flags: number, origin: number): void;
  /** Blocks found no request to be added to: they are one. */
  allocated(op: number, block: number, count: number, flags: number, origin: number): void;
  /** A first request is held back by a bracket. */
  plugged(): void;
  /** So many requests that were held back go on. */
  unplugged(requests: number): void;
  /** A request waits for the device. */
  inserted(op: number, block: number, count: number, flags: number, origin: number): void;
  /** A request went to the device. */
  issued(op: number, block: number, count: number, flags: number, origin: number): void;
  /** The device is done with it. */
  completed(op: number, block: number, count: number, flags: number, origin: number, status: number): void;
}

/** What a block layer counts. */
export interface BlockLayerStats {
  /** Requests that came in. */
  queued: number;
  /** Requests that became part of another. */
  merged: number;
  /** Cuts of requests that were too long. */
  splits: number;
  /** Requests that went to the device, flushes among them. */
  issued: number;
  /** Flushes asked for: empty ones and those before or behind writes. */
  flushesWanted: number;
  /** Flushes that went to the device. */
  flushesIssued: number;
  /** Most requests that waited for the device. */
  maxWaiting: number;
}

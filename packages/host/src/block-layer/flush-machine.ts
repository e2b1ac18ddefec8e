import type { Simulator } from '@flashstack/sim';

/** Time after which a flush is no longer held back for writes that will want one too, ns. */
const PATIENCE_NS = 5_000_000_000;

/** Whom the flush machine serves. */
export interface FlushClient {
  /** Sends a flush to the device; `flushDone` follows. */
  sendFlush(): void;
  /** A flush that covers the request's wish is done. */
  flushed(slot: number, status: number): void;
}

/**
 * Makes few flushes of many: one is on its way at a time, and those that are asked for meanwhile share the next. While
 * writes of flush sequences are on their way, that waits too, since these may ask for one as well.
 */
export class FlushMachine {
  private readonly simulator: Simulator;
  private readonly client: FlushClient;
  private pending: number[] = [];
  private running: number[] = [];
  private inFlight = false;
  private writes = 0;
  private pendingSinceNs = 0;

  constructor(simulator: Simulator, client: FlushClient) {
    this.simulator = simulator;
    this.client = client;
  }

  /** Somebody wants what is complete by now to be durable. */
  want(slot: number): void {
    if (this.pending.length === 0) this.pendingSinceNs = this.simulator.now;
    this.pending.push(slot);
    this.kick();
  }

  /** A write of a flush sequence goes to the device. */
  writeStarted(): void {
    this.writes++;
  }

  /** It is done. */
  writeDone(): void {
    this.writes--;
    this.kick();
  }

  /** The flush that was sent is done. */
  flushDone(status: number): void {
    const { running, client } = this;
    this.running = [];
    this.inFlight = false;
    for (const slot of running) client.flushed(slot, status);
    this.kick();
  }

  private kick(): void {
    if (this.inFlight || this.pending.length === 0) return;
    if (this.writes > 0 && this.simulator.now - this.pendingSinceNs < PATIENCE_NS) return;
    this.inFlight = true;
    this.running = this.pending;
    this.pending = [];
    this.client.sendFlush();
  }
}

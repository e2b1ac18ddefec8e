import type { EventTarget, Simulator } from '@flashstack/sim';

/** Kinds of simulator events of the event scheduler; the argument is a token, a die or a channel. */
export const NandEvent = {
  done: 0,
  arrayEnd: 1,
  transferEnd: 2,
  channelFree: 3,
  dieFree: 4,
  registerFree: 5,
  suspended: 6,
  suspendCheck: 7,
} as const;

/** Handles what the sink receives. */
export interface NandEventHandler {
  nandEvent(event: number, subject: number): void;
}

/** Packs (event, subject) into an event's argument. A power cut silences it, whatever is still queued. */
export class EventSink implements EventTarget {
  alive = true;
  private readonly simulator: Simulator;
  private readonly handler: NandEventHandler;

  constructor(simulator: Simulator, handler: NandEventHandler) {
    this.simulator = simulator;
    this.handler = handler;
  }

  /** Calls the handler after `delayNs`; a small integer, unlike a time, crosses calls without being boxed. */
  after(delayNs: number, event: number, subject: number): void {
    this.simulator.after(delayNs, this, (subject << 3) | event);
  }

  fire(arg: number): void {
    if (this.alive) this.handler.nandEvent(arg & 7, arg >> 3);
  }
}

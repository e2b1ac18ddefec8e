import type { Host } from './terminal.js';

/** Thrown where there is nothing yet that could be kept. */
export class InterruptedError extends Error {
  constructor() {
    super('interrupted before anything was simulated');
    this.name = 'InterruptedError';
  }
}

/**
 * Ctrl-C: the first asks the run to stop and keep what it has; after it the usual behaviour is back, so that a second
 * one ends the process at once, without writing.
 */
export class Interrupt {
  /** True after Ctrl-C. */
  requested = false;
  private readonly host: Host;
  private takeBack: (() => void) | null = null;

  constructor(host: Host) {
    this.host = host;
    this.watch();
  }

  /** Asks for the signal, after `release`; nothing if it has been seen already. */
  watch(): void {
    if (this.requested || this.takeBack !== null) return;
    this.takeBack = this.host.onInterrupt(() => {
      this.requested = true;
      this.release();
    });
  }

  /** Takes the signal handler away: Ctrl-C ends the process at once then. */
  release(): void {
    this.takeBack?.();
    this.takeBack = null;
  }

  /** @throws InterruptedError after Ctrl-C. */
  throwIfRequested(): void {
    if (this.requested) throw new InterruptedError();
  }

  /** Lets the event loop turn once, so that a pending signal is seen. */
  async yield(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** For the failure of a run after `before` others: null if it was interrupted before it began, so that those are shown. */
export function orNone(before: number): (error: unknown) => null {
  return (error) => {
    if (before > 0 && error instanceof InterruptedError) return null;
    throw error;
  };
}

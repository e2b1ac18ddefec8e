import { Condition, type Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import type { Core } from './core.js';

/** How long metadata stay dirty before they are written home, and how often that is looked at, ns. */
const EXPIRE_NS = 30_000_000_000;
const LOOK_NS = 5_000_000_000;

/** Writes committed metadata home when they are old enough, as the kernel's flusher does for the blocks of a device. */
export class MetadataFlusher {
  private readonly core: Core;
  private readonly wake: Condition;
  private readonly ended: Condition;
  private running = false;
  private stopping = false;

  constructor(core: Core) {
    this.core = core;
    this.wake = new Condition(core.simulator, 'the next look at metadata');
    this.ended = new Condition(core.simulator, 'the end of the write-back of metadata');
  }

  /** The daemon. */
  *run(): Task<void> {
    const { simulator, cache, journal } = this.core;
    this.running = true;
    while (!this.stopping && journal.failure === null) {
      yield this.wake.within(LOOK_NS);
      if (this.stopping) break;
      const old = [...cache.dirty()].filter(({ dirtySinceNs }) => simulator.now - dirtySinceNs >= EXPIRE_NS);
      try {
        yield* journal.checkpointer.writeHome(old);
      } catch (error) {
        if (!(error instanceof FsError)) throw error;
        journal.abort(error);
      }
    }
    this.running = false;
    this.ended.notifyAll();
  }

  /** Ends the daemon, and waits for that. */
  *stop(): Task<void> {
    this.stopping = true;
    this.wake.notifyAll();
    while (this.running) yield this.ended;
  }
}

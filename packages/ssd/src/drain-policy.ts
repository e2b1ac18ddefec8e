import type { EventTarget } from '@flashstack/sim';
import { BufferHalves } from './buffer-halves.js';
import type { CommandContext } from './command-context.js';

/** Time after the last drain at which the buffer is drained, unless configured, ns. */
const DEFAULT_TIMER_NS = 300_000_000;
/** Host silence after which the buffer is drained, unless configured, ns. */
const DEFAULT_IDLE_NS = 1_000_000;

/** When dirty entries leave the write buffer, apart from those that somebody waits for. */
export class DrainPolicy implements EventTarget {
  /** The halves of a double buffer; null for a single one. */
  readonly halves: BufferHalves | null;
  private readonly context: CommandContext;
  private readonly drain: () => void;
  private readonly kind: 'eager' | 'watermark' | 'full' | 'idle' | 'timer';
  private readonly highSlots: number;
  private readonly lowSlots: number;
  private readonly timerNs: number;
  private readonly idleNs: number;
  /** A drain has begun and goes on until nothing is dirty (watermarks: until the low one). */
  private draining = false;
  private armed = false;
  private lastDrainNs: number;
  private lastHostNs = 0;
  /** Commands have begun since the host was last silent. */
  private busy = false;

  /** `drain` is called when a timer has decided that it is time. */
  constructor(context: CommandContext, drain: () => void) {
    const { buffer } = context.config;
    this.context = context;
    this.drain = drain;
    const double = buffer?.kind === 'double';
    this.halves = double ? new BufferHalves(Math.floor(buffer.slots / 2)) : null;
    this.kind = double ? 'timer' : (buffer?.drain ?? 'eager');
    const lazy = this.kind === 'watermark' && buffer !== null;
    this.highSlots = lazy ? Math.floor(buffer.slots * buffer.highWatermark) : 0;
    this.lowSlots = lazy ? Math.floor(buffer.slots * buffer.lowWatermark) : 0;
    this.timerNs = buffer?.timerNs ?? DEFAULT_TIMER_NS;
    this.idleNs = buffer?.idleNs ?? DEFAULT_IDLE_NS;
    this.lastDrainNs = context.simulator.now;
  }

  /** The oldest dirty entry should leave now. `forced`: a flush or a write waits for it. */
  wants(forced: boolean): boolean {
    const { buffer } = this.context;
    if (this.halves !== null) {
      if (forced && !this.halves.isDue(buffer.head)) this.halves.seal();
      return this.halves.isDue(buffer.head);
    }
    if (this.kind === 'full' && forced) this.draining = true;
    if (forced || this.kind === 'eager') return true;
    if (this.kind === 'watermark') this.draining = buffer.dirty > (this.draining ? this.lowSlots : this.highSlots);
    return this.draining;
  }

  /** Nothing is dirty any more. */
  drained(): void {
    // Between watermarks a drain ends at the low one, however it came about that the buffer was emptied.
    if (this.kind !== 'watermark') this.draining = false;
    this.lastDrainNs = this.context.simulator.now;
  }

  /** Dirty entries stay where they are: sets the timer that will drain them, if there is one. */
  rest(): void {
    if (this.armed || (this.kind !== 'idle' && this.kind !== 'timer')) return;
    this.arm();
  }

  /** A command begins: the host is not silent. */
  hostActive(): void {
    this.busy = true;
    if (this.kind === 'idle') this.draining = false;
  }

  /** No command is under way any more. */
  hostQuiet(): void {
    if (!this.busy) return;
    this.busy = false;
    this.lastHostNs = this.context.simulator.now;
    if (this.kind === 'idle' && this.context.buffer.dirty > 0) this.rest();
  }

  /** Simulator only. */
  fire(): void {
    const { buffer, active, simulator, dead } = this.context;
    this.armed = false;
    if (dead || buffer.dirty === 0) return;
    if (this.kind === 'idle' && active > 0) return;
    if (this.dueNs() > simulator.now) {
      this.arm();
      return;
    }
    this.draining = true;
    this.halves?.seal();
    this.drain();
  }

  private dueNs(): number {
    return this.kind === 'idle' ? this.lastHostNs + this.idleNs : this.lastDrainNs + this.timerNs;
  }

  private arm(): void {
    const { active, simulator } = this.context;
    // The end of the last command arms it.
    if (this.kind === 'idle' && active > 0) return;
    this.armed = true;
    simulator.after(Math.max(0, this.dueNs() - simulator.now), this, 0);
  }
}

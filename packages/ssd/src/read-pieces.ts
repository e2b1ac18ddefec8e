import type { EventTarget } from '@flashstack/sim';
import { ints } from './columns.js';
import type { CommandContext } from './command-context.js';
import { Line } from './host-timelines.js';
import { Phase } from './phases.js';

const NONE = -1;

/** Who looks up the slots of a piece, and answers the host. */
export interface PieceOwner {
  /** Slots `first … first + count − 1` of a request, counted within it, have their firmware work behind them. */
  lookUp(h: number, first: number, count: number): void;
  /** The request has no piece left. */
  piecesDone(h: number): void;
}

/**
 * Reads on a controller whose cores share the channels out: a request is cut into a piece for every core that has slots
 * of it. Each piece goes its own way, a chunk of slots at a time, as soon as its core has done the work.
 */
export class ReadPieces implements EventTarget {
  private readonly context: CommandContext;
  private readonly owner: PieceOwner;
  /** Per piece: its request, its core, the next slot of it within the request, its slots that are left. */
  private request: Int32Array = new Int32Array(0);
  private core: Int32Array = new Int32Array(0);
  private at: Int32Array = new Int32Array(0);
  private left: Int32Array = new Int32Array(0);
  private freeHead: number = NONE;
  /** Per core, between calls: the piece of the request that begins, or −1. */
  private readonly begun: Int32Array;

  constructor(context: CommandContext, owner: PieceOwner) {
    this.context = context;
    this.owner = owner;
    this.begun = new Int32Array(context.config.firmware.cores).fill(NONE);
  }

  /** Cuts a request and puts its pieces on their cores. */
  begin(h: number): void {
    const { table, timelines, config, chunkSlots } = this.context;
    const { readNs, readSlotNs, readPipelineNs } = config.firmware;
    const { begun } = this;
    for (let index = 0; index < table.slots[h]; index++) {
      const core = timelines.coreOf(table.lpn[h] + index) - Line.firstCore;
      if (begun[core] === NONE) begun[core] = this.acquire(h, core, index);
      this.left[begun[core]]++;
    }
    for (let core = 0; core < begun.length; core++) {
      const piece = begun[core];
      if (piece === NONE) continue;
      begun[core] = NONE;
      this.work(piece, readNs + readSlotNs * (Math.min(chunkSlots, this.left[piece]) - 1), readPipelineNs);
    }
  }

  /** A core has done its work on a piece. Simulator only. */
  fire(piece: number): void {
    const { context } = this;
    if (context.dead) return;
    const h = this.request[piece];
    context.chargeWait(h, Phase.firmware);
    this.lookUpChunk(piece);
    if (this.left[piece] > 0) {
      const slots = Math.min(context.chunkSlots, this.left[piece]);
      this.work(piece, context.config.firmware.readSlotNs * slots, 0);
      return;
    }
    this.at[piece] = this.freeHead;
    this.freeHead = piece;
    if (context.table.placed[h] === context.table.slots[h]) this.owner.piecesDone(h);
  }

  private work(piece: number, costNs: number, latencyNs: number): void {
    const { timelines, simulator } = this.context;
    const { now } = simulator;
    const end = costNs === 0 ? now : timelines.book(Line.firstCore + this.core[piece], now, costNs);
    simulator.after(end + latencyNs - now, this, piece);
  }

  /** Looks up the next slots of the piece's core, run by run. */
  private lookUpChunk(piece: number): void {
    const { table, timelines, chunkSlots } = this.context;
    const h = this.request[piece];
    let rest = Math.min(chunkSlots, this.left[piece]);
    this.left[piece] -= rest;
    while (rest > 0) {
      const lpn = table.lpn[h] + this.at[piece];
      if (timelines.coreOf(lpn) - Line.firstCore !== this.core[piece]) {
        this.at[piece] += timelines.partSlots - (lpn % timelines.partSlots);
        continue;
      }
      const count = Math.min(rest, timelines.partSlots - (lpn % timelines.partSlots));
      table.placed[h] += count;
      this.owner.lookUp(h, this.at[piece], count);
      this.at[piece] += count;
      rest -= count;
    }
  }

  private acquire(h: number, core: number, index: number): number {
    if (this.freeHead === NONE) this.grow();
    const piece = this.freeHead;
    this.freeHead = this.at[piece];
    this.request[piece] = h;
    this.core[piece] = core;
    this.at[piece] = index;
    this.left[piece] = 0;
    return piece;
  }

  private grow(): void {
    const old = this.at.length;
    const capacity = Math.max(64, 2 * old);
    this.request = ints(this.request, capacity);
    this.core = ints(this.core, capacity);
    this.at = ints(this.at, capacity);
    this.left = ints(this.left, capacity);
    for (let piece = capacity - 1; piece >= old; piece--) {
      this.at[piece] = this.freeHead;
      this.freeHead = piece;
    }
  }
}

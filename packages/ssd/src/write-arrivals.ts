import { type CommandContext, Stage } from './command-context.js';
import { Packed } from './host-interface.js';
import { PHASES, Phase } from './phases.js';

/** The data of writes on its way: what the firmware does for a command and for each chunk, and when the link has brought it. */
export class WriteArrivals {
  private readonly context: CommandContext;

  constructor(context: CommandContext) {
    this.context = context;
  }

  /**
   * Firmware work for a write command, then its data comes over the link in chunks. True if the first of them is here at once;
   * otherwise the request goes on with it, or with another try.
   */
  begin(h: number): boolean {
    const { table, timelines, config, chunkSlots, simulator, gc } = this.context;
    const { firmware } = config;
    const now = simulator.now;
    const stall = gc === null ? 0 : gc.stallNs();
    if (stall > 0) {
      this.holdUp(h, stall);
      return false;
    }
    const first = Math.min(chunkSlots, table.slots[h]);
    // Of a packed command, the first write bears what the command costs.
    const alone = table.packed[h] !== Packed.follower;
    const ready = this.firmwareEnd(h, 0, first, alone ? firmware.writeNs : firmware.writeSlotNs);
    const bytes = table.linkBytes[h];
    const end = timelines.receive(ready, bytes, alone);
    // Start of the data on the link, so that the arrival of each chunk follows from it.
    table.linkNs[h] = end - timelines.writeTransferNs(bytes);
    const arrival = first === table.slots[h] ? end : this.arrivalOf(h, first);
    table.phasesNs[h * PHASES + Phase.firmware] += ready - now;
    this.context.chargeLink(h, arrival - ready);
    table.markNs[h] = arrival;
    table.stage[h] = Stage.write;
    if (arrival === now) return true;
    this.context.stepIn(h, arrival - now);
    return false;
  }

  /** The request goes on with its next `slots` slots. */
  next(h: number, slots: number): void {
    const { table, simulator } = this.context;
    const now = simulator.now;
    const onLink = Math.max(now, this.arrivalOf(h, table.arrived[h] + slots));
    const ready = this.firmwareEnd(h, table.arrived[h], slots, 0);
    const arrival = Math.max(onLink, ready);
    this.context.chargeLink(h, onLink - now);
    table.phasesNs[h * PHASES + Phase.firmware] += arrival - onLink;
    table.markNs[h] = arrival;
    this.context.stepIn(h, arrival - now);
  }

  /** A write that the collection core holds up. */
  private holdUp(h: number, stallNs: number): void {
    const { table, simulator } = this.context;
    table.stage[h] = Stage.collection;
    table.phasesNs[h * PHASES + Phase.gc] += stallNs;
    table.markNs[h] = simulator.now + stallNs;
    this.context.stepIn(h, stallNs);
  }

  /** End of the firmware work on slots `first …` of a write; `commandNs`, if any, includes the first slot. */
  private firmwareEnd(h: number, first: number, slots: number, commandNs: number): number {
    const { table, timelines, config, simulator } = this.context;
    const { writeSlotNs } = config.firmware;
    const free = first === 0 ? 1 : 0;
    const cost = commandNs + writeSlotNs * (slots - free);
    if (cost === 0) return simulator.now;
    if (!timelines.parted) return timelines.core(table.lpn[h], simulator.now, cost);
    return timelines.pieces(table.lpn[h] + first, slots, simulator.now, commandNs, writeSlotNs, free);
  }

  /** When the first `slots` slots of a write are here, as far as the link is concerned. */
  private arrivalOf(h: number, slots: number): number {
    const { table, slotBytes, config, timelines } = this.context;
    const bytes = Math.min(slots * slotBytes - table.head[h] * config.blockBytes, table.linkBytes[h]);
    return table.linkNs[h] + timelines.writeTransferNs(bytes);
  }
}

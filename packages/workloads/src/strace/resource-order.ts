/** The last accesses of one thread to a resource: events of the trace, −1 if there are none. */
interface Accesses {
  use: number;
  change: number;
}

/**
 * What each event of a trace has to wait for, so that accesses to the same resource keep the order of the trace. Events
 * are numbered as in `SystemTrace.order`. Two uses of a resource are in any order; of others, the later waits for the end
 * of the earlier call if that had ended, and for its begin if both ran side by side.
 */
export class ResourceOrder {
  /** By event: the events to wait for. */
  readonly waits: (number[] | undefined)[] = [];
  private readonly resources = new Map<string, Map<number, Accesses>>();
  private readonly over: Uint8Array;

  /** @param calls their number. */
  constructor(calls: number) {
    this.over = new Uint8Array(calls);
  }

  /** The call has ended at this place of the trace. */
  ended(call: number): void {
    this.over[call] = 1;
  }

  /** An event of a thread finds a resource as it is. */
  use(resource: string, event: number, thread: number): void {
    const accesses = this.of(resource);
    for (const [other, { change }] of accesses) if (other !== thread && change >= 0) this.wait(event, change);
    this.last(accesses, thread).use = event;
  }

  /** An event of a thread changes a resource. */
  change(resource: string, event: number, thread: number): void {
    const accesses = this.of(resource);
    for (const [other, { use, change }] of accesses) {
      if (other === thread) continue;
      if (use >= 0) this.wait(event, use);
      if (change >= 0) this.wait(event, change);
      // Whoever waits for this one waits for those that are over as well.
      if (this.isOver(use) && this.isOver(change)) accesses.delete(other);
    }
    this.last(accesses, thread).change = event;
  }

  private of(resource: string): Map<number, Accesses> {
    let found = this.resources.get(resource);
    if (found === undefined) {
      found = new Map();
      this.resources.set(resource, found);
    }
    return found;
  }

  private last(accesses: Map<number, Accesses>, thread: number): Accesses {
    let found = accesses.get(thread);
    if (found === undefined) {
      found = { use: -1, change: -1 };
      accesses.set(thread, found);
    }
    return found;
  }

  private isOver(event: number): boolean {
    return event < 0 || this.over[event >> 1] === 1;
  }

  private wait(event: number, before: number): void {
    const until = this.isOver(before) ? before | 1 : before;
    const waits = this.waits[event];
    if (waits === undefined) this.waits[event] = [until];
    else if (!waits.includes(until)) waits.push(until);
  }
}

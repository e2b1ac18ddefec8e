import { BlockFlag, BlockOp } from '@flashstack/block-device';
import type { Simulator } from '@flashstack/sim';
import { Arbiter } from './arbiter.js';
import type { HostPort } from './command-context.js';
import type { HostConfig, SsdConfig } from './config.js';
import { PHASES, Phase } from './phases.js';
import { RequestQueues, type RequestTable } from './request-table.js';

/** Place of a write in a packed command; see `RequestTable.packed`. */
export const Packed = { no: 0, first: 1, follower: 2 } as const;

/** Who carries commands out. */
export interface CommandTaker {
  /** Commands under way. */
  readonly active: number;
  begin(h: number): void;
}

/**
 * The protocol between host and controller: which command goes when. Without a protocol, and with NVMe, `queue.depth`
 * commands are under way. SATA: a command that cannot be queued waits until nothing is under way, and then nothing else
 * begins until it is done. eMMC: one command at a time, which may carry several writes.
 */
export class HostInterface {
  private readonly table: RequestTable;
  private readonly simulator: Simulator;
  private readonly port: HostPort;
  private readonly taker: CommandTaker;
  private readonly queues: RequestQueues | Arbiter;
  private readonly depth: number;
  private readonly host: HostConfig | null;
  private readonly barriers: boolean;
  private readonly mostPacked: number;
  /** A command that was not queued is under way, alone. */
  private exclusive = false;
  /** Writes of the packed command under way that are not done, and those that wait for them. */
  private unfinished = 0;
  private readonly held: number[] = [];

  constructor(simulator: Simulator, config: SsdConfig, table: RequestTable, port: HostPort, taker: CommandTaker) {
    const { queue, host = null } = config;
    this.table = table;
    this.simulator = simulator;
    this.port = port;
    this.taker = taker;
    this.host = host;
    this.depth = queue.depth;
    this.barriers = host?.kind === 'sata-ncq';
    this.mostPacked = host?.packedCommands ?? 1;
    const plain = host === null || host.kind !== 'nvme';
    this.queues = plain ? new RequestQueues(table, queue.queues) : new Arbiter(table, queue.queues, host);
  }

  /** Commands that wait. */
  get waiting(): number {
    return this.queues.length;
  }

  /** A command of the host: it begins, or waits. */
  submit(h: number): void {
    if (this.queues.length === 0 && this.mayBegin(h)) this.begin(h);
    else this.queues.push(this.table.flow[h], h);
  }

  /** A command has ended and left: others may begin. */
  beginWaiting(): void {
    const { queues, taker } = this;
    if (taker.active === 0) this.exclusive = false;
    if (this.barriers || this.mostPacked > 1) {
      // One queue only: what may not begin holds up what is behind it.
      const single = queues as RequestQueues;
      while (queues.length > 0 && this.mayBegin(single.first)) this.begin(queues.shift());
      return;
    }
    while (queues.length > 0 && taker.active < this.depth) taker.begin(queues.shift());
  }

  /**
   * A request is done. True if it must wait for the other writes of its packed command: the last of them hands all of
   * them to the port.
   */
  holds(h: number): boolean {
    const { table, held, simulator } = this;
    if (table.packed[h] === Packed.no) return false;
    table.packed[h] = Packed.no;
    if (--this.unfinished > 0) {
      table.markNs[h] = simulator.now;
      held.push(h);
      return true;
    }
    for (const other of held.splice(0)) {
      table.phasesNs[other * PHASES + Phase.link] += simulator.now - table.markNs[other];
      this.port.finished(other);
    }
    return false;
  }

  private mayBegin(h: number): boolean {
    if (this.exclusive) return false;
    if (this.barriers && this.isUnqueued(h)) return this.taker.active === 0;
    return this.taker.active < this.depth;
  }

  /** SATA: a flush has no queued form, a discard in most drives. */
  private isUnqueued(h: number): boolean {
    const op = this.table.op[h];
    if (op === BlockOp.flush) return true;
    if (op === BlockOp.write) return (this.table.flags[h] & BlockFlag.preflush) !== 0;
    return op !== BlockOp.read && this.host?.queuedTrim !== true;
  }

  private begin(h: number): void {
    this.exclusive = this.barriers && this.isUnqueued(h);
    if (this.mostPacked > 1 && this.isPackable(h)) this.beginPack(h);
    else this.taker.begin(h);
  }

  /** Begins a write together with the writes that wait behind it. */
  private beginPack(first: number): void {
    const { table, taker } = this;
    const queues = this.queues as RequestQueues;
    let count = 1;
    for (let h = queues.first; h >= 0 && count < this.mostPacked && this.isPackable(h); h = table.next[h]) count++;
    if (count > 1) {
      this.unfinished = count;
      table.packed[first] = Packed.first;
    }
    taker.begin(first);
    for (let i = 1; i < count; i++) {
      const h = queues.shift();
      table.packed[h] = Packed.follower;
      taker.begin(h);
    }
  }

  private isPackable(h: number): boolean {
    return this.table.op[h] === BlockOp.write && (this.table.flags[h] & BlockFlag.preflush) === 0;
  }
}

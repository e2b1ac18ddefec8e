import type { HostConfig } from './config.js';
import type { RequestTable } from './request-table.js';

const NONE = -1;

/** Classes of submission queues, most urgent first. */
export const queueClasses = ['urgent', 'high', 'medium', 'low'] as const;
/** One of {@link queueClasses}. */
export type QueueClass = (typeof queueClasses)[number];

const URGENT = 0;
const CLASSES = queueClasses.length;

/**
 * Submission queues under NVMe arbitration: urgent queues before all others; high, medium and low ones in turn, each
 * class with as many commands per turn as its weight; queues of a class in turn, up to a burst of commands each. With
 * plain round robin all queues are of one class. Linked through `table.next`.
 */
export class Arbiter {
  /** Commands in all queues. */
  length = 0;
  private readonly table: RequestTable;
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;
  /** Class of each queue. */
  private readonly classOf: Int32Array;
  /** Queues by class, the place in each list, and commands left to the queue there. */
  private readonly members: readonly Int32Array[];
  private readonly at: Int32Array = new Int32Array(CLASSES);
  private readonly burstLeft: Int32Array;
  /** Commands that wait in each class. */
  private readonly waiting: Int32Array = new Int32Array(CLASSES);
  private readonly weights: Int32Array;
  private readonly burst: number;
  /** The class whose turn it is, and commands left to it. */
  private turn = 1;
  private credit: number;

  constructor(table: RequestTable, queues: number, host: HostConfig) {
    const { arbitrationBurst = 1, highWeight = 4, mediumWeight = 2, lowWeight = 1 } = host;
    const { classes = ['medium'] } = host.arbitration === 'weightedRoundRobin' ? host : {};
    this.table = table;
    this.heads = new Int32Array(queues).fill(NONE);
    this.tails = new Int32Array(queues).fill(NONE);
    this.classOf = Int32Array.from({ length: queues }, (_, q) => queueClasses.indexOf(classes[q % classes.length]));
    this.members = queueClasses.map((_, c) =>
      Int32Array.from(this.classOf.keys()).filter((q) => this.classOf[q] === c),
    );
    this.burst = arbitrationBurst;
    this.burstLeft = new Int32Array(CLASSES).fill(arbitrationBurst);
    this.weights = Int32Array.of(0, highWeight, mediumWeight, lowWeight);
    this.credit = highWeight;
  }

  push(queue: number, h: number): void {
    const q = queue % this.heads.length;
    this.table.next[h] = NONE;
    if (this.heads[q] === NONE) this.heads[q] = h;
    else this.table.next[this.tails[q]] = h;
    this.tails[q] = h;
    this.waiting[this.classOf[q]]++;
    this.length++;
  }

  /** The next command, or −1 if there is none. */
  shift(): number {
    if (this.length === 0) return NONE;
    if (this.waiting[URGENT] > 0) return this.take(URGENT);
    while (this.credit === 0 || this.waiting[this.turn] === 0) {
      this.turn = this.turn + 1 === CLASSES ? 1 : this.turn + 1;
      this.credit = this.weights[this.turn];
    }
    this.credit--;
    return this.take(this.turn);
  }

  /** The next command of a class in which some wait. */
  private take(cls: number): number {
    const queues = this.members[cls];
    while (this.burstLeft[cls] === 0 || this.heads[queues[this.at[cls]]] === NONE) {
      this.at[cls] = this.at[cls] + 1 === queues.length ? 0 : this.at[cls] + 1;
      this.burstLeft[cls] = this.burst;
    }
    this.burstLeft[cls]--;
    const queue = queues[this.at[cls]];
    const h = this.heads[queue];
    this.heads[queue] = this.table.next[h];
    this.waiting[cls]--;
    this.length--;
    return h;
  }
}

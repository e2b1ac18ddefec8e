import { InputError } from '@flashstack/sim';
import { isProgram, isRead } from './block-order.js';
import type { Token } from './contract.js';
import type { Geometry } from './geometry.js';
import type { Service } from './service.js';
import { CLASSES } from './stats.js';
import { OpKind, type Transactions } from './transactions.js';

/** Order in which a die serves what waits for it; see `EventOptions.policy`. */
export type DiePolicy = 'fifo' | 'readFirst' | 'outOfOrder' | 'priority';

/** How far a search for a particular transaction looks into a queue. */
const LOOK_AHEAD = 16;

/** The transactions that wait for each die: up to seven first-in-first-out queues per die, and the rule among them. */
export class DieQueues {
  private readonly head: Int32Array;
  private readonly tail: Int32Array;
  /** Per die: bit q is set if queue q is not empty. */
  private readonly filled: Uint8Array;
  /** Weighted policy: services that each queue of a die has left in this round. */
  private readonly credit: Int32Array;
  private readonly weights: Int32Array;
  private readonly geometry: Geometry;
  private readonly policy: DiePolicy;
  private readonly tokens: Transactions;
  private readonly service: Service;

  /** @throws InputError `ERR_NAND_WEIGHTS` unless there is a positive weight for each of the seven classes. */
  constructor(
    geometry: Geometry,
    policy: DiePolicy,
    weights: readonly number[],
    tokens: Transactions,
    service: Service,
  ) {
    const { dies } = geometry;
    this.geometry = geometry;
    if (weights.length !== CLASSES || !weights.every((weight) => Number.isInteger(weight) && weight > 0)) {
      const found = JSON.stringify(weights);
      throw new InputError(
        'ERR_NAND_WEIGHTS',
        `weights: expected ${CLASSES} positive integers, found ${found}`,
        'weights',
      );
    }
    this.head = new Int32Array(dies * CLASSES);
    this.tail = new Int32Array(dies * CLASSES);
    this.filled = new Uint8Array(dies);
    this.weights = Int32Array.from(weights);
    this.credit = new Int32Array(dies * CLASSES);
    for (let die = 0; die < dies; die++) this.credit.set(this.weights, die * CLASSES);
    this.policy = policy;
    this.tokens = tokens;
    this.service = service;
  }

  isEmpty(die: number): boolean {
    return this.filled[die] === 0;
  }

  push(token: Token): void {
    const die = this.tokens.die[token];
    const queue = this.queueOf(token);
    const at = die * CLASSES + queue;
    this.service.next[token] = 0;
    if ((this.filled[die] & (1 << queue)) === 0) {
      this.filled[die] |= 1 << queue;
      this.head[at] = token;
    } else this.service.next[this.tail[at]] = token;
    this.tail[at] = token;
  }

  /** The transaction to serve next, still in its queue; 0 if none waits. */
  first(die: number): Token {
    const filled = this.filled[die];
    if (filled === 0) return 0;
    const base = die * CLASSES;
    if (this.policy !== 'priority') return this.head[base + 31 - Math.clz32(filled & -filled)];
    for (;;) {
      for (let queue = 0; queue < CLASSES; queue++) {
        if ((filled & (1 << queue)) !== 0 && this.credit[base + queue] > 0) return this.head[base + queue];
      }
      this.credit.set(this.weights, base);
    }
  }

  /** A waiting program at the head of a queue, for a die that takes in its data while the array works; 0 if none. */
  firstProgram(die: number): Token {
    for (let queue = 0; queue < CLASSES; queue++) {
      if ((this.filled[die] & (1 << queue)) === 0) continue;
      const token = this.head[die * CLASSES + queue];
      const kind = this.tokens.kind[token];
      if (kind === OpKind.program || kind === OpKind.cacheProgram) return token;
    }
    return 0;
  }

  /**
   * The first waiting read on none of `busyPlanes`, near the head of its queue, of a class up to `maxClass`, that does not
   * touch a word line of the suspended transaction (0: there is none); 0 if none.
   */
  firstRead(die: number, busyPlanes: number, maxClass: number, suspended: Token): Token {
    const { kind, planes, cls } = this.tokens;
    for (let queue = 0; queue < CLASSES; queue++) {
      if ((this.filled[die] & (1 << queue)) === 0) continue;
      let token = this.head[die * CLASSES + queue];
      for (let i = 0; i < LOOK_AHEAD && token !== 0; i++) {
        const free = (planes[token] & busyPlanes) === 0 && (suspended === 0 || !this.sharesWordLine(token, suspended));
        if (isRead(kind[token]) && free && cls[token] <= maxClass) return token;
        token = this.service.next[token];
      }
    }
    return 0;
  }

  /** The first transaction of the queue to which `token` belongs; 0: none. */
  headOf(token: Token): Token {
    const die = this.tokens.die[token];
    const queue = this.queueOf(token);
    return (this.filled[die] & (1 << queue)) === 0 ? 0 : this.head[die * CLASSES + queue];
  }

  /** The transaction behind `token` in its queue; 0: none. */
  behind(token: Token): Token {
    return this.service.next[token];
  }

  /** Takes a transaction out of its queue, wherever it stands. */
  remove(token: Token): void {
    const { next } = this.service;
    const die = this.tokens.die[token];
    const queue = this.queueOf(token);
    const at = die * CLASSES + queue;
    if (this.head[at] === token) {
      this.head[at] = next[token];
      if (next[token] === 0) this.filled[die] &= ~(1 << queue);
    } else {
      let before = this.head[at];
      while (next[before] !== token) before = next[before];
      next[before] = next[token];
      if (this.tail[at] === token) this.tail[at] = before;
    }
    if (this.policy === 'priority') this.credit[at]--;
  }

  /** True if a read touches a word line that a program writes. */
  sharesWordLine(read: Token, program: Token): boolean {
    const { tokens, geometry } = this;
    if (!isProgram(tokens.kind[program])) return false;
    for (let i = 0; i < tokens.count[read]; i++) {
      const from = tokens.address[read * tokens.planesPerDie + i];
      for (let j = 0; j < tokens.count[program]; j++) {
        const to = tokens.address[program * tokens.planesPerDie + j];
        const sameBlock = geometry.blockOf(from) === geometry.blockOf(to);
        if (sameBlock && geometry.wordLine[geometry.pageOf(from)] === geometry.wordLine[geometry.pageOf(to)])
          return true;
      }
    }
    return false;
  }

  clear(): void {
    this.filled.fill(0);
  }

  private queueOf(token: Token): number {
    if (this.policy === 'fifo') return 0;
    if (this.policy === 'readFirst') return isRead(this.tokens.kind[token]) ? 0 : 1;
    return this.tokens.cls[token];
  }
}

import type { NandArray } from './array.js';
import type { BlockOrder } from './block-order.js';
import type { Token } from './contract.js';
import { type Service, Stage } from './service.js';
import { OpKind, type Transactions } from './transactions.js';

/** Programs and erases that wait for the order of a block, in lists by block. */
export class Parking {
  /** How many wait; how many of them are erases. */
  count = 0;
  erases = 0;
  private readonly tokens: Transactions;
  private readonly service: Service;
  private readonly order: BlockOrder;
  private readonly head: Int32Array;
  private readonly tail: Int32Array;

  constructor(array: NandArray, tokens: Transactions, service: Service, order: BlockOrder) {
    this.tokens = tokens;
    this.service = service;
    this.order = order;
    this.head = new Int32Array(array.geometry.blocks);
    this.tail = new Int32Array(array.geometry.blocks);
  }

  park(token: Token, block: number): void {
    const { next, stage } = this.service;
    stage[token] = Stage.parked;
    next[token] = 0;
    this.count++;
    if (this.tokens.kind[token] === OpKind.erase) this.erases++;
    if (this.head[block] === 0) this.head[block] = token;
    else next[this.tail[block]] = token;
    this.tail[block] = token;
  }

  /** Takes out what no longer has to wait in this block; 0: nothing. Page order allows one at a time. */
  take(block: number): Token {
    const { tokens, order } = this;
    const { next } = this.service;
    let before = 0;
    for (let token = this.head[block]; token !== 0; token = next[token]) {
      const erase = tokens.kind[token] === OpKind.erase;
      if ((erase ? order.eraseWaitsIn(token) : order.programWaitsIn(token)) === block) {
        before = token;
        continue;
      }
      if (before === 0) this.head[block] = next[token];
      else next[before] = next[token];
      if (next[token] === 0) this.tail[block] = before;
      this.count--;
      if (erase) this.erases--;
      return token;
    }
    return 0;
  }

  clear(): void {
    this.head.fill(0);
    this.tail.fill(0);
    this.count = 0;
    this.erases = 0;
  }
}

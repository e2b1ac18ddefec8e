import type { NandArray } from './array.js';
import type { Token } from './contract.js';
import type { Transactions } from './transactions.js';

/** The bus-side registers of the planes, on parts with cache registers: whose page is in them, and who waits for them. */
export class BusRegisters {
  private readonly array: NandArray;
  private readonly tokens: Transactions;
  /** Per unit: the read whose page is in the register, and the one that waits to put its page there; 0: none. */
  private readonly holder: Int32Array;
  private readonly waiter: Int32Array;

  constructor(array: NandArray, tokens: Transactions) {
    this.array = array;
    this.tokens = tokens;
    this.holder = new Int32Array(array.geometry.units);
    this.waiter = new Int32Array(array.geometry.units);
  }

  /** True if a register of the planes of this transaction still holds another's page. */
  areHeld(token: Token): boolean {
    const base = this.tokens.die[token] * this.tokens.planesPerDie;
    for (let plane = 0, left = this.tokens.planes[token]; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0 && this.holder[base + plane] !== 0) return true;
    }
    return false;
  }

  /** The pages of a read (and of those merged into it) move into their registers. */
  fill(token: Token): void {
    this.set(this.holder, token, token);
  }

  /** `waiter` (the read itself, or 0) waits for the registers of this read. */
  queue(token: Token, waiter: Token): void {
    this.set(this.waiter, token, waiter);
  }

  /** A page has left its register over the bus. @returns who waits for the register; 0: nobody. */
  leave(token: Token): Token {
    const { tokens } = this;
    const { geometry } = this.array;
    let waiter = 0;
    for (let i = 0; i < tokens.count[token]; i++) {
      // Its own planes: a read that others were merged into leads more than that.
      const unit = geometry.unitOfBlock(geometry.blockOf(tokens.address[token * tokens.planesPerDie + i]));
      this.holder[unit] = 0;
      if (this.waiter[unit] !== 0) waiter = this.waiter[unit];
    }
    return waiter;
  }

  clear(): void {
    this.holder.fill(0);
    this.waiter.fill(0);
  }

  private set(column: Int32Array, token: Token, value: Token): void {
    const base = this.tokens.die[token] * this.tokens.planesPerDie;
    for (let plane = 0, left = this.tokens.planes[token]; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0) column[base + plane] = value;
    }
  }
}

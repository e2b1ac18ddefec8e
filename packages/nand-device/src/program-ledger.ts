import type { Token } from './contract.js';

/**
 * Numbers programs in order of issue and knows up to which number all of them are durable, so that a fence can wait for
 * "every program issued so far" whatever the order in which they finish.
 */
export class ProgramLedger {
  /** Programs issued so far; the next one gets this number. */
  private issued = 0;
  /** All programs below this number are durable. */
  private durable = 0;
  private finished: Uint8Array = new Uint8Array(1024);
  /** Fences in order of issue: token and the number of programs it waits for. */
  private readonly fences: { token: Token; below: number }[] = [];

  /** A program is issued. @returns its number. */
  open(): number {
    if (this.issued - this.durable === this.finished.length) this.grow();
    this.finished[this.issued % this.finished.length] = 0;
    return this.issued++;
  }

  get inFlight(): boolean {
    return this.durable < this.issued;
  }

  addFence(token: Token): void {
    this.fences.push({ token, below: this.issued });
  }

  /** A program is durable. @returns true if a fence may have become done. */
  finish(number: number): boolean {
    const { finished } = this;
    finished[number % finished.length] = 1;
    if (number !== this.durable) return false;
    while (this.durable < this.issued && finished[this.durable % finished.length] === 1) this.durable++;
    return this.fences.length > 0 && this.fences[0].below <= this.durable;
  }

  /** The next fence that is done, or 0. */
  takeFence(): Token {
    if (this.fences.length === 0 || this.fences[0].below > this.durable) return 0;
    return (this.fences.shift() as { token: Token }).token;
  }

  clear(): void {
    this.durable = this.issued;
    this.fences.length = 0;
  }

  private grow(): void {
    const old = this.finished;
    const larger = new Uint8Array(old.length * 2);
    for (let number = this.durable; number < this.issued; number++) {
      larger[number % larger.length] = old[number % old.length];
    }
    this.finished = larger;
  }
}

import type { EventTarget } from '@flashstack/sim';
import type { NandClient } from './contract.js';
import { TokenState, type Transactions } from './transactions.js';

/**
 * Delivers completions from the event loop. A power cut replaces it: events that are still queued then find `alive`
 * false and do nothing, though their tokens may be in use again.
 */
export class Completions implements EventTarget {
  alive = true;
  private readonly tokens: Transactions;

  constructor(tokens: Transactions) {
    this.tokens = tokens;
  }

  fire(token: number): void {
    if (!this.alive) return;
    const { tokens } = this;
    const client = tokens.client[token] as NandClient;
    client.nandDone(token, tokens.arg[token], tokens.status[token]);
    // A power cut inside `nandDone` has freed all tokens.
    if (tokens.state[token] === TokenState.bound && this.alive) tokens.release(token);
  }
}

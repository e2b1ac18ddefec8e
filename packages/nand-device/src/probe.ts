import type { Token } from './contract.js';

/** Trace sources of a timed scheduler. Set `TransactionScheduler.probe`; when it is null, nothing is spent on it. */
export interface NandProbe {
  /**
   * A transaction has been issued. `kind` is an `OpKind`; `ppns` (blocks of an erase) holds `count` addresses from `at`
   * and belongs to the scheduler: copy what is to be kept.
   */
  issued(token: Token, kind: number, cls: number, status: number, ppns: Int32Array, at: number, count: number): void;
}

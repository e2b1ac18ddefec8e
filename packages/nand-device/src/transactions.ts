import { grown } from './columns.js';
import { NAND_PHASES, type NandClient, type Token } from './contract.js';
import { NandRuleError } from './errors.js';

/** Life of a token: free, held by its owner, bound to a client by `then`, dropped or given to a dependent while its work
 * goes on. */
export const TokenState = { free: 0, held: 1, bound: 2, dropped: 3, given: 4 } as const;

/** Kind of a transaction. A run is a sequence of cache reads on one plane, linked by `mate`. */
export const OpKind = { read: 0, program: 1, erase: 2, copyback: 3, cacheProgram: 4, readRun: 5, none: 6 } as const;

/**
 * Transactions as columns, indexed by token, with a free list; token 0 stands for "done already". The columns double
 * when all are in use, so do not keep a reference to one.
 */
export class Transactions {
  state: Uint8Array;
  status: Uint8Array;
  /** From when the operation could begin: its issue, or the end of what it came after. */
  readyNs: Float64Array;
  /** End of the operation, as far as known. */
  doneNs: Float64Array;
  phasesNs: Float64Array;
  arg: Int32Array;
  client: (NandClient | null)[];

  kind: Uint8Array;
  cls: Uint8Array;
  die: Int32Array;
  /** Bit mask of the planes it works on, and their number. */
  planes: Uint8Array;
  count: Uint8Array;
  /** Bus phase before the array works (commands, program data), array phase, data transfer after it. */
  commandNs: Int32Array;
  arrayNs: Int32Array;
  transferNs: Int32Array;
  retries: Int32Array;
  softReads: Int32Array;
  /** Next transaction of a run or of a merged command; 0: none. */
  mate: Int32Array;
  /** A copyback's source page and its tR. */
  sourcePpn: Int32Array;
  sourceNs: Int32Array;
  /** The cells change from here to here; Infinity while unknown. */
  arrayStartNs: Float64Array;
  arrayEndNs: Float64Array;
  /** `planesPerDie` entries per token: ppn (block for an erase) and the block's state before, for an undo. */
  address: Int32Array;
  undo: Int32Array;

  /** Tokens that are not free. */
  live = 0;
  readonly planesPerDie: number;
  private nextFree: Int32Array;
  private firstFree = 1;

  constructor(planesPerDie: number, capacity = 256) {
    this.planesPerDie = planesPerDie;
    this.state = new Uint8Array(capacity);
    this.status = new Uint8Array(capacity);
    this.readyNs = new Float64Array(capacity);
    this.doneNs = new Float64Array(capacity);
    this.phasesNs = new Float64Array(capacity * NAND_PHASES);
    this.arg = new Int32Array(capacity);
    this.client = new Array<NandClient | null>(capacity).fill(null);
    this.kind = new Uint8Array(capacity);
    this.cls = new Uint8Array(capacity);
    this.die = new Int32Array(capacity);
    this.planes = new Uint8Array(capacity);
    this.count = new Uint8Array(capacity);
    this.commandNs = new Int32Array(capacity);
    this.arrayNs = new Int32Array(capacity);
    this.transferNs = new Int32Array(capacity);
    this.retries = new Int32Array(capacity);
    this.softReads = new Int32Array(capacity);
    this.mate = new Int32Array(capacity);
    this.sourcePpn = new Int32Array(capacity);
    this.sourceNs = new Int32Array(capacity);
    this.arrayStartNs = new Float64Array(capacity);
    this.arrayEndNs = new Float64Array(capacity);
    this.address = new Int32Array(capacity * planesPerDie);
    this.undo = new Int32Array(capacity * planesPerDie);
    this.nextFree = new Int32Array(capacity);
    this.state[0] = TokenState.held;
    this.link(1);
  }

  get capacity(): number {
    return this.state.length;
  }

  /** Takes a free token; `mate` is zero, the other columns, phases included, are the caller's to fill. */
  take(): Token {
    if (this.firstFree === this.state.length) this.grow();
    const token = this.firstFree;
    this.firstFree = this.nextFree[token];
    this.state[token] = TokenState.held;
    this.mate[token] = 0;
    this.live++;
    return token;
  }

  /** The same, with phases of zero. */
  open(): Token {
    const token = this.take();
    const base = token * NAND_PHASES;
    const phases = this.phasesNs;
    phases[base] = 0;
    phases[base + 1] = 0;
    phases[base + 2] = 0;
    phases[base + 3] = 0;
    phases[base + 4] = 0;
    return token;
  }

  release(token: Token): void {
    this.state[token] = TokenState.free;
    this.client[token] = null;
    this.nextFree[token] = this.firstFree;
    this.firstFree = token;
    this.live--;
  }

  /** @throws NandRuleError `token` unless the caller may still use it. */
  check(token: Token): void {
    if (this.state[token] !== TokenState.held) throw this.misuse(token);
  }

  /** All tokens become free: after a power cut nobody may use an old one. */
  clear(): void {
    this.state.fill(TokenState.free);
    this.client.fill(null);
    this.state[0] = TokenState.held;
    this.live = 0;
    this.link(1);
  }

  private misuse(token: Token): NandRuleError {
    const what = this.state[token] === TokenState.bound ? 'has a client already' : 'is not in use';
    return new NandRuleError('token', `token ${token} ${what}: each token is used once (after, join, then or drop)`);
  }

  private link(from: number): void {
    for (let token = from; token < this.state.length; token++) this.nextFree[token] = token + 1;
    this.firstFree = from;
  }

  private grow(): void {
    const old = this.state.length;
    const capacity = old * 2;
    this.state = grown(this.state, new Uint8Array(capacity));
    this.status = grown(this.status, new Uint8Array(capacity));
    this.readyNs = grown(this.readyNs, new Float64Array(capacity));
    this.doneNs = grown(this.doneNs, new Float64Array(capacity));
    this.phasesNs = grown(this.phasesNs, new Float64Array(capacity * NAND_PHASES));
    this.arg = grown(this.arg, new Int32Array(capacity));
    this.kind = grown(this.kind, new Uint8Array(capacity));
    this.cls = grown(this.cls, new Uint8Array(capacity));
    this.die = grown(this.die, new Int32Array(capacity));
    this.planes = grown(this.planes, new Uint8Array(capacity));
    this.count = grown(this.count, new Uint8Array(capacity));
    this.commandNs = grown(this.commandNs, new Int32Array(capacity));
    this.arrayNs = grown(this.arrayNs, new Int32Array(capacity));
    this.transferNs = grown(this.transferNs, new Int32Array(capacity));
    this.retries = grown(this.retries, new Int32Array(capacity));
    this.softReads = grown(this.softReads, new Int32Array(capacity));
    this.mate = grown(this.mate, new Int32Array(capacity));
    this.sourcePpn = grown(this.sourcePpn, new Int32Array(capacity));
    this.sourceNs = grown(this.sourceNs, new Int32Array(capacity));
    this.arrayStartNs = grown(this.arrayStartNs, new Float64Array(capacity));
    this.arrayEndNs = grown(this.arrayEndNs, new Float64Array(capacity));
    this.address = grown(this.address, new Int32Array(capacity * this.planesPerDie));
    this.undo = grown(this.undo, new Int32Array(capacity * this.planesPerDie));
    this.nextFree = grown(this.nextFree, new Int32Array(capacity));
    for (let token = old; token < capacity; token++) this.client.push(null);
    this.link(old);
  }
}

import type { NandArray } from './array.js';
import type { Token } from './contract.js';
import type { DieQueues } from './die-queues.js';
import { OpKind, type Transactions } from './transactions.js';

/** How many waiting commands a merge looks at. */
const MERGE_WINDOW = 8;

/** Merges commands that wait for a die into multi-plane commands, where the rules of the part allow it. */
export class PlaneMerger {
  private readonly array: NandArray;
  private readonly tokens: Transactions;
  private readonly queues: DieQueues;
  private readonly readsMay: (token: Token, other: Token) => boolean;

  /** `readsMay`: whether two reads may share one array phase. */
  constructor(
    array: NandArray,
    tokens: Transactions,
    queues: DieQueues,
    readsMay: (token: Token, other: Token) => boolean,
  ) {
    this.array = array;
    this.tokens = tokens;
    this.queues = queues;
    this.readsMay = readsMay;
  }

  /** Merges waiting commands of the same queue into this one. @returns how many. */
  merge(token: Token): number {
    const { tokens, queues } = this;
    let last = token;
    let merged = 0;
    let candidate = queues.headOf(token);
    for (let i = 0; i < MERGE_WINDOW && candidate !== 0; i++) {
      const next = queues.behind(candidate);
      if (this.fits(token, candidate)) {
        queues.remove(candidate);
        merged++;
        tokens.mate[last] = candidate;
        tokens.mate[candidate] = 0;
        last = candidate;
        tokens.planes[token] |= tokens.planes[candidate];
        tokens.commandNs[token] += tokens.commandNs[candidate] + this.array.config.timing.tDbsyNs;
        if (tokens.arrayNs[candidate] > tokens.arrayNs[token]) tokens.arrayNs[token] = tokens.arrayNs[candidate];
      }
      candidate = next;
    }
    for (let each = tokens.mate[token]; each !== 0; each = tokens.mate[each]) {
      tokens.commandNs[each] = tokens.commandNs[token];
      tokens.arrayNs[each] = tokens.arrayNs[token];
    }
    return merged;
  }

  /**
   * Makes a cache read run of this read and the reads of the same planes that wait behind it: the array reads the next
   * page while this one leaves over the bus. Reads that need a retry stay out of it.
   */
  chainReads(token: Token): void {
    const { tokens, queues } = this;
    let last = token;
    let candidate = this.mayRun(token, token) ? queues.headOf(token) : 0;
    for (let i = 0; i < MERGE_WINDOW && candidate !== 0; i++) {
      const next = queues.behind(candidate);
      if (this.mayRun(token, candidate)) {
        queues.remove(candidate);
        tokens.mate[last] = candidate;
        tokens.mate[candidate] = 0;
        tokens.kind[candidate] = OpKind.readRun;
        tokens.kind[token] = OpKind.readRun;
        last = candidate;
      }
      candidate = next;
    }
  }

  private mayRun(token: Token, other: Token): boolean {
    const { kind, count, planes, retries, softReads } = this.tokens;
    const isRead = kind[other] === OpKind.read && count[other] === 1 && planes[other] === planes[token];
    return (isRead || other === token) && retries[other] + softReads[other] === 0;
  }

  /** True if `other` may join the multi-plane command that `token` leads. */
  private fits(token: Token, other: Token): boolean {
    const { tokens, array } = this;
    const { geometry, config } = array;
    const kind = tokens.kind[token];
    if (
      tokens.kind[other] !== kind ||
      tokens.count[other] !== 1 ||
      (tokens.planes[other] & tokens.planes[token]) !== 0
    ) {
      return false;
    }
    if (kind === OpKind.read && !this.readsMay(token, other)) return false;
    const a = tokens.address[token * tokens.planesPerDie];
    const b = tokens.address[other * tokens.planesPerDie];
    const pages = kind === OpKind.erase ? 1 : geometry.pagesPerBlock;
    if (a % pages !== b % pages) return false;
    if (!config.features.mpSameBlock) return true;
    return Math.floor(a / pages) % geometry.blocksPerPlane === Math.floor(b / pages) % geometry.blocksPerPlane;
  }
}

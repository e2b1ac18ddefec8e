import type { NandArray } from './array.js';
import { NandClass, type NandClient, type NandScheduler, type Token } from './contract.js';
import { NandCounts } from './stats.js';
import { TokenState, Transactions } from './transactions.js';

/**
 * No time passes: every operation is done when it is issued. For preconditioning and recovery, where the mapping code
 * runs but timing does not matter. Completions are queued and delivered by `deliver`, never from inside a call.
 */
export class InstantScheduler implements NandScheduler {
  readonly array: NandArray;
  readonly counts: NandCounts = new NandCounts();
  private readonly tokens: Transactions;
  /** Tokens whose clients wait for `deliver`, a ring. */
  private queue: Int32Array = new Int32Array(256);
  private first = 0;
  private queued = 0;

  /** The array keeps its clock, so retention and error rates are those of the present simulated time. */
  constructor(array: NandArray) {
    this.array = array;
    this.tokens = new Transactions(1);
  }

  get status(): Uint8Array {
    return this.tokens.status;
  }

  get phasesNs(): Float64Array {
    return this.tokens.phasesNs;
  }

  /** Calls the clients of all completions that are queued; theirs may queue more. @returns how many it delivered. */
  deliver(): number {
    const { tokens } = this;
    let delivered = 0;
    while (this.queued > 0) {
      const token = this.queue[this.first];
      this.first = (this.first + 1) & (this.queue.length - 1);
      this.queued--;
      delivered++;
      (tokens.client[token] as NandClient).nandDone(token, tokens.arg[token], tokens.status[token]);
      tokens.release(token);
    }
    return delivered;
  }

  read(ppn: number, slotMask: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.read(ppn, slotMask);
    this.counts.reads[cls]++;
    return this.finish(after, status);
  }

  readPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.readPlanes(ppns, count);
    this.counts.reads[cls] += count;
    return this.finish(after, status);
  }

  program(ppn: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.program(ppn);
    this.counts.programs[cls]++;
    return this.finish(after, status);
  }

  programPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.programPlanes(ppns, count);
    this.counts.programs[cls] += count;
    return this.finish(after, status);
  }

  erase(block: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.erase(block);
    this.counts.erases[cls]++;
    return this.finish(after, status);
  }

  erasePlanes(blocks: Int32Array, count: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.erasePlanes(blocks, count);
    this.counts.erases[cls] += count;
    return this.finish(after, status);
  }

  copyback(from: number, to: number, cls: number, after: Token): Token {
    this.tokens.check(after);
    const status = this.array.copyback(from, to);
    this.counts.programs[cls]++;
    this.counts.copybacks[cls]++;
    return this.finish(after, status);
  }

  relocate(from: number, to: number): void {
    this.array.relocate(from, to);
    this.counts.reads[NandClass.gcRead]++;
    this.counts.programs[NandClass.gcWrite]++;
  }

  rewrite(from: number, to: number): void {
    this.array.relocate(from, to);
    this.counts.reads[NandClass.mappingRead]++;
    this.counts.programs[NandClass.mappingWrite]++;
  }

  join(a: Token, b: Token): Token {
    const { tokens } = this;
    tokens.check(a);
    tokens.check(b);
    if (a === 0 || b === 0) return a + b;
    if (tokens.status[b] > tokens.status[a]) tokens.status[a] = tokens.status[b];
    tokens.release(b);
    return a;
  }

  fence(): Token {
    return 0;
  }

  guard(_block: number, token: Token): void {
    this.tokens.check(token);
  }

  drop(token: Token): void {
    if (token === 0) return;
    this.tokens.check(token);
    this.tokens.release(token);
  }

  // biome-ignore lint/suspicious/noThenProperty: the contract's name; a scheduler is never awaited
  then(token: Token, client: NandClient, arg: number): void {
    const { tokens } = this;
    tokens.check(token);
    const bound = token === 0 ? this.finish(0, 0) : token;
    tokens.state[bound] = TokenState.bound;
    tokens.client[bound] = client;
    tokens.arg[bound] = arg;
    if (this.queued === this.queue.length) this.growQueue();
    this.queue[(this.first + this.queued) & (this.queue.length - 1)] = bound;
    this.queued++;
  }

  isProgramming(_ppn: number): boolean {
    return false;
  }

  isIdle(_ppn: number): boolean {
    return true;
  }

  private finish(after: Token, status: number): Token {
    const { tokens } = this;
    if (after !== 0) tokens.release(after);
    const token = tokens.open();
    tokens.status[token] = status;
    return token;
  }

  private growQueue(): void {
    const { queue, first } = this;
    const larger = new Int32Array(queue.length * 2);
    larger.set(queue.subarray(first));
    larger.set(queue.subarray(0, first), queue.length - first);
    this.queue = larger;
    this.first = 0;
  }
}

import type { Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { BlockOrder, isProgram, isRead } from './block-order.js';
import { NAND_PHASES, type NandClient, NandStatus, type Token } from './contract.js';
import { EraseGuards } from './erase-guards.js';
import { ProgramLedger } from './program-ledger.js';
import { TransactionScheduler } from './scheduler.js';
import { Service, Stage } from './service.js';
import { OpKind, TokenState } from './transactions.js';

/**
 * A scheduler that learns when a transaction is done only when it happens: it keeps what waits for what. Since a token is
 * used exactly once, one column (`dependent`) holds the whole graph.
 */
export abstract class DependencyScheduler extends TransactionScheduler {
  protected readonly service: Service = new Service();
  protected readonly order: BlockOrder;
  protected readonly ledger: ProgramLedger = new ProgramLedger();
  private readonly guards: EraseGuards;
  private issued = 0;

  constructor(array: NandArray, simulator: Simulator) {
    super(array, simulator);
    this.order = new BlockOrder(array, this.tokens);
    this.guards = new EraseGuards(array.geometry.blocks);
    this.service.fit(this.tokens.capacity);
  }

  join(a: Token, b: Token): Token {
    const { tokens, service } = this;
    tokens.check(a);
    tokens.check(b);
    if (a === 0 || b === 0) return a + b;
    const aDone = service.stage[a] === Stage.done;
    if (aDone || service.stage[b] === Stage.done) {
      const kept = aDone ? b : a;
      const other = a + b - kept;
      if (tokens.status[other] > tokens.status[kept]) tokens.status[kept] = tokens.status[other];
      tokens.release(other);
      return kept;
    }
    const token = this.openIdle(Math.max(tokens.status[a], tokens.status[b]));
    this.service.inputs[token] = 2;
    this.give(a, token);
    this.give(b, token);
    return token;
  }

  fence(): Token {
    if (!this.ledger.inFlight) return 0;
    const token = this.openIdle(NandStatus.ok);
    this.ledger.addFence(token);
    return token;
  }

  guard(block: number, token: Token): void {
    this.tokens.check(token);
    if (this.service.stage[token] !== Stage.done) this.guards.add(block, token);
  }

  drop(token: Token): void {
    if (token === 0) return;
    const { tokens } = this;
    tokens.check(token);
    if (this.service.stage[token] === Stage.done) tokens.release(token);
    else tokens.state[token] = TokenState.dropped;
  }

  // biome-ignore lint/suspicious/noThenProperty: the contract's name; a scheduler is never awaited
  then(token: Token, client: NandClient, arg: number): void {
    const { tokens, service } = this;
    tokens.check(token);
    let bound = token;
    if (token === 0) {
      bound = this.openIdle(NandStatus.ok);
      service.stage[bound] = Stage.done;
      tokens.doneNs[bound] = this.simulator.now;
    }
    if (service.stage[bound] === Stage.done) this.callAt(this.simulator.now, bound, client, arg);
    else this.bind(bound, client, arg);
  }

  isProgramming(ppn: number): boolean {
    return this.order.isProgramming(ppn);
  }

  /** Everything the transaction came after is done. */
  protected abstract ready(token: Token): void;

  protected start(token: Token, after: Token): void {
    const { tokens, service } = this;
    service.fit(tokens.capacity);
    for (let each = token; each !== 0; each = tokens.mate[each]) this.register(each);
    let inputs = tokens.kind[token] === OpKind.erase ? this.guardsOf(token) : 0;
    if (after !== 0) {
      if (service.stage[after] === Stage.done) tokens.release(after);
      else {
        inputs++;
        this.give(after, token);
      }
    }
    service.inputs[token] = inputs;
    if (inputs === 0) this.ready(token);
  }

  /** Blocks of an erase that are guarded by programs in flight. */
  private guardsOf(erase: Token): number {
    const { tokens, guards } = this;
    const base = erase * tokens.planesPerDie;
    let count = 0;
    for (let i = base; i < base + tokens.count[erase]; i++) if (guards.holds(tokens.address[i], erase)) count++;
    return count;
  }

  /** The transaction has ended now: its blocks, its fences, then whoever holds its token learn of it. */
  protected finish(token: Token): void {
    const { tokens, service, order } = this;
    const kind = tokens.kind[token];
    tokens.doneNs[token] = this.simulator.now;
    service.stage[token] = Stage.done;
    if (isRead(kind)) {
      if (tokens.status[token] !== NandStatus.erased) order.read(token, -1);
      this.settle(token);
    } else if (isProgram(kind)) {
      order.programEnded(token);
      if (kind === OpKind.copyback) order.source(tokens.sourcePpn[token], -1);
      const fencesDue = this.ledger.finish(service.programNumber[token]);
      this.guards.release(token);
      this.settle(token);
      this.startDue();
      if (fencesDue) this.finishFences();
    } else {
      if (kind === OpKind.erase) order.eraseEnded(token);
      this.settle(token);
    }
  }

  /** Erases whose guards are gone. */
  private startDue(): void {
    const { due } = this.guards;
    for (let erase = due.pop(); erase !== undefined; erase = due.pop()) {
      if (--this.service.inputs[erase] === 0) this.ready(erase);
    }
  }

  private finishFences(): void {
    for (let fence = this.ledger.takeFence(); fence !== 0; fence = this.ledger.takeFence()) {
      // It waited for others only: ready and done at once, with no phases.
      this.tokens.readyNs[fence] = this.simulator.now;
      this.finish(fence);
    }
  }

  /** Whatever had been issued is void: a power cut. */
  protected forget(): void {
    this.ledger.clear();
    this.guards.clear();
    this.order.clear();
    this.tokens.clear();
  }

  /** Enters a new transaction in the books. */
  private register(token: Token): void {
    const { tokens, service, order } = this;
    const kind = tokens.kind[token];
    service.stage[token] = Stage.waiting;
    service.issued[token] = this.issued++;
    service.suspends[token] = 0;
    tokens.arrayStartNs[token] = Number.POSITIVE_INFINITY;
    tokens.arrayEndNs[token] = Number.POSITIVE_INFINITY;
    if (isRead(kind)) {
      if (tokens.status[token] !== NandStatus.erased) order.read(token, 1);
    } else if (kind === OpKind.erase) {
      order.eraseIssued(token);
    } else {
      service.programNumber[token] = this.ledger.open();
      order.programIssued(token);
      if (kind === OpKind.copyback) order.source(tokens.sourcePpn[token], 1);
    }
  }

  private settle(token: Token): void {
    const { tokens } = this;
    switch (tokens.state[token]) {
      case TokenState.bound:
        this.completions.fire(token);
        break;
      case TokenState.dropped:
        tokens.release(token);
        break;
      case TokenState.given:
        this.advance(token, this.service.dependent[token]);
    }
  }

  /** An input of `dependent` is done. */
  private advance(token: Token, dependent: Token): void {
    const { tokens, service } = this;
    const last = --service.inputs[dependent] === 0;
    if (tokens.kind[dependent] !== OpKind.none) {
      tokens.release(token);
      if (last) this.ready(dependent);
      return;
    }
    // A join reports readiness and phases of the input that was done last.
    if (last) {
      const from = token * NAND_PHASES;
      tokens.phasesNs.copyWithin(dependent * NAND_PHASES, from, from + NAND_PHASES);
      tokens.readyNs[dependent] = tokens.readyNs[token];
    }
    tokens.release(token);
    if (last) this.finish(dependent);
  }

  private give(token: Token, dependent: Token): void {
    this.tokens.state[token] = TokenState.given;
    this.service.dependent[token] = dependent;
  }

  private bind(token: Token, client: NandClient, arg: number): void {
    const { tokens } = this;
    tokens.state[token] = TokenState.bound;
    tokens.client[token] = client;
    tokens.arg[token] = arg;
  }

  /** A token without work of its own. */
  private openIdle(status: number): Token {
    const { tokens, service } = this;
    const token = tokens.open();
    service.fit(tokens.capacity);
    tokens.kind[token] = OpKind.none;
    tokens.status[token] = status;
    tokens.readyNs[token] = this.simulator.now;
    service.stage[token] = Stage.waiting;
    return token;
  }
}

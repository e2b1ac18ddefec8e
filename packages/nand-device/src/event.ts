import { InputError, type Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { isProgram } from './block-order.js';
import { Completions } from './completions.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import { DependencyScheduler } from './dependencies.js';
import { DieOccupancy } from './die-occupancy.js';
import { type DiePolicy, DieQueues } from './die-queues.js';
import { EventSink, type NandEventHandler } from './event-sink.js';
import { Parking } from './parking.js';
import { gcClasses, type PhaseTrace } from './phase-trace.js';
import { PlaneMerger } from './plane-merger.js';
import { cutTransactions, type PowerCut } from './power-cut.js';
import { Stage } from './service.js';
import { OpKind } from './transactions.js';

/** Options of the event schedulers. */
export interface EventOptions {
  /**
   * Order in which a die serves what waits for it. `fifo`: arrival. `readFirst`: reads before programs and erases.
   * `outOfOrder` (default): by class, and whichever die can use the bus. `priority`: classes by weighted round robin.
   */
  readonly policy?: DiePolicy;
  /** Services per round of each class under `priority`. Default 8, 8, 4, 2, 4, 2, 1. */
  readonly weights?: readonly number[];
  /**
   * With `outOfOrder` and `priority`: merges waiting commands into multi-plane and cache programs, and on an arbitrated
   * bus into cache read runs. Default true.
   */
  readonly merge?: boolean;
  /** Future reservations a channel remembers, with bus policy `reserve`. Default 1024. */
  readonly reservations?: number;
}

const DEFAULT_WEIGHTS = [8, 8, 4, 2, 4, 2, 1];
const POLICIES: readonly DiePolicy[] = ['fifo', 'readFirst', 'outOfOrder', 'priority'];
/** Reads of the classes up to this one (mapping and user reads) suspend, and are served during a suspension. */
const URGENT_CLASS = 1;
const ANY_CLASS = 6;

/**
 * The exact scheduler: transactions wait in queues per die and are chosen when the die is free. What the bus does is the
 * subclass's: it books (`ReservingScheduler`) or arbitrates (`ArbitratingScheduler`).
 */
export abstract class EventScheduler extends DependencyScheduler implements NandEventHandler {
  /** Who is told what was taken from when to when (a die when it is left), or null. */
  trace: PhaseTrace | null = null;
  /** Suspensions so far. */
  suspensions = 0;
  /** Transactions that were merged into another's command. */
  merged = 0;

  protected readonly queues: DieQueues;
  protected sink: EventSink;
  /** Per die: the transaction that holds it (0: none). */
  protected readonly holder: Int32Array;
  /** Per die: planes that read, with independent plane reads. */
  protected readonly readingPlanes: Uint8Array;
  /** Per die: its suspended transaction (0: none). */
  protected readonly suspended: Int32Array;
  /** Per die: 1 while the holder is a cache program that has left its register to the next program's data. */
  protected readonly openForData: Uint8Array;
  protected readonly suspendWanted: Uint8Array;
  protected readonly independentReads: boolean;
  private readonly canSuspend: boolean;
  /** Per die: since when it could have started something. */
  private readonly freeSinceNs: Float64Array;
  private readonly suspendedSinceNs: Float64Array;
  protected readonly merges: boolean;
  private readonly mergesPlanes: boolean;
  /** Reads that wait for one plane become cache read runs. */
  protected chainsReads = false;
  private readonly parking: Parking;
  private readonly merger: PlaneMerger;
  private readonly occupancy: DieOccupancy;

  /** @throws InputError `ERR_NAND_POLICY`, `ERR_NAND_WEIGHTS`. */
  constructor(array: NandArray, simulator: Simulator, options: EventOptions) {
    super(array, simulator);
    const { dies } = array.geometry;
    const policy = options.policy ?? 'outOfOrder';
    if (!POLICIES.includes(policy)) {
      const found = JSON.stringify(policy);
      throw new InputError(
        'ERR_NAND_POLICY',
        `policy: expected one of ${POLICIES.join(', ')}, found ${found}`,
        'policy',
      );
    }
    const sorts = policy === 'outOfOrder' || policy === 'priority';
    this.merges = sorts && (options.merge ?? true);
    this.mergesPlanes = this.merges && array.config.features.multiPlane && array.geometry.planes > 1;
    this.queues = new DieQueues(array.geometry, policy, options.weights ?? DEFAULT_WEIGHTS, this.tokens, this.service);
    // First come, first served means that nothing overtakes.
    this.canSuspend = array.config.features.suspend !== 'none' && policy !== 'fifo';
    this.sink = new EventSink(simulator, this);
    this.independentReads = array.config.features.independentPlaneReads;
    this.occupancy = new DieOccupancy(dies, simulator);
    this.holder = new Int32Array(dies);
    this.readingPlanes = new Uint8Array(dies);
    this.suspended = new Int32Array(dies);
    this.openForData = new Uint8Array(dies);
    this.suspendWanted = new Uint8Array(dies);
    this.freeSinceNs = new Float64Array(dies);
    this.suspendedSinceNs = new Float64Array(dies);
    this.parking = new Parking(array, this.tokens, this.service, this.order);
    this.merger = new PlaneMerger(array, this.tokens, this.queues, (a, b) => this.mergesReads(a, b));
  }

  /** ns for which each die has been taken, up to the last time it became free. */
  get dieBusyNs(): Float64Array {
    return this.occupancy.busyNs;
  }

  isIdle(ppn: number): boolean {
    const die = this.array.geometry.dieOf(ppn);
    const held = this.holder[die] | this.readingPlanes[die] | this.suspended[die];
    return held === 0 && this.queues.isEmpty(die);
  }

  /**
   * Power fails now: operations in progress (suspended ones too) are torn, those that have not begun are undone, all
   * tokens are void and no client is called any more. The scheduler can be used again at once, by whoever recovers.
   */
  powerCut(): PowerCut {
    const result = cutTransactions(this.array, this.tokens, this.service, this.simulator.now);
    for (let die = 0; die < this.holder.length; die++) this.release(die);
    this.suspended.fill(0);
    this.suspendWanted.fill(0);
    this.parking.clear();
    this.freeSinceNs.fill(this.simulator.now);
    this.queues.clear();
    this.forget();
    this.completions.alive = false;
    this.completions = new Completions(this.tokens);
    this.sink.alive = false;
    this.sink = new EventSink(this.simulator, this);
    return result;
  }

  abstract nandEvent(event: number, subject: number): void;

  /** Something may be able to start on this die. */
  protected abstract wake(die: number): void;
  /** Issues the suspend command as soon as the bus allows, then calls `suspendAt`. */
  protected abstract requestSuspend(die: number): void;
  /** Changes the time at which the holder of a die ends. */
  protected abstract endsAt(token: Token, timeNs: number): void;

  protected ready(token: Token): void {
    const { tokens, service, simulator } = this;
    const now = simulator.now;
    const gcNs = this.occupancy.gcNow(tokens.die[token]);
    for (let each = token; each !== 0; each = tokens.mate[each]) {
      tokens.readyNs[each] = now;
      service.gcAtReadyNs[each] = gcNs;
    }
    this.enqueueOrPark(token);
  }

  /** What the die would start now, still in its queue; 0: nothing. */
  protected select(die: number): Token {
    if (this.holder[die] !== 0) return this.openForData[die] === 0 ? 0 : this.queues.firstProgram(die);
    if (this.suspended[die] !== 0) {
      const overdue = this.simulator.now - this.suspendedSinceNs[die] >= this.array.config.features.maxSuspendNs;
      return overdue ? 0 : this.queues.firstRead(die, this.readingPlanes[die], URGENT_CLASS, this.suspended[die]);
    }
    const first = this.queues.first(die);
    if (!this.independentReads || this.readingPlanes[die] === 0) return first;
    return this.queues.firstRead(die, this.readingPlanes[die], ANY_CLASS, 0);
  }

  /** True if a suspended transaction should go on. */
  protected mustResume(die: number): boolean {
    const taken = this.holder[die] | this.readingPlanes[die];
    return this.suspended[die] !== 0 && taken === 0 && this.select(die) === 0;
  }

  /**
   * The chosen transaction starts now: it leaves its queue, takes waiting ones with it where they fit into one command,
   * and holds the die. Its wait is divided here.
   */
  protected begin(token: Token): void {
    const { tokens, queues, array } = this;
    const die = tokens.die[token];
    const kind = tokens.kind[token];
    queues.remove(token);
    const since = this.freeSinceNs[die];
    const mergeable = kind === OpKind.read || kind === OpKind.program || kind === OpKind.erase;
    if (this.mergesPlanes && mergeable && array.config.features.multiPlane && tokens.count[token] === 1)
      this.merged += this.merger.merge(token);
    if (this.chainsReads && kind === OpKind.read && tokens.mate[token] === 0 && this.suspended[die] === 0)
      this.merger.chainReads(token);
    for (let each = token; each !== 0; each = tokens.mate[each]) this.accountWait(each, since);
    this.hold(die, token);
    if (!isProgram(kind)) return;
    for (let each = token; each !== 0; each = tokens.mate[each]) {
      this.order.programStarted(each);
      if (this.parking.count > 0) this.unparkAll(each);
    }
    const { cacheRegister, suspend } = array.config.features;
    if (!this.merges || !cacheRegister || kind !== OpKind.program || suspend === 'program+erase') return;
    if (queues.firstProgram(die) !== 0) tokens.kind[token] = OpKind.cacheProgram;
  }

  /** The transaction no longer needs the die. */
  protected freeDie(token: Token, die: number): void {
    if (this.independentReads && this.tokens.kind[token] === OpKind.read) {
      this.readingPlanes[die] &= ~this.tokens.planes[token];
      if (this.readingPlanes[die] === 0 && this.holder[die] === 0) this.release(die);
    } else if (this.holder[die] === token) this.release(die);
    this.freeSinceNs[die] = this.simulator.now;
  }

  /** The holder, a cache program, lets the next program's data in. */
  protected openDie(token: Token): void {
    const die = this.tokens.die[token];
    if (this.holder[die] !== token) return;
    this.openForData[die] = 1;
    this.freeSinceNs[die] = this.simulator.now;
  }

  /** Ends a transaction with all that were merged into it. */
  protected finishAll(token: Token): void {
    const { mate } = this.tokens;
    const { sink } = this;
    let each = token;
    while (each !== 0 && sink.alive) {
      const next = mate[each];
      mate[each] = 0;
      this.finishOne(each);
      each = next;
    }
  }

  /** Ends one transaction; an erase may have waited for it. */
  protected finishOne(token: Token): void {
    // An erase may have waited for the blocks of a read or program; the token may be gone when it has ended.
    const { tokens } = this;
    if (this.parking.erases === 0 || tokens.kind[token] === OpKind.erase) {
      this.finish(token);
      return;
    }
    const base = token * tokens.planesPerDie;
    const blocks = Array.from(tokens.address.subarray(base, base + tokens.count[token]), (ppn) =>
      this.array.geometry.blockOf(ppn),
    );
    if (tokens.kind[token] === OpKind.copyback) blocks.push(this.array.geometry.blockOf(tokens.sourcePpn[token]));
    this.finish(token);
    for (const block of blocks) this.unpark(block);
  }

  /** Asks for a suspension if an urgent read waits behind an operation that may be suspended. */
  protected considerSuspension(die: number): void {
    if (!this.canSuspend || this.suspendWanted[die] !== 0 || !this.isSuspendable(die)) return;
    const { tokens, simulator } = this;
    const holder = this.holder[die];
    const { minRemainingNs } = this.array.config.features;
    // Being launched: it calls again when its times are known.
    if (tokens.arrayStartNs[holder] === Number.POSITIVE_INFINITY) return;
    if (tokens.arrayEndNs[holder] - Math.max(simulator.now, tokens.arrayStartNs[holder]) <= minRemainingNs) return;
    this.suspendWanted[die] = 1;
    this.requestSuspend(die);
  }

  /** True if the holder of the die may be suspended by the rules of the part, and an urgent read waits behind it. */
  protected isSuspendable(die: number): boolean {
    const { suspend, maxSuspends } = this.array.config.features;
    const holder = this.holder[die];
    if (!this.canSuspend || holder === 0 || this.suspended[die] !== 0) return false;
    if (this.service.suspends[holder] >= maxSuspends) return false;
    const kind = this.tokens.kind[holder];
    if (kind !== OpKind.erase && (kind !== OpKind.program || suspend !== 'program+erase')) return false;
    return this.queues.firstRead(die, 0, URGENT_CLASS, holder) !== 0;
  }

  /** The suspend command has been sent and ends at `stopNs`: the array stops there. @returns when the die is usable, or −1. */
  protected suspendAt(die: number, stopNs: number): number {
    const { tokens, service } = this;
    const { timing } = this.array.config;
    const holder = this.holder[die];
    const left = tokens.arrayEndNs[holder] - stopNs;
    if (left <= 0) return -1;
    for (let each = holder; each !== 0; each = tokens.mate[each]) {
      service.stage[each] = Stage.suspended;
      service.leftNs[each] = left;
      tokens.phasesNs[each * NAND_PHASES + NandPhase.array] -= left;
      tokens.arrayEndNs[each] = Number.POSITIVE_INFINITY;
      tokens.doneNs[each] = Number.POSITIVE_INFINITY;
    }
    service.suspends[holder]++;
    this.suspensions++;
    this.suspended[die] = holder;
    this.suspendedSinceNs[die] = stopNs;
    return stopNs + (tokens.kind[holder] === OpKind.erase ? timing.suspendEraseNs : timing.suspendProgramNs);
  }

  /** The die has come to rest: reads may start. */
  protected suspensionBegun(die: number): void {
    this.release(die);
    this.freeSinceNs[die] = this.simulator.now;
    this.wake(die);
  }

  /** The resume command is on the bus from `fromNs` to `toNs`. */
  protected resumeAt(die: number, fromNs: number, toNs: number): void {
    const { tokens, service } = this;
    const { timing, features } = this.array.config;
    const token = this.suspended[die];
    let left = service.leftNs[token];
    if (features.eraseRestart && tokens.kind[token] === OpKind.erase) {
      left += (tokens.arrayNs[token] - left) % timing.erasePulseNs;
    }
    const end = toNs + timing.resumeNs + left;
    for (let each = token; each !== 0; each = tokens.mate[each]) {
      const phase = each * NAND_PHASES;
      tokens.phasesNs[phase + NandPhase.dieWait] += fromNs - this.suspendedSinceNs[die];
      tokens.phasesNs[phase + NandPhase.transfer] += toNs - fromNs;
      tokens.phasesNs[phase + NandPhase.array] += timing.resumeNs + left;
      tokens.arrayEndNs[each] = end;
      service.stage[each] = Stage.running;
    }
    this.suspended[die] = 0;
    this.hold(die, token);
    this.endsAt(token, end);
  }

  private enqueue(token: Token): void {
    const die = this.tokens.die[token];
    this.service.stage[token] = Stage.queued;
    for (let each = token; each !== 0; each = this.tokens.mate[each])
      this.service.busSinceNs[each] = this.simulator.now;
    this.queues.push(token);
    this.wake(die);
    if (this.canSuspend && this.holder[die] !== 0) this.considerSuspension(die);
  }

  private enqueueOrPark(token: Token): void {
    const kind = this.tokens.kind[token];
    let block = -1;
    if (isProgram(kind)) block = this.order.programWaitsIn(token);
    else if (kind === OpKind.erase) block = this.order.eraseWaitsIn(token);
    if (block < 0) this.enqueue(token);
    else this.parking.park(token, block);
  }

  /** The blocks of a program that has started. */
  private unparkAll(token: Token): void {
    const { tokens } = this;
    const { geometry } = this.array;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) this.unpark(geometry.blockOf(tokens.address[i]));
  }

  /** What this block now allows goes to the queues; a program on several planes may go on to wait in another block. */
  private unpark(block: number): void {
    const token = this.parking.take(block);
    if (token !== 0) this.enqueueOrPark(token);
  }

  /** True if two reads may share one array phase; their transfers stay apart. */
  protected abstract mergesReads(token: Token, other: Token): boolean;

  private accountWait(token: Token, freeSince: number): void {
    const { tokens, service, simulator } = this;
    const now = simulator.now;
    const phase = token * NAND_PHASES;
    const waited = now - tokens.readyNs[token];
    service.stage[token] = Stage.running;
    if (waited === 0) return;
    const queued = service.busSinceNs[token];
    const busNs = now - Math.max(queued, freeSince);
    let gcNs = 0;
    if (gcClasses[tokens.cls[token]] === 0) {
      gcNs = this.occupancy.gcNow(tokens.die[token]) - service.gcAtReadyNs[token];
      // A cache program or a read of another plane still works, but it is not what this one has waited for.
      if (gcNs > waited - busNs) gcNs = waited - busNs;
    }
    tokens.phasesNs[phase + NandPhase.busWait] += busNs;
    tokens.phasesNs[phase + NandPhase.gcWait] += gcNs;
    tokens.phasesNs[phase + NandPhase.dieWait] += waited - busNs - gcNs;
  }

  private hold(die: number, token: Token): void {
    const { tokens } = this;
    this.openForData[die] = 0;
    this.occupancy.begin(die, gcClasses[tokens.cls[token]] !== 0);
    if (this.independentReads && tokens.kind[token] === OpKind.read) this.readingPlanes[die] |= tokens.planes[token];
    else this.holder[die] = token;
  }

  private release(die: number): void {
    this.holder[die] = 0;
    this.readingPlanes[die] = 0;
    this.openForData[die] = 0;
    this.occupancy.end(die, this.trace);
  }
}

import type { Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { isProgram } from './block-order.js';
import { Completions } from './completions.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import { DependencyScheduler } from './dependencies.js';
import { DieOccupancy } from './die-occupancy.js';
import { EventSink, type NandEventHandler } from './event-sink.js';
import { gcClasses, type PhaseTrace } from './phase-trace.js';
import { cutTransactions, type PowerCut } from './power-cut.js';
import { Stage } from './service.js';
import { OpKind } from './transactions.js';
import { checkVssim, type VssimDelays } from './vssim-delays.js';

/** Events: the turn of the first in line has come; a transaction begins its register phase; it is done. */
const VssimEvent = { turn: 0, register: 1, done: 2 } as const;

/**
 * The delay model of VSSIM (MSST 2013). Commands start strictly in order of issue: one that has to wait holds back all
 * that were issued later, as VSSIM's single thread does. A page command on another channel than the one before starts a
 * switch delay after it; a chip (or plane) works on one command at a time. A write moves its data without asking for the
 * channel, and reads of that channel that have not begun to move theirs are pushed back.
 */
export class VssimScheduler extends DependencyScheduler implements NandEventHandler {
  /** Who is told what was taken from when to when, or null: a die when it is left, a channel when it is taken. */
  trace: PhaseTrace | null = null;
  /** ns for which each channel has moved data; transfers that the model lets overlap count once. */
  readonly channelBusyNs: Float64Array;
  private readonly delays: VssimDelays;
  private readonly planesApart: boolean;
  private readonly occupancy: DieOccupancy;
  private sink: EventSink;
  /** Issued and not started, in order of issue; 0: none. */
  private head = 0;
  private tail = 0;
  private turnArmed = false;
  /** Channel of the last page command (−1: none yet), and until when it holds back commands on other channels. */
  private lastChannel = -1;
  private readonly switchedNs: Float64Array = new Float64Array(1);
  /** Per chip or plane: what works there (0: nothing), and when its register phase begins. */
  private readonly holder: Int32Array;
  private readonly registerNs: Float64Array;
  /** Per die: commands that it works on. */
  private readonly running: Uint8Array;
  /** Per channel: end of the last transfer booked, end of what has been counted as busy. */
  private readonly bookedUntilNs: Float64Array;
  private readonly countedUntilNs: Float64Array;

  /** @throws InputError `ERR_NAND_VSSIM` for impossible delays, or a part with what VSSIM does not know. */
  constructor(array: NandArray, simulator: Simulator, delays: VssimDelays) {
    super(array, simulator);
    checkVssim(array.config, delays);
    const { channels, dies, units } = array.geometry;
    this.delays = delays;
    this.planesApart = delays.parallel === 'plane';
    this.occupancy = new DieOccupancy(dies, simulator);
    this.sink = new EventSink(simulator, this);
    const targets = this.planesApart ? units : dies;
    this.holder = new Int32Array(targets);
    this.registerNs = new Float64Array(targets);
    this.running = new Uint8Array(dies);
    this.channelBusyNs = new Float64Array(channels);
    this.bookedUntilNs = new Float64Array(channels);
    this.countedUntilNs = new Float64Array(channels);
  }

  /** ns for which each die has been taken, up to the last time it became free. */
  get dieBusyNs(): Float64Array {
    return this.occupancy.busyNs;
  }

  isIdle(ppn: number): boolean {
    const { geometry } = this.array;
    const block = geometry.blockOf(ppn);
    const target = this.planesApart ? geometry.unitOfBlock(block) : geometry.dieOfBlock[block];
    const channel = geometry.channelOfDie[geometry.dieOfBlock[block]];
    return this.head === 0 && this.holder[target] === 0 && this.turnNs(channel) <= this.simulator.now;
  }

  powerCut(): PowerCut {
    const result = cutTransactions(this.array, this.tokens, this.service, this.simulator.now);
    for (let die = 0; die < this.running.length; die++) this.occupancy.end(die, this.trace);
    this.running.fill(0);
    this.holder.fill(0);
    this.bookedUntilNs.fill(0);
    this.head = 0;
    this.tail = 0;
    this.turnArmed = false;
    this.lastChannel = -1;
    this.forget();
    this.completions.alive = false;
    this.completions = new Completions(this.tokens);
    this.sink.alive = false;
    this.sink = new EventSink(this.simulator, this);
    return result;
  }

  nandEvent(event: number, subject: number): void {
    if (event === VssimEvent.done) {
      this.done(subject);
      return;
    }
    if (event === VssimEvent.register) {
      this.moveData(subject);
      return;
    }
    this.turnArmed = false;
    this.startInOrder();
  }

  protected override start(token: Token, after: Token): void {
    const { service } = this;
    service.fit(this.tokens.capacity);
    service.next[token] = 0;
    if (this.head === 0) this.head = token;
    else service.next[this.tail] = token;
    this.tail = token;
    super.start(token, after);
  }

  protected ready(token: Token): void {
    const { service, tokens } = this;
    tokens.readyNs[token] = this.simulator.now;
    service.stage[token] = Stage.queued;
    service.busSinceNs[token] = Number.POSITIVE_INFINITY;
    this.startInOrder();
  }

  /** Starts the first in line, and those after it, as far as they may start now. */
  private startInOrder(): void {
    const { service, tokens, array } = this;
    const { now } = this.simulator;
    while (this.head !== 0) {
      const token = this.head;
      if (service.stage[token] !== Stage.queued) return;
      const die = tokens.die[token];
      const turnNs = tokens.kind[token] === OpKind.erase ? 0 : this.turnNs(array.geometry.channelOfDie[die]);
      if (turnNs > now) {
        if (!this.turnArmed) this.sink.after(turnNs - now, VssimEvent.turn, 0);
        this.turnArmed = true;
        return;
      }
      if (service.busSinceNs[token] > now) {
        service.busSinceNs[token] = now;
        service.gcAtReadyNs[token] = this.occupancy.gcNow(die);
      }
      if (this.holder[this.targetOf(token)] !== 0) return;
      this.head = service.next[token];
      this.launch(token, die);
    }
  }

  /** When a page command may start on this channel, as far as the one before it is concerned. */
  private turnNs(channel: number): number {
    return this.lastChannel < 0 || this.lastChannel === channel ? 0 : this.switchedNs[0];
  }

  private targetOf(token: Token): number {
    const { tokens } = this;
    const die = tokens.die[token];
    if (!this.planesApart) return die;
    // One plane: there are no multi-plane commands.
    return die * tokens.planesPerDie + (31 - Math.clz32(tokens.planes[token]));
  }

  private launch(token: Token, die: number): void {
    const { tokens, service } = this;
    const target = this.targetOf(token);
    const kind = tokens.kind[token];
    const channel = this.array.geometry.channelOfDie[die];
    service.stage[token] = Stage.running;
    this.accountWait(token, die);
    this.holder[target] = token;
    this.running[die]++;
    this.occupancy.begin(die, gcClasses[tokens.cls[token]] !== 0);
    if (kind === OpKind.erase) this.launchErase(token);
    else if (isProgram(kind)) this.launchProgram(token, target, channel);
    else this.launchRead(token, target, channel);
  }

  /** What a command has waited: for its turn, then for its chip. */
  private accountWait(token: Token, die: number): void {
    const { tokens, service } = this;
    const phase = token * NAND_PHASES;
    const turnNs = service.busSinceNs[token];
    const dieNs = this.simulator.now - turnNs;
    let gcNs = 0;
    if (gcClasses[tokens.cls[token]] === 0) {
      gcNs = Math.min(dieNs, this.occupancy.gcNow(die) - service.gcAtReadyNs[token]);
    }
    tokens.phasesNs[phase + NandPhase.busWait] += turnNs - tokens.readyNs[token];
    tokens.phasesNs[phase + NandPhase.gcWait] += gcNs;
    tokens.phasesNs[phase + NandPhase.dieWait] += dieNs - gcNs;
  }

  private launchErase(token: Token): void {
    const { tokens } = this;
    const { now } = this.simulator;
    const eraseNs = tokens.arrayNs[token];
    tokens.arrayStartNs[token] = now;
    tokens.arrayEndNs[token] = now + eraseNs;
    tokens.phasesNs[token * NAND_PHASES + NandPhase.array] += eraseNs;
    this.sink.after(eraseNs, VssimEvent.done, token);
  }

  /** Data into the register, then tPROG. */
  private launchProgram(token: Token, target: number, channel: number): void {
    const { tokens, simulator, bookedUntilNs } = this;
    const { switchWriteNs, registerWriteNs } = this.delays;
    const phase = token * NAND_PHASES;
    const programNs = tokens.arrayNs[token];
    const registerNs = simulator.now + switchWriteNs;
    const cellNs = registerNs + registerWriteNs;
    this.order.programStarted(token);
    this.lastChannel = channel;
    this.switchedNs[0] = registerNs;
    this.registerNs[target] = registerNs;
    this.pushReads(channel, registerNs);
    if (cellNs > bookedUntilNs[channel]) bookedUntilNs[channel] = cellNs;
    tokens.arrayStartNs[token] = cellNs;
    tokens.arrayEndNs[token] = cellNs + programNs;
    tokens.phasesNs[phase + NandPhase.transfer] += switchWriteNs + registerWriteNs;
    tokens.phasesNs[phase + NandPhase.array] += programNs;
    this.sink.after(switchWriteNs, VssimEvent.register, token);
    this.sink.after(switchWriteNs + registerWriteNs + programNs, VssimEvent.done, token);
  }

  /** tR, then out of the register when every transfer that is booked on the channel has ended. */
  private launchRead(token: Token, target: number, channel: number): void {
    const { tokens, simulator, bookedUntilNs } = this;
    const { switchReadNs, registerReadNs } = this.delays;
    const { now } = simulator;
    const phase = token * NAND_PHASES;
    // VSSIM knows no errors; a read that has to be repeated stays in the cells so much longer.
    const retries = tokens.retries[token];
    const cellNs =
      tokens.arrayNs[token] * (1 + retries + tokens.softReads[token]) + retries * this.array.config.timing.featureNs;
    const readNs = now + switchReadNs + cellNs;
    const registerNs = Math.max(readNs, bookedUntilNs[channel]);
    this.lastChannel = channel;
    this.switchedNs[0] = now + switchReadNs;
    this.registerNs[target] = registerNs;
    bookedUntilNs[channel] = registerNs + registerReadNs;
    tokens.phasesNs[phase + NandPhase.transfer] += switchReadNs + registerReadNs;
    tokens.phasesNs[phase + NandPhase.array] += cellNs;
    tokens.phasesNs[phase + NandPhase.busWait] += registerNs - readNs;
    this.sink.after(registerNs - now, VssimEvent.register, token);
  }

  /** A write moves its data from `fromNs` on: reads of the channel that would begin to move theirs later do so later still. */
  private pushReads(channel: number, fromNs: number): void {
    const { tokens, simulator, holder, registerNs, bookedUntilNs } = this;
    const { registerReadNs, registerWriteNs } = this.delays;
    if (registerWriteNs === 0) return;
    // Chips of a channel are neighbours.
    const targets = holder.length / bookedUntilNs.length;
    const end = (channel + 1) * targets;
    for (let target = channel * targets; target < end; target++) {
      const token = holder[target];
      if (token === 0 || tokens.kind[token] !== OpKind.read || registerNs[target] <= fromNs) continue;
      const pushedNs = registerNs[target] + registerWriteNs;
      registerNs[target] = pushedNs;
      tokens.phasesNs[token * NAND_PHASES + NandPhase.busWait] += registerWriteNs;
      if (pushedNs + registerReadNs > bookedUntilNs[channel]) bookedUntilNs[channel] = pushedNs + registerReadNs;
      this.sink.after(pushedNs - simulator.now, VssimEvent.register, token);
    }
  }

  /** The register phase begins: the channel is taken. A read can no longer be pushed back, and its end is known. */
  private moveData(token: Token): void {
    const { tokens, countedUntilNs } = this;
    const { now } = this.simulator;
    // Pushed back since: another event will come.
    if (this.registerNs[this.targetOf(token)] !== now) return;
    const isRead = tokens.kind[token] === OpKind.read;
    const lengthNs = isRead ? this.delays.registerReadNs : this.delays.registerWriteNs;
    const channel = this.array.geometry.channelOfDie[tokens.die[token]];
    const from = Math.max(now, countedUntilNs[channel]);
    const to = now + lengthNs;
    if (to > from) {
      this.channelBusyNs[channel] += to - from;
      countedUntilNs[channel] = to;
      if (this.trace !== null) this.trace.onBus(channel, from, to);
    }
    if (isRead) this.sink.after(lengthNs, VssimEvent.done, token);
  }

  private done(token: Token): void {
    const die = this.tokens.die[token];
    this.holder[this.targetOf(token)] = 0;
    if (--this.running[die] === 0) this.occupancy.end(die, this.trace);
    this.finish(token);
    this.startInOrder();
  }
}

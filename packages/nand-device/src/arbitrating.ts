import type { Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { isProgram } from './block-order.js';
import { BusRegisters } from './bus-registers.js';
import { ChannelQueue } from './channel-queue.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import { type EventOptions, EventScheduler } from './event.js';
import { NandEvent } from './event-sink.js';
import type { PowerCut } from './power-cut.js';
import { OpKind } from './transactions.js';

const { dieWait, busWait, array: ARRAY, transfer } = NandPhase;

/**
 * The event scheduler with bus policy `arbitrate`: a channel goes to who is ready, first come first served. A die that
 * waits for its channel decides only when it gets it what it starts, so an urgent read is never behind a program that
 * was merely chosen.
 */
export class ArbitratingScheduler extends EventScheduler {
  private readonly channels: ChannelQueue;
  /** Per die: 1 while it waits for its channel. */
  private readonly waitsForBus: Uint8Array;
  /** Per die: transfers left until it is free, without a cache register. */
  private readonly transfersLeft: Int32Array;
  private readonly registers: BusRegisters;
  /** Per die: when its array is free, for data that came in early. */
  private readonly arrayFreeNs: Float64Array;
  /** Per die: array and bus time of the cache read run that it works on. */
  private readonly runArrayNs: Float64Array;
  private readonly runWaitNs: Float64Array;
  private readonly cacheRegister: boolean;

  constructor(array: NandArray, simulator: Simulator, options: EventOptions = {}) {
    super(array, simulator, options);
    const { geometry } = array;
    this.channels = new ChannelQueue(geometry.channels);
    this.waitsForBus = new Uint8Array(geometry.dies);
    this.transfersLeft = new Int32Array(geometry.dies);
    this.registers = new BusRegisters(array, this.tokens);
    this.arrayFreeNs = new Float64Array(geometry.dies);
    this.runArrayNs = new Float64Array(geometry.dies);
    this.runWaitNs = new Float64Array(geometry.dies);
    this.cacheRegister = array.config.features.cacheRegister;
    this.chainsReads = this.merges && this.cacheRegister && !this.independentReads;
  }

  get channelBusyNs(): Float64Array {
    return this.channels.busyNs;
  }

  override powerCut(): PowerCut {
    const result = super.powerCut();
    this.channels.clear();
    this.waitsForBus.fill(0);
    this.registers.clear();
    this.arrayFreeNs.fill(0);
    return result;
  }

  nandEvent(event: number, subject: number): void {
    if (event === NandEvent.arrayEnd) {
      // A suspension moves the end; the event at the old time then finds another one.
      if (this.tokens.doneNs[subject] === this.simulator.now) this.arrayEnded(subject);
    } else if (event === NandEvent.transferEnd) this.transferEnded(subject);
    else if (event === NandEvent.channelFree) this.serve(subject);
    else if (event === NandEvent.registerFree) this.registerLeft(subject);
    else if (event === NandEvent.suspended) this.suspensionBegun(subject);
    else this.askForBus(subject);
  }

  protected wake(die: number): void {
    if (this.waitsForBus[die] !== 0) return;
    if (this.select(die) === 0 && !this.mustResume(die)) return;
    this.askForBus(die);
  }

  protected requestSuspend(die: number): void {
    const start = this.tokens.arrayStartNs[this.holder[die]];
    if (start > this.simulator.now) this.sink.after(start - this.simulator.now, NandEvent.suspendCheck, die);
    else this.askForBus(die);
  }

  protected endsAt(token: Token, timeNs: number): void {
    const { tokens } = this;
    this.arrayFreeNs[tokens.die[token]] = timeNs;
    tokens.doneNs[token] = timeNs;
    this.sink.after(timeNs - this.simulator.now, NandEvent.arrayEnd, token);
  }

  protected mergesReads(token: Token, other: Token): boolean {
    const { retries, softReads } = this.tokens;
    return !this.independentReads && retries[token] + softReads[token] + retries[other] + softReads[other] === 0;
  }

  protected override select(die: number): Token {
    const token = super.select(die);
    if (token === 0 || !this.cacheRegister || !isProgram(this.tokens.kind[token])) return token;
    // A program overwrites the register that a read may still be leaving through the bus.
    return this.registers.areHeld(token) ? 0 : token;
  }

  private askForBus(die: number): void {
    if (this.waitsForBus[die] !== 0) return;
    const { channels } = this;
    const channel = this.array.geometry.channelOfDie[die];
    if (channels.busyUntilNs[channel] <= this.simulator.now && channels.isEmpty(channel)) this.grant(die, channel);
    else {
      this.waitsForBus[die] = 1;
      channels.push(channel, -1 - die);
      this.ensureWake(channel);
    }
  }

  /** The channel is this die's: it starts what is best now, if anything. */
  private grant(die: number, channel: number): void {
    if (this.suspendWanted[die] !== 0) {
      this.suspendWanted[die] = 0;
      if (this.isSuspendable(die) && this.tokens.arrayStartNs[this.holder[die]] <= this.simulator.now) {
        const stopNs = this.takeBus(channel, this.array.config.timing.shortCommandNs);
        const usableNs = this.suspendAt(die, stopNs);
        if (usableNs >= 0) this.sink.after(usableNs - this.simulator.now, NandEvent.suspended, die);
        return;
      }
    }
    const token = this.select(die);
    if (token !== 0) this.launch(token, die, channel);
    else if (this.mustResume(die)) {
      const fromNs = this.simulator.now;
      this.resumeAt(die, fromNs, this.takeBus(channel, this.array.config.timing.shortCommandNs));
    }
  }

  /** The command, and a program's data, go over the bus now. */
  private launch(token: Token, die: number, channel: number): void {
    const { tokens, service } = this;
    const arrayFree = this.arrayFreeNs[die];
    this.begin(token);
    const kind = tokens.kind[token];
    const commandNs = tokens.commandNs[token];
    const arrayNs = tokens.arrayNs[token];
    const commandEnd = this.takeBus(channel, commandNs);
    let startNs = commandEnd;
    let busyNs = arrayNs;
    if (kind === OpKind.program || kind === OpKind.cacheProgram) {
      if (arrayFree > startNs) startNs = arrayFree;
      if (kind === OpKind.cacheProgram) {
        busyNs += this.array.config.timing.tCbsyNs;
        this.sink.after(startNs + this.array.config.timing.tCbsyNs - this.simulator.now, NandEvent.registerFree, token);
      }
    } else if (kind === OpKind.copyback) {
      busyNs = tokens.sourceNs[token];
      service.rounds[token] = tokens.transferNs[token] > 0 ? 2 : 1;
    } else if (kind === OpKind.read) {
      service.rounds[token] = tokens.retries[token] + (tokens.softReads[token] > 0 ? 1 : 0);
      this.transfersLeft[die] = 0;
    } else if (kind === OpKind.readRun) {
      this.runArrayNs[die] = arrayNs;
      this.runWaitNs[die] = 0;
    }
    const endNs = startNs + busyNs;
    this.arrayFreeNs[die] = endNs;
    for (let each = token; each !== 0; each = tokens.mate[each]) {
      const phase = each * NAND_PHASES;
      tokens.phasesNs[phase + transfer] += commandNs;
      tokens.phasesNs[phase + dieWait] += startNs - commandEnd;
      if (kind !== OpKind.readRun) tokens.phasesNs[phase + ARRAY] += busyNs;
      if (kind === OpKind.read) this.transfersLeft[die]++;
      else if (kind !== OpKind.copyback && kind !== OpKind.readRun) {
        tokens.arrayStartNs[each] = startNs;
        tokens.arrayEndNs[each] = endNs;
      }
    }
    tokens.doneNs[token] = endNs;
    this.sink.after(endNs - this.simulator.now, NandEvent.arrayEnd, token);
    this.considerSuspension(die);
  }

  private arrayEnded(token: Token): void {
    const { tokens, service } = this;
    switch (tokens.kind[token]) {
      case OpKind.read:
        if (this.cacheRegister && service.rounds[token] === 0) this.intoRegister(token);
        else this.transferAll(token);
        break;
      case OpKind.readRun:
        this.intoRegister(token);
        break;
      case OpKind.copyback:
        if (service.rounds[token] > 0) this.requestTransfer(token);
        else this.changed(token);
        break;
      default:
        this.changed(token);
    }
  }

  /** A program, copyback or erase has changed the cells. */
  private changed(token: Token): void {
    const die = this.tokens.die[token];
    this.freeDie(token, die);
    if (this.array.config.timing.statusNs > 0) this.requestTransfer(token);
    else this.finishAll(token);
    this.wake(die);
  }

  private transferEnded(token: Token): void {
    const { tokens, service } = this;
    const die = tokens.die[token];
    const channel = this.array.geometry.channelOfDie[die];
    const kind = tokens.kind[token];
    if (kind === OpKind.copyback && service.rounds[token] > 0) this.copybackStep(token);
    else if (kind === OpKind.read && service.rounds[token] > 0) this.readAgain(token);
    else if (kind === OpKind.read || kind === OpKind.readRun) this.delivered(token, die);
    else this.finishAll(token);
    this.serve(channel);
  }

  /** The last byte of a page has left. */
  private delivered(token: Token, die: number): void {
    if (this.cacheRegister) this.leaveRegister(token);
    else if (this.independentReads) this.freeDie(token, die);
    else if (--this.transfersLeft[die] === 0) this.freeDie(this.holder[die], die);
    this.finishOne(token);
    this.wake(die);
  }

  /** A retry: SET FEATURES and tR; the last round may be a soft decode of several reads. */
  private readAgain(token: Token): void {
    const { tokens, service } = this;
    const soft = service.rounds[token] === 1 && tokens.softReads[token] > 0;
    service.rounds[token]--;
    const tR = tokens.arrayNs[token];
    const againNs = soft ? tokens.softReads[token] * tR : this.array.config.timing.featureNs + tR;
    tokens.phasesNs[token * NAND_PHASES + ARRAY] += againNs;
    this.endsAt(token, this.simulator.now + againNs);
  }

  private copybackStep(token: Token): void {
    const { tokens, service } = this;
    service.rounds[token]--;
    if (service.rounds[token] > 0) {
      this.requestTransfer(token);
      return;
    }
    const programNs = tokens.arrayNs[token];
    const endNs = this.simulator.now + programNs;
    tokens.phasesNs[token * NAND_PHASES + ARRAY] += programNs;
    tokens.arrayStartNs[token] = this.simulator.now;
    tokens.arrayEndNs[token] = endNs;
    this.endsAt(token, endNs);
  }

  /** Merged reads share the array phase; each transfers its own page. */
  private transferAll(token: Token): void {
    const { mate } = this.tokens;
    let each = token;
    while (each !== 0) {
      const next = mate[each];
      mate[each] = 0;
      this.requestTransfer(each);
      each = next;
    }
  }

  private requestTransfer(token: Token): void {
    const { channels, simulator } = this;
    const channel = this.array.geometry.channelOfDie[this.tokens.die[token]];
    this.service.busSinceNs[token] = simulator.now;
    if (channels.busyUntilNs[channel] <= simulator.now && channels.isEmpty(channel)) this.startTransfer(token, channel);
    else {
      channels.push(channel, token);
      this.ensureWake(channel);
    }
  }

  private startTransfer(token: Token, channel: number): void {
    const { tokens, simulator } = this;
    const lengthNs = this.transferLength(token);
    const endNs = this.takeBus(channel, lengthNs);
    for (let each = token; each !== 0; each = tokens.mate[each]) {
      const phase = each * NAND_PHASES;
      tokens.phasesNs[phase + busWait] += simulator.now - this.service.busSinceNs[token];
      tokens.phasesNs[phase + transfer] += lengthNs;
    }
    // The end of the transfer looks at the channel: no other event is needed.
    this.channels.wakeNs[channel] = endNs;
    this.sink.after(lengthNs, NandEvent.transferEnd, token);
  }

  private transferLength(token: Token): number {
    const { tokens, service } = this;
    switch (tokens.kind[token]) {
      case OpKind.read:
      case OpKind.readRun:
        return tokens.transferNs[token];
      case OpKind.copyback:
        if (service.rounds[token] === 2) return tokens.transferNs[token];
        if (service.rounds[token] === 1) return tokens.commandNs[token];
    }
    return this.array.config.timing.statusNs;
  }

  /** The page has been read: it moves to the bus-side register as soon as that is empty. */
  private intoRegister(token: Token): void {
    const { tokens, simulator } = this;
    const die = tokens.die[token];
    if (this.registers.areHeld(token)) {
      this.service.busSinceNs[token] = simulator.now;
      this.registers.queue(token, token);
      return;
    }
    this.registers.fill(token);
    if (tokens.kind[token] === OpKind.readRun) {
      const { tRcbsyNs } = this.array.config.timing;
      this.runArrayNs[die] += tRcbsyNs;
      this.sink.after(tRcbsyNs, NandEvent.registerFree, token);
      return;
    }
    this.transferAll(token);
    this.freeDie(token, die);
    this.wake(die);
  }

  private leaveRegister(token: Token): void {
    const { tokens, simulator } = this;
    const waiter = this.registers.leave(token);
    if (waiter === 0 || this.registers.areHeld(waiter)) return;
    this.registers.queue(waiter, 0);
    const waitedNs = simulator.now - this.service.busSinceNs[waiter];
    // The register waits for the bus; in a run that is part of the pipeline's history.
    if (tokens.kind[waiter] === OpKind.readRun) this.runWaitNs[tokens.die[waiter]] += waitedNs;
    else
      for (let each = waiter; each !== 0; each = tokens.mate[each])
        tokens.phasesNs[each * NAND_PHASES + dieWait] += waitedNs;
    this.intoRegister(waiter);
  }

  /** A cache program has handed its data to the array, or a cache read its page to the bus-side register. */
  private registerLeft(token: Token): void {
    const { tokens, simulator } = this;
    const die = tokens.die[token];
    if (tokens.kind[token] !== OpKind.readRun) {
      this.openDie(token);
      this.wake(die);
      return;
    }
    const phase = token * NAND_PHASES;
    const next = tokens.mate[token];
    tokens.mate[token] = 0;
    tokens.phasesNs[phase + ARRAY] += this.runArrayNs[die];
    tokens.phasesNs[phase + busWait] += this.runWaitNs[die];
    this.holder[die] = next === 0 ? token : next;
    this.requestTransfer(token);
    if (next === 0) {
      this.freeDie(token, die);
      this.wake(die);
      return;
    }
    this.runArrayNs[die] += tokens.arrayNs[next];
    this.endsAt(next, simulator.now + tokens.arrayNs[next]);
  }

  private takeBus(channel: number, lengthNs: number): number {
    const { channels } = this;
    const endNs = this.simulator.now + lengthNs;
    channels.busyUntilNs[channel] = endNs;
    channels.busyNs[channel] += lengthNs;
    if (this.trace !== null) this.trace.onBus(channel, this.simulator.now, endNs);
    return endNs;
  }

  private serve(channel: number): void {
    const { channels, simulator } = this;
    while (channels.busyUntilNs[channel] <= simulator.now && !channels.isEmpty(channel)) {
      const waiter = channels.shift(channel);
      if (waiter > 0) this.startTransfer(waiter, channel);
      else {
        this.waitsForBus[-1 - waiter] = 0;
        this.grant(-1 - waiter, channel);
      }
    }
    if (!channels.isEmpty(channel)) this.ensureWake(channel);
  }

  /** Somebody waits: makes sure that the channel is looked at when it becomes free. */
  private ensureWake(channel: number): void {
    const { channels, simulator } = this;
    const free = Math.max(channels.busyUntilNs[channel], simulator.now);
    if (channels.wakeNs[channel] === free) return;
    channels.wakeNs[channel] = free;
    this.sink.after(free - simulator.now, NandEvent.channelFree, channel);
  }
}

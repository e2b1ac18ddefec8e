import { InputError, type Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { NAND_PHASES, type Token } from './contract.js';
import { type EventOptions, EventScheduler } from './event.js';
import { NandEvent } from './event-sink.js';
import { Placement } from './placement.js';
import type { PowerCut } from './power-cut.js';
import { Stage } from './service.js';
import { OpKind } from './transactions.js';

/**
 * The event scheduler with bus policy `reserve`: when a die starts a transaction, all its phases are booked by the rules
 * of the timeline, so a read has its transfer reserved from the moment of its command.
 */
export class ReservingScheduler extends EventScheduler {
  private readonly placement: Placement;
  private readonly phasesBefore: Float64Array = new Float64Array(NAND_PHASES);

  /** @throws InputError `ERR_NAND_SUSPEND_POLL`: a booked status poll cannot be moved by a suspension. */
  constructor(array: NandArray, simulator: Simulator, options: EventOptions = {}) {
    super(array, simulator, options);
    const { timing, features } = array.config;
    if (features.suspend !== 'none' && timing.statusNs > 0) {
      const found = `bus policy reserve with suspend ${features.suspend} and statusNs ${timing.statusNs}`;
      throw new InputError('ERR_NAND_SUSPEND_POLL', `${found}: use bus policy arbitrate, or statusNs 0`, 'statusNs');
    }
    this.placement = new Placement(array, this.tokens, this.durations, simulator, options.reservations ?? 1024, false);
    this.placement.bus.trace = { onBus: (channel, start, end) => this.trace?.onBus(channel, start, end) };
  }

  get channelBusyNs(): Float64Array {
    return this.placement.bus.busyNs;
  }

  override powerCut(): PowerCut {
    const result = super.powerCut();
    this.placement.clear();
    return result;
  }

  nandEvent(event: number, subject: number): void {
    switch (event) {
      case NandEvent.done:
        // A suspension moves the end; the event at the old time then finds another one.
        if (this.tokens.doneNs[subject] === this.simulator.now) this.done(subject);
        break;
      case NandEvent.dieFree:
        this.dieLeft(subject);
        break;
      case NandEvent.registerFree:
        this.openDie(subject);
        this.wake(this.tokens.die[subject]);
        break;
      case NandEvent.suspended:
        this.placement.times.moveFree(subject, this.simulator.now);
        this.suspensionBegun(subject);
        break;
      default:
        this.trySuspend(subject);
    }
  }

  protected wake(die: number): void {
    for (let token = this.select(die); token !== 0; token = this.select(die)) this.launch(token);
    if (this.mustResume(die)) {
      const toNs = this.reserveShortCommand(die);
      this.resumeAt(die, toNs - this.array.config.timing.shortCommandNs, toNs);
    }
  }

  protected requestSuspend(die: number): void {
    const start = this.tokens.arrayStartNs[this.holder[die]];
    if (start > this.simulator.now) this.sink.after(start - this.simulator.now, NandEvent.suspendCheck, die);
    else this.trySuspend(die);
  }

  protected endsAt(token: Token, timeNs: number): void {
    const { tokens } = this;
    this.placement.times.moveFree(tokens.die[token], timeNs);
    for (let each = token; each !== 0; each = tokens.mate[each]) tokens.doneNs[each] = timeNs;
    this.sink.after(timeNs - this.simulator.now, NandEvent.done, token);
  }

  protected mergesReads(): boolean {
    return false;
  }

  private trySuspend(die: number): void {
    this.suspendWanted[die] = 0;
    if (!this.isSuspendable(die) || this.tokens.arrayStartNs[this.holder[die]] > this.simulator.now) return;
    const usableNs = this.suspendAt(die, this.reserveShortCommand(die));
    if (usableNs >= 0) this.sink.after(usableNs - this.simulator.now, NandEvent.suspended, die);
  }

  /** @returns the end of the command. */
  private reserveShortCommand(die: number): number {
    const { bus } = this.placement;
    bus.io[0] = this.simulator.now;
    bus.io[1] = this.array.config.timing.shortCommandNs;
    bus.reserve(this.array.geometry.channelOfDie[die]);
    return bus.io[2] + bus.io[1];
  }

  private launch(token: Token): void {
    const { tokens, placement, phasesBefore } = this;
    this.begin(token);
    const phase = token * NAND_PHASES;
    for (let i = 0; i < NAND_PHASES; i++) phasesBefore[i] = tokens.phasesNs[phase + i];
    // Its wait so far has been divided already.
    const readyNs = tokens.readyNs[token];
    tokens.readyNs[token] = this.simulator.now;
    placement.place(token);
    tokens.readyNs[token] = readyNs;
    const kind = tokens.kind[token];
    const freeNs = placement.times.freedNs[0];
    if (kind === OpKind.cacheProgram)
      this.sink.after(placement.times.freedNs[1] - this.simulator.now, NandEvent.registerFree, token);
    if (kind === OpKind.readRun) this.launchRun(token, freeNs);
    else {
      if (tokens.mate[token] !== 0) this.shareTimes(token);
      const done = tokens.doneNs[token];
      if (freeNs < done) this.sink.after(freeNs - this.simulator.now, NandEvent.dieFree, token);
      this.sink.after(done - this.simulator.now, NandEvent.done, token);
    }
    this.considerSuspension(tokens.die[token]);
  }

  private launchRun(token: Token, freeNs: number): void {
    const { tokens } = this;
    let last = token;
    for (let page = token; page !== 0; ) {
      const next = tokens.mate[page];
      tokens.mate[page] = 0;
      this.sink.after(tokens.doneNs[page] - this.simulator.now, NandEvent.done, page);
      last = page;
      page = next;
    }
    // The first pages end while the run still holds the die; its last one stands for it.
    this.holder[tokens.die[last]] = last;
    this.sink.after(freeNs - this.simulator.now, NandEvent.dieFree, last);
  }

  /** Commands merged into this one end with it, and spend the same time in each phase from here on. */
  private shareTimes(token: Token): void {
    const { tokens, phasesBefore } = this;
    for (let each = tokens.mate[token]; each !== 0; each = tokens.mate[each]) {
      tokens.doneNs[each] = tokens.doneNs[token];
      tokens.arrayStartNs[each] = tokens.arrayStartNs[token];
      tokens.arrayEndNs[each] = tokens.arrayEndNs[token];
      for (let i = 0; i < NAND_PHASES; i++) {
        tokens.phasesNs[each * NAND_PHASES + i] += tokens.phasesNs[token * NAND_PHASES + i] - phasesBefore[i];
      }
    }
  }

  private done(token: Token): void {
    if (this.service.stage[token] !== Stage.running) return;
    const { tokens } = this;
    const die = tokens.die[token];
    const planeRead = this.independentReads && tokens.kind[token] === OpKind.read;
    const freedNow = planeRead ? !this.array.config.features.cacheRegister : this.holder[die] === token;
    if (freedNow) this.freeDie(token, die);
    this.finishAll(token);
    this.wake(die);
  }

  private dieLeft(token: Token): void {
    const die = this.tokens.die[token];
    this.freeDie(token, die);
    this.wake(die);
  }
}

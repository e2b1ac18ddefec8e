import type { NandArray } from './array.js';
import { Bus, type NandClock } from './bus.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import { DieTimes } from './die-times.js';
import type { DurationTable } from './durations.js';
import { FlightKind, InFlight } from './in-flight.js';
import { gcClasses, type PhaseTrace } from './phase-trace.js';
import { OpKind, type Transactions } from './transactions.js';

const { dieWait, gcWait, busWait, array: ARRAY, transfer } = NandPhase;

/**
 * Places operations on buses, dies and registers in the order in which they are handed in: each phase goes to the
 * earliest time at which its resource is free, buses by gap search, everything else by a next-free time. Reads the
 * token's `readyNs`, writes its `doneNs` and phases, and lists programs and erases as in flight.
 */
export class Placement {
  readonly bus: Bus;
  readonly times: DieTimes;
  /** Operations in flight, or null if the scheduler keeps account of them itself. */
  readonly flight: InFlight | null;
  /** End of the last program placed so far: everything issued is durable then. */
  readonly lastProgramNs: Float64Array = new Float64Array(1);
  /** Arguments of `waited` and `changes`: doubles that cross a call would be boxed. */
  readonly wait: Float64Array = new Float64Array(2);
  readonly span: Float64Array = new Float64Array(3);
  private readonly tokens: Transactions;
  private readonly durations: DurationTable;
  private readonly nand: NandArray;
  private readonly channelOfDie: Int32Array;
  private readonly cacheRegister: boolean;
  private readonly statusNs: number;

  constructor(
    nand: NandArray,
    tokens: Transactions,
    durations: DurationTable,
    clock: NandClock,
    reservations: number,
    listFlight: boolean,
  ) {
    const { geometry, config } = nand;
    this.nand = nand;
    this.tokens = tokens;
    this.durations = durations;
    this.bus = new Bus(geometry.channels, reservations, clock);
    this.times = new DieTimes(nand);
    this.flight = listFlight ? new InFlight(nand, clock, this.span, this.wait) : null;
    this.channelOfDie = geometry.channelOfDie;
    this.cacheRegister = config.features.cacheRegister;
    this.statusNs = config.timing.statusNs;
  }

  /** Who is told of bookings, or null. */
  get trace(): PhaseTrace | null {
    return this.times.trace;
  }

  set trace(trace: PhaseTrace | null) {
    this.times.trace = trace;
    this.bus.trace = trace;
  }

  /** A power cut: nothing is going on any more. */
  clear(): void {
    this.bus.clear();
    this.times.clear();
    this.flight?.clear();
    this.lastProgramNs[0] = 0;
  }

  /** Places a transaction whose columns are filled. */
  place(token: Token): void {
    const kind = this.tokens.kind[token];
    if (kind === OpKind.read) this.read(token);
    else if (kind === OpKind.program || kind === OpKind.cacheProgram) this.program(token);
    else if (kind === OpKind.erase) this.erase(token);
    else if (kind === OpKind.copyback) this.copyback(token);
    else this.readRun(token);
  }

  /** Command, tR, transfer; for each retry tR and transfer again. */
  private read(token: Token): void {
    const { bus, tokens, times, span } = this;
    const { io } = bus;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const commandNs = tokens.commandNs[token];
    const arrayNs = tokens.arrayNs[token];
    const transferNs = tokens.transferNs[token];
    const channel = this.channelOfDie[die];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    times.io[0] = tokens.readyNs[token];
    times.waitToRead(die, planes);
    this.sendCommand(token, commandNs);
    const start = io[2];
    let arrayEnd = start + commandNs + arrayNs;
    if (this.cacheRegister) {
      // The page stays in the data register until the bus-side register has been emptied.
      times.io[0] = arrayEnd;
      times.waitForRegisters(die, planes);
      phases[phase + dieWait] += times.io[0] - arrayEnd;
      arrayEnd = times.io[0];
    }
    io[0] = arrayEnd;
    io[1] = transferNs;
    bus.reserve(channel);
    phases[phase + busWait] += io[2] - arrayEnd;
    phases[phase + ARRAY] += arrayNs;
    phases[phase + transfer] += commandNs + transferNs;
    if (tokens.retries[token] + tokens.softReads[token] > 0) arrayEnd = this.readAgain(token, channel);
    const done = io[2] + transferNs;
    tokens.doneNs[token] = done;
    times.io[0] = done;
    times.setRegisters(die, planes);
    times.io[0] = start;
    times.io[1] = this.cacheRegister ? arrayEnd : done;
    times.takeToRead(die, planes);
    if (gcClasses[tokens.cls[token]] !== 0) {
      span[0] = start;
      this.listRead(die);
    }
  }

  /** The further rounds of a read: SET FEATURES, tR and transfer for each retry, then a soft decode. @returns the last array end. */
  private readAgain(token: Token, channel: number): number {
    const { tokens } = this;
    const { io } = this.bus;
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const arrayNs = tokens.arrayNs[token];
    const retries = tokens.retries[token];
    const softReads = tokens.softReads[token];
    const rounds = retries + (softReads > 0 ? 1 : 0);
    let arrayEnd = 0;
    for (let round = 0; round < rounds; round++) {
      const again = round === retries ? softReads * arrayNs : this.nand.config.timing.featureNs + arrayNs;
      arrayEnd = io[2] + io[1] + again;
      io[0] = arrayEnd;
      this.bus.reserve(channel);
      phases[phase + busWait] += io[2] - arrayEnd;
      phases[phase + ARRAY] += again;
      phases[phase + transfer] += io[1];
    }
    return arrayEnd;
  }

  /** Command and data, then tPROG. A cache program frees the register for the next page's data while the array works. */
  private program(token: Token): void {
    const { bus, tokens, times, wait, span } = this;
    const { io } = bus;
    const cached = tokens.kind[token] === OpKind.cacheProgram;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const onBusNs = tokens.commandNs[token];
    const _channel = this.channelOfDie[die];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    times.io[0] = tokens.readyNs[token];
    if (times.cacheProgram[die] === 0) times.waitForDie(die);
    times.waitForRegisters(die, planes);
    this.sendCommand(token, onBusNs);
    const start = io[2];
    phases[phase + transfer] += onBusNs;
    let arrayStart = start + onBusNs;
    const free = times.dieFreeNs[die];
    if (free > arrayStart) {
      wait[0] = arrayStart;
      wait[1] = free;
      this.waited(token);
      arrayStart = free;
    }
    const busyNs = cached ? this.nand.config.timing.tCbsyNs : 0;
    const done = arrayStart + busyNs + tokens.arrayNs[token];
    phases[phase + ARRAY] += busyNs + tokens.arrayNs[token];
    times.io[0] = cached ? arrayStart + busyNs : done;
    times.setRegisters(die, planes);
    times.io[0] = start;
    times.io[1] = done;
    times.take(die);
    if (cached) times.cacheProgram[die] = 1;
    span[0] = start;
    span[1] = arrayStart;
    span[2] = done;
    this.changes(token, FlightKind.program);
  }

  /** Command, then tBERS. */
  private erase(token: Token): void {
    const { bus, tokens, times, span } = this;
    const die = tokens.die[token];
    const onBusNs = tokens.commandNs[token];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    times.io[0] = tokens.readyNs[token];
    times.waitForDie(die);
    this.sendCommand(token, onBusNs);
    const start = bus.io[2];
    const done = start + onBusNs + tokens.arrayNs[token];
    phases[phase + transfer] += onBusNs;
    phases[phase + ARRAY] += tokens.arrayNs[token];
    times.io[0] = start;
    times.io[1] = done;
    times.take(die);
    span[0] = start;
    span[1] = start + onBusNs;
    span[2] = done;
    this.changes(token, FlightKind.erase);
  }

  /** Two commands and, with a check, one transfer to the controller between them. */
  private copyback(token: Token): void {
    const { bus, tokens, times, span } = this;
    const { io } = bus;
    const die = tokens.die[token];
    const checkNs = tokens.transferNs[token];
    const channel = this.channelOfDie[die];
    const commandNs = tokens.commandNs[token];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    times.io[0] = tokens.readyNs[token];
    times.waitForDie(die);
    this.sendCommand(token, commandNs);
    const start = io[2];
    let waitNs = 0;
    let at = start + commandNs + tokens.sourceNs[token];
    if (checkNs > 0) {
      io[0] = at;
      io[1] = checkNs;
      bus.reserve(channel);
      waitNs += io[2] - at;
      at = io[2] + checkNs;
    }
    io[0] = at;
    io[1] = commandNs;
    bus.reserve(channel);
    waitNs += io[2] - at;
    const arrayStart = io[2] + commandNs;
    const done = arrayStart + tokens.arrayNs[token];
    phases[phase + busWait] += waitNs;
    phases[phase + transfer] += 2 * commandNs + checkNs;
    phases[phase + ARRAY] += tokens.sourceNs[token] + tokens.arrayNs[token];
    times.io[0] = done;
    times.setRegisters(die, tokens.planes[token]);
    times.io[0] = start;
    times.io[1] = done;
    times.take(die);
    span[0] = start;
    span[1] = arrayStart;
    span[2] = done;
    this.changes(token, FlightKind.program);
  }

  /**
   * A run of cache reads on one plane: tR of the next page overlaps the transfer of this one. The tokens are linked by
   * `mate` and share one `readyNs`.
   */
  private readRun(token: Token): void {
    const { bus, tokens, durations, times, span } = this;
    const { io } = bus;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const channel = this.channelOfDie[die];
    const { tRcbsyNs } = this.nand.config.timing;
    const first = token * NAND_PHASES;
    times.io[0] = tokens.readyNs[token];
    times.waitToRead(die, planes);
    this.sendCommand(token, durations.commandNs);
    const start = io[2];
    const waitedNs = tokens.phasesNs[first + dieWait];
    const gcNs = tokens.phasesNs[first + gcWait];
    let inArrayNs = tokens.arrayNs[token];
    let waitNs = tokens.phasesNs[first + busWait];
    let arrayEnd = start + durations.commandNs + tokens.arrayNs[token];
    times.io[0] = 0;
    times.waitForRegisters(die, planes);
    let drained = times.io[0];
    for (let page = token; page !== 0; page = tokens.mate[page]) {
      // Waiting for the register is waiting for the previous page's transfer.
      if (drained > arrayEnd) {
        waitNs += drained - arrayEnd;
        arrayEnd = drained;
      }
      const copied = arrayEnd + tRcbsyNs;
      inArrayNs += tRcbsyNs;
      io[0] = copied;
      io[1] = durations.pageTransferNs;
      bus.reserve(channel);
      drained = io[2] + durations.pageTransferNs;
      const phase = page * NAND_PHASES;
      tokens.phasesNs[phase + dieWait] = waitedNs;
      tokens.phasesNs[phase + gcWait] = gcNs;
      tokens.phasesNs[phase + busWait] = waitNs + io[2] - copied;
      tokens.phasesNs[phase + ARRAY] += inArrayNs;
      tokens.phasesNs[phase + transfer] += durations.commandNs + durations.pageTransferNs;
      tokens.doneNs[page] = drained;
      arrayEnd = copied;
      const next = tokens.mate[page];
      if (next !== 0) {
        arrayEnd += tokens.arrayNs[next];
        inArrayNs += tokens.arrayNs[next];
      }
    }
    times.io[0] = drained;
    times.setRegisters(die, planes);
    times.io[0] = start;
    times.io[1] = arrayEnd;
    times.takeToRead(die, planes);
    if (gcClasses[tokens.cls[token]] !== 0) {
      span[0] = start;
      this.listRead(die);
    }
  }

  /**
   * The die accepts a command from `times.io[0]` on: the wait until then is divided, and the bus is booked for its first
   * phase, whose start is left in `bus.io[2]`.
   */
  private sendCommand(token: Token, lengthNs: number): void {
    const { bus, tokens, wait } = this;
    const { io } = bus;
    const ready = tokens.readyNs[token];
    const from = this.times.io[0];
    if (from > ready) {
      wait[0] = ready;
      wait[1] = from;
      this.waited(token);
    }
    io[0] = from;
    io[1] = lengthNs;
    bus.reserve(this.channelOfDie[tokens.die[token]]);
    tokens.phasesNs[token * NAND_PHASES + busWait] += io[2] - from;
  }

  /** Adds a wait for the die, from `wait[0]` to `wait[1]`, to the phases: what was behind garbage collection, and the rest. */
  private waited(token: Token): void {
    const { flight, tokens, wait } = this;
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const waitNs = wait[1] - wait[0];
    if (gcClasses[tokens.cls[token]] !== 0 || flight === null) {
      phases[phase + dieWait] += waitNs;
      return;
    }
    flight.gcBetween(tokens.die[token]);
    phases[phase + gcWait] += wait[0];
    phases[phase + dieWait] += waitNs - wait[0];
  }

  /** The end of a program or erase whose times are in `span`: its status poll, if that is modelled, and the list in flight. */
  private changes(token: Token, kind: number): void {
    const { tokens, flight, span } = this;
    const die = tokens.die[token];
    const done = span[2];
    tokens.arrayStartNs[token] = span[1];
    tokens.arrayEndNs[token] = done;
    tokens.doneNs[token] = done;
    if (kind === FlightKind.program && done > this.lastProgramNs[0]) this.lastProgramNs[0] = done;
    if (this.statusNs > 0) this.poll(token, this.channelOfDie[die]);
    if (flight === null) return;
    const { geometry, busyUntilNs } = this.nand;
    const isGc = gcClasses[tokens.cls[token]];
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const address = tokens.address[i];
      flight.append(die, kind, address, tokens.undo[i], isGc);
      busyUntilNs[kind === FlightKind.erase ? address : geometry.blockOf(address)] = done;
    }
  }

  private poll(token: Token, channel: number): void {
    const { tokens, statusNs } = this;
    const { io } = this.bus;
    const phase = token * NAND_PHASES;
    io[0] = tokens.doneNs[token];
    io[1] = statusNs;
    this.bus.reserve(channel);
    tokens.phasesNs[phase + busWait] += io[2] - io[0];
    tokens.phasesNs[phase + transfer] += statusNs;
    tokens.doneNs[token] = io[2] + statusNs;
  }

  /** A read of the garbage collector, from `span[0]`, is listed too, for the waits behind it. */
  private listRead(die: number): void {
    const { flight, span } = this;
    if (flight === null) return;
    span[1] = span[0];
    span[2] = this.times.freedNs[0];
    flight.append(die, FlightKind.read, 0, 0, 1);
  }
}

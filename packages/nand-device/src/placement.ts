import type { NandArray } from './array.js';
import { Bus, type NandClock } from './bus.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import type { DurationTable } from './durations.js';
import { FlightKind, InFlight } from './in-flight.js';
import { OpKind, type Transactions } from './transactions.js';

const { dieWait, gcWait, busWait, array: ARRAY, transfer } = NandPhase;

/** Per class: 1 for work of the garbage collector, whose share of another's wait is reported apart. */
export const gcClasses = Uint8Array.from([0, 0, 0, 1, 0, 1, 1]);

/** Told of every booking; for checks, tests and charts. Nothing is called while there is none. */
export interface PhaseTrace {
  /** A channel is booked from `startNs` to `endNs`. */
  onBus(channel: number, startNs: number, endNs: number): void;
  /** A die is taken from `startNs` to `endNs`; overlapping plane reads are told as one. */
  onDie(die: number, startNs: number, endNs: number): void;
}

/**
 * Places operations on buses, dies and registers in the order in which they are handed in: each phase goes to the
 * earliest time at which its resource is free, buses by gap search, everything else by a next-free time. Reads the
 * token's `readyNs`, writes its `doneNs` and phases, and lists programs and erases as in flight.
 */
export class Placement {
  readonly bus: Bus;
  private tracer: PhaseTrace | null = null;
  /** Operations in flight, or null if the scheduler keeps account of them itself. */
  readonly flight: InFlight | null;
  /** Per die: when it accepts the next command. */
  readonly dieFreeNs: Float64Array;
  /** ns for which each die has been taken. */
  readonly dieBusyNs: Float64Array;
  /** Of the transaction placed last: when its die (or plane) and its registers are free again. */
  readonly freedNs: Float64Array = new Float64Array(2);
  /** End of the last program placed so far: everything issued is durable then. */
  readonly lastProgramNs: Float64Array = new Float64Array(1);
  /** Per unit: when its bus-side register is free, and with independent plane reads when its last read ends. */
  private readonly registerFreeNs: Float64Array;
  private readonly planeReadNs: Float64Array;
  /** Per die: end of the last independent plane read. */
  private readonly dieReadNs: Float64Array;
  /** Per die: 1 while its last operation is a cache program, which leaves the register to the next one's data. */
  private readonly cacheProgram: Uint8Array;
  private readonly tokens: Transactions;
  private readonly durations: DurationTable;
  private readonly nand: NandArray;
  private readonly cacheRegister: boolean;
  private readonly independentReads: boolean;

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
    this.bus = new Bus(geometry.channels, reservations, clock);
    this.flight = listFlight ? new InFlight(geometry.dies, clock) : null;
    this.durations = durations;
    this.dieFreeNs = new Float64Array(geometry.dies);
    this.dieBusyNs = new Float64Array(geometry.dies);
    this.registerFreeNs = new Float64Array(geometry.units);
    this.planeReadNs = new Float64Array(geometry.units);
    this.dieReadNs = new Float64Array(geometry.dies);
    this.cacheProgram = new Uint8Array(geometry.dies);
    this.cacheRegister = config.features.cacheRegister;
    this.independentReads = config.features.independentPlaneReads;
  }

  /** Places a transaction whose columns are filled. */
  place(token: Token): void {
    switch (this.tokens.kind[token]) {
      case OpKind.read:
        this.read(token);
        break;
      case OpKind.program:
      case OpKind.cacheProgram:
        this.program(token);
        break;
      case OpKind.erase:
        this.erase(token);
        break;
      case OpKind.copyback:
        this.copyback(token);
        break;
      default:
        this.readRun(token);
    }
  }

  /** Command, tR, transfer; for each retry tR and transfer again. */
  private read(token: Token): void {
    const { bus, tokens } = this;
    const io = bus.io;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const commandNs = tokens.commandNs[token];
    const arrayNs = tokens.arrayNs[token];
    const transferNs = tokens.transferNs[token];
    const retries = tokens.retries[token];
    const softReads = tokens.softReads[token];
    const cls = tokens.cls[token];
    const channel = this.nand.geometry.channelOfDie[die];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const ready = tokens.readyNs[token];
    const from = this.independentReads ? this.planesFree(die, planes, ready) : this.dieFree(die, ready);
    if (from > ready) this.waited(die, phase, ready, from, cls);
    io[0] = from;
    io[1] = commandNs;
    bus.reserve(channel);
    const start = io[2];
    let waitNs = start - from;
    let inArrayNs = arrayNs;
    let onBusNs = commandNs + transferNs;
    let arrayEnd = start + commandNs + arrayNs;
    if (this.cacheRegister) {
      // The page stays in the data register until the bus-side register has been emptied.
      const registers = this.registersFree(die, planes, arrayEnd);
      phases[phase + dieWait] += registers - arrayEnd;
      arrayEnd = registers;
    }
    io[0] = arrayEnd;
    io[1] = transferNs;
    bus.reserve(channel);
    waitNs += io[2] - arrayEnd;
    let done = io[2] + transferNs;
    const rounds = retries + (softReads > 0 ? 1 : 0);
    for (let round = 0; round < rounds; round++) {
      const soft = round === retries;
      const again = soft ? softReads * arrayNs : this.nand.config.timing.featureNs + arrayNs;
      arrayEnd = done + again;
      inArrayNs += again;
      io[0] = arrayEnd;
      bus.reserve(channel);
      waitNs += io[2] - arrayEnd;
      onBusNs += transferNs;
      done = io[2] + transferNs;
    }
    phases[phase + busWait] += waitNs;
    phases[phase + ARRAY] += inArrayNs;
    phases[phase + transfer] += onBusNs;
    tokens.doneNs[token] = done;
    const free = this.cacheRegister ? arrayEnd : done;
    this.setRegisters(die, planes, done);
    if (this.independentReads) this.readPlanes(die, planes, start, free);
    else this.take(die, start, free);
    if (gcClasses[cls] !== 0) this.listRead(die, start, free);
  }

  /** Command and data, then tPROG. A cache program frees the register for the next page's data while the array works. */
  private program(token: Token): void {
    const { bus, tokens } = this;
    const io = bus.io;
    const cached = tokens.kind[token] === OpKind.cacheProgram;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const onBusNs = tokens.commandNs[token];
    const arrayNs = tokens.arrayNs[token];
    const cls = tokens.cls[token];
    const channel = this.nand.geometry.channelOfDie[die];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const ready = tokens.readyNs[token];
    const overlap = this.cacheProgram[die] !== 0;
    const from = this.registersFree(die, planes, overlap ? ready : this.dieFree(die, ready));
    if (from > ready) this.waited(die, phase, ready, from, cls);
    io[0] = from;
    io[1] = onBusNs;
    bus.reserve(channel);
    const start = io[2];
    phases[phase + busWait] += start - from;
    phases[phase + transfer] += onBusNs;
    let arrayStart = start + onBusNs;
    const free = this.dieFreeNs[die];
    if (free > arrayStart) {
      this.waited(die, phase, arrayStart, free, cls);
      arrayStart = free;
    }
    const busyNs = cached ? this.nand.config.timing.tCbsyNs : 0;
    const done = arrayStart + busyNs + arrayNs;
    phases[phase + ARRAY] += busyNs + arrayNs;
    this.setRegisters(die, planes, cached ? arrayStart + busyNs : done);
    this.take(die, start, done);
    this.cacheProgram[die] = cached ? 1 : 0;
    if (done > this.lastProgramNs[0]) this.lastProgramNs[0] = done;
    this.poll(token, channel, done);
    this.list(token, FlightKind.program, start, arrayStart, done);
  }

  /** Command, then tBERS. */
  private erase(token: Token): void {
    const { bus, tokens } = this;
    const io = bus.io;
    const die = tokens.die[token];
    const onBusNs = tokens.commandNs[token];
    const arrayNs = tokens.arrayNs[token];
    const cls = tokens.cls[token];
    const channel = this.nand.geometry.channelOfDie[die];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const ready = tokens.readyNs[token];
    const from = this.dieFree(die, ready);
    if (from > ready) this.waited(die, phase, ready, from, cls);
    io[0] = from;
    io[1] = onBusNs;
    bus.reserve(channel);
    const start = io[2];
    const done = start + onBusNs + arrayNs;
    phases[phase + busWait] += start - from;
    phases[phase + transfer] += onBusNs;
    phases[phase + ARRAY] += arrayNs;
    this.take(die, start, done);
    this.poll(token, channel, done);
    this.list(token, FlightKind.erase, start, start + onBusNs, done);
  }

  /** Two commands and, with a check, one transfer to the controller between them. */
  private copyback(token: Token): void {
    const { bus, tokens } = this;
    const io = bus.io;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const checkNs = tokens.transferNs[token];
    const cls = tokens.cls[token];
    const channel = this.nand.geometry.channelOfDie[die];
    const commandNs = tokens.commandNs[token];
    const sourceNs = tokens.sourceNs[token];
    const programNs = tokens.arrayNs[token];
    const phase = token * NAND_PHASES;
    const phases = tokens.phasesNs;
    const ready = tokens.readyNs[token];
    const from = this.dieFree(die, ready);
    if (from > ready) this.waited(die, phase, ready, from, cls);
    io[0] = from;
    io[1] = commandNs;
    bus.reserve(channel);
    const start = io[2];
    let waitNs = start - from;
    let at = start + commandNs + sourceNs;
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
    const done = arrayStart + programNs;
    phases[phase + busWait] += waitNs;
    phases[phase + transfer] += 2 * commandNs + checkNs;
    phases[phase + ARRAY] += sourceNs + programNs;
    this.setRegisters(die, planes, done);
    this.take(die, start, done);
    if (done > this.lastProgramNs[0]) this.lastProgramNs[0] = done;
    this.poll(token, channel, done);
    this.list(token, FlightKind.program, start, arrayStart, done);
  }

  /**
   * A run of cache reads on one plane: tR of the next page overlaps the transfer of this one. The tokens are
   * linked by `mate` and share one `readyNs`.
   */
  private readRun(token: Token): void {
    const { bus, tokens, durations } = this;
    const io = bus.io;
    const die = tokens.die[token];
    const planes = tokens.planes[token];
    const cls = tokens.cls[token];
    const channel = this.nand.geometry.channelOfDie[die];
    const { tRcbsyNs } = this.nand.config.timing;
    const first = token * NAND_PHASES;
    const ready = tokens.readyNs[token];
    const from = this.independentReads ? this.planesFree(die, planes, ready) : this.dieFree(die, ready);
    if (from > ready) this.waited(die, first, ready, from, cls);
    io[0] = from;
    io[1] = durations.commandNs;
    bus.reserve(channel);
    const start = io[2];
    const waitedNs = tokens.phasesNs[first + dieWait];
    const gcNs = tokens.phasesNs[first + gcWait];
    let inArrayNs = tokens.arrayNs[token];
    let waitNs = start - from;
    let arrayEnd = start + durations.commandNs + tokens.arrayNs[token];
    let drained = this.registersFree(die, planes, 0);
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
      tokens.phasesNs[phase + busWait] += waitNs + io[2] - copied;
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
    this.setRegisters(die, planes, drained);
    if (this.independentReads) this.readPlanes(die, planes, start, arrayEnd);
    else this.take(die, start, arrayEnd);
    if (gcClasses[cls] !== 0) this.listRead(die, start, arrayEnd);
  }

  /** When the die accepts a command, at `ready` or later. */
  dieFree(die: number, ready: number): number {
    let free = this.dieFreeNs[die];
    if (this.independentReads && this.dieReadNs[die] > free) free = this.dieReadNs[die];
    return Math.max(free, ready);
  }

  /** Who is told of bookings, or null. */
  get trace(): PhaseTrace | null {
    return this.tracer;
  }

  set trace(trace: PhaseTrace | null) {
    this.tracer = trace;
    this.bus.trace = trace;
  }

  /** A power cut: nothing is going on any more. */
  clear(): void {
    this.bus.clear();
    this.flight?.clear();
    this.dieFreeNs.fill(0);
    this.registerFreeNs.fill(0);
    this.planeReadNs.fill(0);
    this.dieReadNs.fill(0);
    this.cacheProgram.fill(0);
    this.lastProgramNs[0] = 0;
  }

  /** A suspension or resumption moves the time at which the die and its registers are free. */
  moveFree(die: number, freeNs: number): void {
    this.dieFreeNs[die] = freeNs;
    const { planes } = this.nand.geometry;
    this.registerFreeNs.fill(freeNs, die * planes, (die + 1) * planes);
  }

  /** With independent plane reads: when these planes accept a read. */
  private planesFree(die: number, planes: number, ready: number): number {
    let free = Math.max(this.dieFreeNs[die], ready);
    const base = die * this.nand.geometry.planes;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0 && this.planeReadNs[base + plane] > free) free = this.planeReadNs[base + plane];
    }
    return free;
  }

  private registersFree(die: number, planes: number, ready: number): number {
    let free = ready;
    const base = die * this.nand.geometry.planes;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0 && this.registerFreeNs[base + plane] > free) free = this.registerFreeNs[base + plane];
    }
    return free;
  }

  private setRegisters(die: number, planes: number, freeNs: number): void {
    this.freedNs[1] = freeNs;
    const base = die * this.nand.geometry.planes;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0) this.registerFreeNs[base + plane] = freeNs;
    }
  }

  /** The die is taken from `start` to `free`. */
  private take(die: number, start: number, free: number): void {
    this.freedNs[0] = free;
    const before = this.dieFree(die, start);
    this.dieFreeNs[die] = free;
    this.dieBusyNs[die] += free - before;
    if (this.tracer !== null) this.tracer.onDie(die, before, free);
    this.cacheProgram[die] = 0;
  }

  private readPlanes(die: number, planes: number, start: number, free: number): void {
    const base = die * this.nand.geometry.planes;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0) this.planeReadNs[base + plane] = free;
    }
    this.freedNs[0] = free;
    const before = this.dieFree(die, start);
    if (free > before) {
      this.dieBusyNs[die] += free - before;
      if (this.tracer !== null) this.tracer.onDie(die, before, free);
      this.dieReadNs[die] = free;
    }
    this.cacheProgram[die] = 0;
  }

  /** Adds a wait for the die from `from` to `to`, split into what was behind garbage collection and the rest. */
  private waited(die: number, phase: number, from: number, to: number, cls: number): void {
    const phases = this.tokens.phasesNs;
    const { flight } = this;
    const gcNs = gcClasses[cls] !== 0 || flight === null ? 0 : flight.gcBefore(die, to) - flight.gcBefore(die, from);
    phases[phase + gcWait] += gcNs;
    phases[phase + dieWait] += to - from - gcNs;
  }

  /** The status poll, if it is modelled, ends the operation. */
  private poll(token: Token, channel: number, done: number): void {
    const { statusNs } = this.nand.config.timing;
    this.tokens.doneNs[token] = done;
    if (statusNs === 0) return;
    const { io } = this.bus;
    io[0] = done;
    io[1] = statusNs;
    this.bus.reserve(channel);
    const phase = token * NAND_PHASES;
    this.tokens.phasesNs[phase + busWait] += io[2] - done;
    this.tokens.phasesNs[phase + transfer] += statusNs;
    this.tokens.doneNs[token] = io[2] + statusNs;
  }

  /** Lists a program or erase, plane by plane, as in flight. */
  private list(token: Token, kind: number, start: number, arrayStart: number, done: number): void {
    const { flight, tokens } = this;
    const { geometry, busyUntilNs } = this.nand;
    tokens.arrayStartNs[token] = arrayStart;
    tokens.arrayEndNs[token] = done;
    if (flight === null) return;
    const die = tokens.die[token];
    const isGc = gcClasses[tokens.cls[token]] !== 0;
    const base = token * tokens.planesPerDie;
    const end = base + tokens.count[token];
    for (let i = base; i < end; i++) {
      const address = tokens.address[i];
      const entry = flight.append(die, kind, address, tokens.undo[i]);
      flight.startNs[entry] = start;
      flight.arrayNs[entry] = arrayStart;
      flight.doneNs[entry] = done;
      flight.booked(die, entry, isGc);
      busyUntilNs[kind === FlightKind.erase ? address : geometry.blockOf(address)] = done;
    }
  }

  /** A read of the garbage collector is listed too, for the waits behind it. */
  private listRead(die: number, start: number, free: number): void {
    const { flight } = this;
    if (flight === null) return;
    const entry = flight.append(die, FlightKind.read, 0, 0);
    flight.startNs[entry] = start;
    flight.doneNs[entry] = free;
    flight.booked(die, entry, true);
  }
}

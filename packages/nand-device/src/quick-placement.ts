import type { NandArray } from './array.js';
import { NAND_PHASES, NandPhase, type Token } from './contract.js';
import type { DurationTable } from './durations.js';
import { FlightKind, type InFlight } from './in-flight.js';
import { gcClasses } from './phase-trace.js';
import type { Placement } from './placement.js';
import type { Transactions } from './transactions.js';

const { dieWait, gcWait, busWait, array: ARRAY, transfer } = NandPhase;

/**
 * The commands that make up nearly all of a run, reads of one page and programs on a plain part, placed without
 * describing them as transactions first: half the work of `Placement`, by the same rules. A plain part has no cache
 * registers, independent plane reads, status polls or word-line programs, and no model of faults.
 */
export class QuickPlacement {
  private readonly nand: NandArray;
  private readonly tokens: Transactions;
  private readonly durations: DurationTable;
  private readonly placement: Placement;
  private readonly flight: InFlight;
  private readonly wait: Float64Array;
  private readonly span: Float64Array;
  private readonly dieOfBlock: Int32Array | Uint16Array | Uint8Array;
  private readonly channelOfDie: Int32Array;

  constructor(nand: NandArray, tokens: Transactions, durations: DurationTable, placement: Placement) {
    this.nand = nand;
    this.tokens = tokens;
    this.durations = durations;
    this.placement = placement;
    this.flight = placement.flight as InFlight;
    this.wait = placement.wait;
    this.span = placement.span;
    this.dieOfBlock = nand.geometry.dieOfBlock;
    this.channelOfDie = nand.geometry.channelOfDie;
  }

  /** True if these rules are all that the part needs. */
  static fits(nand: NandArray): boolean {
    const { features, timing } = nand.config;
    return (
      nand.reliability === null &&
      !features.cacheRegister &&
      !features.independentPlaneReads &&
      timing.statusNs === 0 &&
      nand.geometry.programPages === 1
    );
  }

  /** Places a read of `bytesNs` on the bus; `token` has its status and `readyNs`. */
  read(token: Token, block: number, arrayNs: number, transferNs: number, cls: number): void {
    const { placement, tokens, span } = this;
    const { bus, times } = placement;
    const { io } = bus;
    const die = this.dieOfBlock[block];
    const channel = this.channelOfDie[die];
    const { commandNs } = this.durations;
    const isGc = gcClasses[cls];
    const ready = tokens.readyNs[token];
    const from = Math.max(ready, times.dieFreeNs[die]);
    const gcNs = from > ready && isGc === 0 ? this.gcShare(die, ready, from) : 0;
    io[0] = from;
    io[1] = commandNs;
    bus.reserve(channel);
    const start = io[2];
    const arrayEnd = start + commandNs + arrayNs;
    io[0] = arrayEnd;
    io[1] = transferNs;
    bus.reserve(channel);
    const sent = io[2];
    const done = sent + transferNs;
    this.settle(
      token,
      from - ready - gcNs,
      gcNs,
      start - from + (sent - arrayEnd),
      arrayNs,
      commandNs + transferNs,
      done,
    );
    times.dieFreeNs[die] = done;
    times.dieBusyNs[die] += done - start;
    if (isGc === 0) return;
    span[0] = start;
    span[1] = start;
    span[2] = done;
    this.flight.append(die, FlightKind.read, 0, 0, 1);
  }

  /** Places a program of page `ppn`; `undo` is what a power cut would restore. */
  program(token: Token, ppn: number, block: number, undo: number, cls: number): void {
    const { durations } = this;
    const arrayNs = durations.programOfPage[this.nand.geometry.pageOf(ppn)];
    const die = this.dieOfBlock[block];
    this.book(token, die, durations.commandNs + durations.programTransferNs, arrayNs, cls);
    this.flight.append(die, FlightKind.program, ppn, undo, gcClasses[cls]);
    this.nand.busyUntilNs[block] = this.span[2];
  }

  /** The same on several planes of a die; one entry of `undo` each. */
  programPlanes(token: Token, ppns: Int32Array, count: number, undo: Int32Array, cls: number): void {
    const { durations, flight, span } = this;
    const { geometry, busyUntilNs } = this.nand;
    const arrayNs = durations.programOfPage[geometry.pageOf(ppns[0])];
    const die = this.dieOfBlock[geometry.blockOf(ppns[0])];
    this.book(token, die, durations.onBus(count, durations.commandNs + durations.programTransferNs), arrayNs, cls);
    for (let i = 0; i < count; i++) {
      flight.append(die, FlightKind.program, ppns[i], undo[i], gcClasses[cls]);
      busyUntilNs[geometry.blockOf(ppns[i])] = span[2];
    }
  }

  /**
   * Places what the garbage collector does with page `from`: a read of `transferNs` on the bus, and a program of page `ppn`
   * of the same die with its data; `undo` as in `program`. Nobody asks for the phases.
   */
  relocate(from: number, transferNs: number, ppn: number, block: number, undo: number): void {
    const { placement, durations, span } = this;
    const { bus, times } = placement;
    const { io } = bus;
    const { geometry, clock } = this.nand;
    const die = this.dieOfBlock[block];
    const channel = this.channelOfDie[die];
    const { commandNs } = durations;
    io[0] = Math.max(clock.now, times.dieFreeNs[die]);
    io[1] = commandNs;
    bus.reserve(channel);
    const start = io[2];
    io[0] = start + commandNs + durations.readOfPage[geometry.pageOf(from)];
    io[1] = transferNs;
    io[3] = commandNs + durations.programTransferNs;
    bus.reserveBoth(channel);
    const read = io[2] + transferNs;
    const sent = io[4];
    span[0] = start;
    if (sent !== read) {
      span[1] = start;
      span[2] = read;
      this.flight.append(die, FlightKind.read, 0, 0, 1);
      span[0] = sent;
    }
    span[1] = sent + commandNs + durations.programTransferNs;
    const done = span[1] + durations.programOfPage[geometry.pageOf(ppn)];
    span[2] = done;
    // The die goes from one to the other: one entry says it.
    this.flight.append(die, FlightKind.program, ppn, undo, 1);
    this.nand.busyUntilNs[block] = done;
    times.dieFreeNs[die] = done;
    times.dieBusyNs[die] += read - start + (done - sent);
    if (done > placement.lastProgramNs[0]) placement.lastProgramNs[0] = done;
  }

  /** Places a read of page `from`, and a program of page `ppn` on whatever die with its data. Nobody asks for the phases. */
  rewrite(from: number, source: number, transferNs: number, ppn: number, block: number, undo: number): void {
    const { placement, durations, span } = this;
    const { bus, times } = placement;
    const { io } = bus;
    const { geometry, clock } = this.nand;
    const { commandNs } = durations;
    const readDie = this.dieOfBlock[source];
    const readChannel = this.channelOfDie[readDie];
    io[0] = Math.max(clock.now, times.dieFreeNs[readDie]);
    io[1] = commandNs;
    bus.reserve(readChannel);
    const start = io[2];
    io[0] = start + commandNs + durations.readOfPage[geometry.pageOf(from)];
    io[1] = transferNs;
    bus.reserve(readChannel);
    const read = io[2] + transferNs;
    times.dieFreeNs[readDie] = read;
    times.dieBusyNs[readDie] += read - start;
    const die = this.dieOfBlock[block];
    io[0] = Math.max(read, times.dieFreeNs[die]);
    io[1] = commandNs + durations.programTransferNs;
    bus.reserve(this.channelOfDie[die]);
    span[0] = io[2];
    span[1] = span[0] + commandNs + durations.programTransferNs;
    const done = span[1] + durations.programOfPage[geometry.pageOf(ppn)];
    span[2] = done;
    this.flight.append(die, FlightKind.program, ppn, undo, 0);
    this.nand.busyUntilNs[block] = done;
    times.dieFreeNs[die] = done;
    times.dieBusyNs[die] += done - span[0];
    if (done > placement.lastProgramNs[0]) placement.lastProgramNs[0] = done;
  }

  /** Books a program of `onBusNs` and `arrayNs`; its times are left in `span`. */
  private book(token: Token, die: number, onBusNs: number, arrayNs: number, cls: number): void {
    const { placement, tokens, span } = this;
    const { bus, times } = placement;
    const { io } = bus;
    const ready = tokens.readyNs[token];
    const from = Math.max(ready, times.dieFreeNs[die]);
    const gcNs = from > ready && gcClasses[cls] === 0 ? this.gcShare(die, ready, from) : 0;
    io[0] = from;
    io[1] = onBusNs;
    bus.reserve(this.channelOfDie[die]);
    const start = io[2];
    const arrayStart = start + onBusNs;
    const done = arrayStart + arrayNs;
    this.settle(token, from - ready - gcNs, gcNs, start - from, arrayNs, onBusNs, done);
    times.dieFreeNs[die] = done;
    times.dieBusyNs[die] += done - start;
    if (done > placement.lastProgramNs[0]) placement.lastProgramNs[0] = done;
    span[0] = start;
    span[1] = arrayStart;
    span[2] = done;
  }

  private settle(
    token: Token,
    dieNs: number,
    gcNs: number,
    busNs: number,
    arrayNs: number,
    transferNs: number,
    doneNs: number,
  ): void {
    const { phasesNs } = this.tokens;
    const phase = token * NAND_PHASES;
    phasesNs[phase + dieWait] = dieNs;
    phasesNs[phase + gcWait] = gcNs;
    phasesNs[phase + busWait] = busNs;
    phasesNs[phase + ARRAY] = arrayNs;
    phasesNs[phase + transfer] = transferNs;
    this.tokens.doneNs[token] = doneNs;
  }

  /** The part of a wait for the die that is behind garbage collection, ns. */
  private gcShare(die: number, fromNs: number, untilNs: number): number {
    const { wait } = this;
    wait[0] = fromNs;
    wait[1] = untilNs;
    this.flight.gcBetween(die);
    return wait[0];
  }
}

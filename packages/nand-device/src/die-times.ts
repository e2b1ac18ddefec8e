import type { NandArray } from './array.js';
import type { PhaseTrace } from './phase-trace.js';

/**
 * When dies, planes and registers are free, as next-free times. Times go in and out through `io`, because doubles that
 * cross a call would be boxed.
 */
export class DieTimes {
  /** Argument and result of the methods. */
  readonly io: Float64Array = new Float64Array(2);
  /** Per die: when it accepts the next command. */
  readonly dieFreeNs: Float64Array;
  /** ns for which each die has been taken. */
  readonly dieBusyNs: Float64Array;
  /** Per die: 1 while its last operation is a cache program, which leaves the register to the next one's data. */
  readonly cacheProgram: Uint8Array;
  /** Of the transaction placed last: when its die (or plane) and its registers are free again. */
  readonly freedNs: Float64Array = new Float64Array(2);
  trace: PhaseTrace | null = null;
  /** Per unit: when its bus-side register is free, and with independent plane reads when its last read ends. */
  private readonly registerFreeNs: Float64Array;
  private readonly planeReadNs: Float64Array;
  /** Per die: end of the last independent plane read. */
  private readonly dieReadNs: Float64Array;
  private readonly planesPerDie: number;
  private readonly independentReads: boolean;
  /** Without cache registers a register is never free later than its die, and need not be followed. */
  private readonly followsRegisters: boolean;

  constructor(array: NandArray) {
    const { geometry, config } = array;
    this.dieFreeNs = new Float64Array(geometry.dies);
    this.dieBusyNs = new Float64Array(geometry.dies);
    this.cacheProgram = new Uint8Array(geometry.dies);
    this.registerFreeNs = new Float64Array(geometry.units);
    this.planeReadNs = new Float64Array(geometry.units);
    this.dieReadNs = new Float64Array(geometry.dies);
    this.planesPerDie = geometry.planes;
    this.independentReads = config.features.independentPlaneReads;
    this.followsRegisters = config.features.cacheRegister || this.independentReads;
  }

  /** Raises `io[0]` to when the die accepts a command. */
  waitForDie(die: number): void {
    const { io } = this;
    if (this.dieFreeNs[die] > io[0]) io[0] = this.dieFreeNs[die];
    if (this.independentReads && this.dieReadNs[die] > io[0]) io[0] = this.dieReadNs[die];
  }

  /** Raises `io[0]` to when the die accepts a read of these planes. */
  waitToRead(die: number, planes: number): void {
    const { io } = this;
    if (this.dieFreeNs[die] > io[0]) io[0] = this.dieFreeNs[die];
    if (!this.independentReads) return;
    const base = die * this.planesPerDie;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0 && this.planeReadNs[base + plane] > io[0]) io[0] = this.planeReadNs[base + plane];
    }
  }

  /** Raises `io[0]` to when the bus-side registers of these planes may be overwritten. */
  waitForRegisters(die: number, planes: number): void {
    if (!this.followsRegisters) return;
    const { io } = this;
    const base = die * this.planesPerDie;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0 && this.registerFreeNs[base + plane] > io[0]) io[0] = this.registerFreeNs[base + plane];
    }
  }

  /** The registers of these planes are taken until `io[0]`. */
  setRegisters(die: number, planes: number): void {
    if (!this.followsRegisters) return;
    const freeNs = this.io[0];
    this.freedNs[1] = freeNs;
    const base = die * this.planesPerDie;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0) this.registerFreeNs[base + plane] = freeNs;
    }
  }

  /** The die is taken from `io[0]` (or when it is free, if data comes in earlier) to `io[1]`. */
  take(die: number): void {
    const { io } = this;
    if (this.followsRegisters) this.waitForDie(die);
    this.freedNs[0] = io[1];
    this.dieFreeNs[die] = io[1];
    this.dieBusyNs[die] += io[1] - io[0];
    if (this.trace !== null) this.trace.onDie(die, io[0], io[1]);
    this.cacheProgram[die] = 0;
  }

  /** A read takes its planes, or without independent plane reads the whole die, from `io[0]` to `io[1]`. */
  takeToRead(die: number, planes: number): void {
    if (!this.independentReads) {
      this.take(die);
      return;
    }
    const { io } = this;
    const base = die * this.planesPerDie;
    for (let plane = 0, left = planes; left !== 0; plane++, left >>= 1) {
      if ((left & 1) !== 0) this.planeReadNs[base + plane] = io[1];
    }
    this.freedNs[0] = io[1];
    this.cacheProgram[die] = 0;
    this.waitForDie(die);
    if (io[1] <= io[0]) return;
    this.dieBusyNs[die] += io[1] - io[0];
    this.dieReadNs[die] = io[1];
    if (this.trace !== null) this.trace.onDie(die, io[0], io[1]);
  }

  /** A suspension or resumption moves the time at which the die and its registers are free. */
  moveFree(die: number, freeNs: number): void {
    this.dieFreeNs[die] = freeNs;
    this.registerFreeNs.fill(freeNs, die * this.planesPerDie, (die + 1) * this.planesPerDie);
  }

  /** Nothing is going on any more. */
  clear(): void {
    this.dieFreeNs.fill(0);
    this.registerFreeNs.fill(0);
    this.planeReadNs.fill(0);
    this.dieReadNs.fill(0);
    this.cacheProgram.fill(0);
  }
}

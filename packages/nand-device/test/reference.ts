import { NandClass, type NandConfig } from '../src/index.js';
import type { Issued } from './workout.js';

/** The placement rules written naively: plain arrays, one reservation list per channel, no shared code with the package. */
export class Reference {
  private readonly channels: [start: number, end: number][][] = [];
  private readonly die: number[] = [];
  private readonly dieReads: number[] = [];
  private readonly planeReads: number[] = [];
  private readonly register: number[] = [];
  private readonly afterCacheProgram: boolean[] = [];
  private readonly ends: number[] = [];
  private lastProgram = 0;
  /** Per die: what garbage collection has booked, and the end of the last operation that is not a read of another class. */
  private readonly gc: [number, number][][] = [];
  private readonly listedEnd: number[] = [];
  private cls = 0;
  /** Of the command placed last: its wait for a die behind garbage collection. */
  gcWait = 0;
  private now = 0;
  /** Every booked interval, by resource name. */
  readonly busy = new Map<string, [number, number][]>();

  constructor(
    private readonly config: NandConfig,
    private readonly limit: number,
  ) {
    const g = config.geometry;
    const dies = g.channels * g.ways * g.dies;
    for (let i = 0; i < g.channels; i++) this.channels.push([]);
    for (let i = 0; i < dies; i++) {
      this.die.push(0);
      this.dieReads.push(0);
      this.gc.push([]);
      this.listedEnd.push(0);
      this.afterCacheProgram.push(false);
    }
    for (let i = 0; i < dies * g.planes; i++) {
      this.register.push(0);
      this.planeReads.push(0);
    }
  }

  /** Places the next command of a log; returns when it is done. */
  place(entry: Issued): number {
    this.now = entry.atNs;
    this.cls = entry.cls;
    this.gcWait = 0;
    let ready = entry.atNs;
    for (const number of entry.after) ready = Math.max(ready, this.ends[number]);
    if (entry.fenced) ready = Math.max(ready, this.lastProgram);
    const done = this.dispatch(entry, ready);
    this.ends.push(done);
    return done;
  }

  private dispatch(entry: Issued, ready: number): number {
    const { timing: t, features: f, geometry: g } = this.config;
    const byBlock = entry.op === 'erase';
    const blocks = entry.at.map((at) => (byBlock ? at : Math.floor(at / g.pagesPerBlock)));
    const units = blocks.map((block) => Math.floor(block / g.blocksPerPlane));
    const die = Math.floor(units[0] / g.planes);
    const channel = Math.floor(die / (g.ways * g.dies));
    const k = entry.op === 'copyback' || entry.op === 'run' ? 1 : entry.at.length;
    const tR = (ppn: number) => t.readNs[this.type(ppn)];
    const tProg = (ppn: number) => t.programNs[this.type(ppn)];
    const page = this.transfer(g.pageBytes);
    switch (entry.op) {
      case 'read': {
        const slots = entry.slotMask
          .toString(2)
          .split('')
          .filter((bit) => bit === '1').length;
        const each = this.transfer(Math.ceil((slots * g.slotBytes) / f.codewordBytes) * f.codewordBytes);
        return this.read(die, channel, units, ready, k * t.commandNs + (k - 1) * t.tDbsyNs, tR(entry.at[0]), k * each);
      }
      case 'run':
        return this.run(die, channel, units[0], ready, entry.at.map(tR), page);
      case 'program':
      case 'cacheProgram': {
        const data = this.transfer(g.pageBytes + g.oobBytes);
        const onBus = k * (t.commandNs + data) + (k - 1) * t.tDbsyNs;
        const cached = entry.op === 'cacheProgram';
        return this.program(die, channel, units, ready, onBus, Math.max(...entry.at.map(tProg)), cached);
      }
      case 'erase': {
        const onBus = k * t.eraseCommandNs + (k - 1) * t.tDbsyNs;
        const c0 = this.firstGap(channel, this.waited(die, ready, this.free(die, ready)), onBus);
        return this.polled(channel, this.takeDie(die, c0, c0 + onBus + t.eraseNs));
      }
      case 'copyback': {
        const c0 = this.firstGap(channel, this.waited(die, ready, this.free(die, ready)), t.commandNs);
        let at = c0 + t.commandNs + tR(entry.at[0]);
        if (f.copybackCheck) at = this.firstGap(channel, at, page) + page;
        const c1 = this.firstGap(channel, at, t.commandNs);
        const end = this.takeDie(die, c0, c1 + t.commandNs + tProg(entry.at[1]));
        this.register[units[0]] = end;
        this.lastProgram = Math.max(this.lastProgram, end);
        return this.polled(channel, end);
      }
    }
  }

  private read(
    die: number,
    channel: number,
    units: number[],
    ready: number,
    command: number,
    tR: number,
    data: number,
  ): number {
    const { cacheRegister, independentPlaneReads } = this.config.features;
    const c0 = this.firstGap(channel, this.waited(die, ready, this.readFrom(die, units, ready)), command);
    let a1 = c0 + command + tR;
    if (cacheRegister) a1 = Math.max(a1, ...units.map((unit) => this.register[unit]));
    const done = this.firstGap(channel, a1, data) + data;
    for (const unit of units) this.register[unit] = done;
    this.endRead(die, units, c0, cacheRegister ? a1 : done, independentPlaneReads);
    return done;
  }

  private run(die: number, channel: number, unit: number, ready: number, tR: number[], data: number): number {
    const { commandNs, tRcbsyNs } = this.config.timing;
    const c0 = this.firstGap(channel, this.waited(die, ready, this.readFrom(die, [unit], ready)), commandNs);
    let a = c0 + commandNs + tR[0];
    let drain = this.register[unit];
    let y = 0;
    tR.forEach((_, i) => {
      y = Math.max(a, drain) + tRcbsyNs;
      drain = this.firstGap(channel, y, data) + data;
      if (i + 1 < tR.length) a = y + tR[i + 1];
    });
    this.register[unit] = drain;
    this.endRead(die, [unit], c0, y, this.config.features.independentPlaneReads);
    return drain;
  }

  private program(
    die: number,
    channel: number,
    units: number[],
    ready: number,
    onBus: number,
    tProg: number,
    cached: boolean,
  ): number {
    let from = Math.max(ready, ...units.map((unit) => this.register[unit]));
    if (!this.afterCacheProgram[die]) from = this.free(die, from);
    const x0 = this.firstGap(channel, this.waited(die, ready, from), onBus);
    const a0 = Math.max(x0 + onBus, this.die[die]);
    this.waited(die, x0 + onBus, a0);
    const h = cached ? a0 + this.config.timing.tCbsyNs : a0;
    const end = this.takeDie(die, x0, h + tProg);
    for (const unit of units) this.register[unit] = cached ? h : end;
    this.afterCacheProgram[die] = cached;
    this.lastProgram = Math.max(this.lastProgram, end);
    return this.polled(channel, end);
  }

  private isGc(): boolean {
    return this.cls === NandClass.gcRead || this.cls === NandClass.gcWrite || this.cls === NandClass.gcErase;
  }

  /** The command waits for its die; how much of that is behind garbage collection? */
  private waited(die: number, from: number, to: number): number {
    if (this.isGc()) return to;
    for (const [start, end] of this.gc[die]) this.gcWait += Math.max(0, Math.min(end, to) - Math.max(start, from));
    return to;
  }

  private listed(die: number, start: number, end: number): void {
    if (end <= this.listedEnd[die]) return;
    if (this.isGc()) this.gc[die].push([Math.max(start, this.listedEnd[die]), end]);
    this.listedEnd[die] = end;
  }

  private free(die: number, ready: number): number {
    return Math.max(ready, this.die[die], this.dieReads[die]);
  }

  private readFrom(die: number, units: number[], ready: number): number {
    if (!this.config.features.independentPlaneReads) return this.free(die, ready);
    return Math.max(ready, this.die[die], ...units.map((unit) => this.planeReads[unit]));
  }

  private endRead(die: number, units: number[], start: number, end: number, independent: boolean): void {
    if (!independent) {
      this.takeDie(die, start, end, this.isGc());
      return;
    }
    if (this.isGc()) this.listed(die, start, end);
    for (const unit of units) {
      this.note(`plane ${unit}`, start, end);
      this.planeReads[unit] = end;
    }
    this.dieReads[die] = Math.max(this.dieReads[die], end);
    this.afterCacheProgram[die] = false;
  }

  /** The die is taken to `end`, from `start` or, if data came in early, from when it was free. */
  private takeDie(die: number, start: number, end: number, listed = true): number {
    if (listed) this.listed(die, start, end);
    this.note(`die ${die}`, Math.max(start, this.die[die]), end);
    this.die[die] = end;
    this.afterCacheProgram[die] = false;
    return end;
  }

  private polled(channel: number, end: number): number {
    const { statusNs } = this.config.timing;
    return statusNs === 0 ? end : this.firstGap(channel, end, statusNs) + statusNs;
  }

  private firstGap(channel: number, earliest: number, length: number): number {
    const list = this.channels[channel].filter(([, end]) => end > this.now);
    let at = earliest;
    for (const [start, end] of list) if (start - at < length) at = Math.max(at, end);
    list.push([at, at + length]);
    list.sort((a, b) => a[0] - b[0]);
    // Adjoining reservations count as one.
    const merged: [number, number][] = [];
    for (const [start, end] of list) {
      const last = merged.at(-1);
      if (last !== undefined && last[1] === start) last[1] = end;
      else merged.push([start, end]);
    }
    // More than can be remembered: the smallest gaps are given up.
    const kept = merged.length > this.limit ? Math.max(1, Math.floor((3 * this.limit) / 4)) : merged.length;
    while (merged.length > kept) {
      const gaps = merged.slice(1).map(([start], i) => start - merged[i][1]);
      const smallest = gaps.indexOf(Math.min(...gaps));
      const [[, end]] = merged.splice(smallest + 1, 1);
      merged[smallest][1] = end;
    }
    this.channels[channel] = merged;
    this.note(`channel ${channel}`, at, at + length);
    return at;
  }

  private note(resource: string, start: number, end: number): void {
    const list = this.busy.get(resource) ?? [];
    this.busy.set(resource, list);
    list.push([start, end]);
  }

  private transfer(bytes: number): number {
    return Math.ceil((bytes * 1e9) / this.config.timing.channelBytesPerSec);
  }

  private type(ppn: number): number {
    const page = ppn % this.config.geometry.pagesPerBlock;
    return page % this.config.geometry.cellBits;
  }
}

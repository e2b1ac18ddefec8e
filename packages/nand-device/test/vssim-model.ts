import type { NandConfig, VssimDelays } from '../src/index.js';
import type { Issued } from './workout.js';

interface Command {
  readonly kind: 'read' | 'write' | 'erase';
  readonly channel: number;
  readonly startNs: number;
  registerNs: number;
  doneNs: number;
}

/**
 * The delay model of VSSIM written naively: one command after the other, in order of issue, as a single thread would,
 * with a list of everything that has been started. No code is shared with the package.
 */
export class VssimModel {
  private readonly started: Command[] = [];
  /** By chip or plane: what it did last. */
  private readonly last = new Map<number, Command>();

  constructor(
    private readonly config: NandConfig,
    private readonly delays: VssimDelays,
  ) {}

  /** When each command of a log is done. */
  run(log: readonly Issued[]): number[] {
    for (const entry of log) this.start(entry);
    return this.started.map(({ doneNs }) => doneNs);
  }

  private start(entry: Issued): void {
    const { geometry: g, timing: t } = this.config;
    const { switchReadNs, switchWriteNs, registerReadNs, registerWriteNs, parallel } = this.delays;
    const block = entry.op === 'erase' ? entry.at[0] : Math.floor(entry.at[0] / g.pagesPerBlock);
    const page = entry.at[0] % g.pagesPerBlock;
    const plane = Math.floor(block / g.blocksPerPlane);
    const chip = Math.floor(plane / g.planes);
    const channel = Math.floor(chip / (g.ways * g.dies));
    const target = parallel === 'plane' ? plane : chip;

    // Issued, all inputs done, everything before started, the target idle.
    let at = entry.atNs;
    for (const number of entry.after) at = Math.max(at, this.started[number].doneNs);
    if (entry.fenced) for (const other of this.started) if (other.kind === 'write') at = Math.max(at, other.doneNs);
    for (const other of this.started) at = Math.max(at, other.startNs);
    const before = this.last.get(target);
    if (before !== undefined) at = Math.max(at, before.doneNs);
    if (entry.op !== 'erase') at = Math.max(at, this.switched(channel));

    let registerNs = 0;
    let doneNs = at + t.eraseNs;
    const type = page % g.cellBits;
    if (entry.op === 'read') {
      const free = this.started.filter((other) => other.channel === channel && other.kind !== 'erase');
      registerNs = at + switchReadNs + t.readNs[type];
      for (const other of free) {
        const length = other.kind === 'read' ? registerReadNs : registerWriteNs;
        registerNs = Math.max(registerNs, other.registerNs + length);
      }
      doneNs = registerNs + registerReadNs;
    } else if (entry.op === 'program') {
      registerNs = at + switchWriteNs;
      doneNs = registerNs + registerWriteNs + t.programNs[type];
      for (const other of this.started) {
        if (other.kind !== 'read' || other.channel !== channel || other.registerNs <= registerNs) continue;
        other.registerNs += registerWriteNs;
        other.doneNs += registerWriteNs;
      }
    }
    const kind = entry.op === 'read' ? 'read' : entry.op === 'erase' ? 'erase' : 'write';
    const command: Command = { kind, channel, startNs: at, registerNs, doneNs };
    this.started.push(command);
    this.last.set(target, command);
  }

  /** From when on a page command on this channel may follow the last page command. */
  private switched(channel: number): number {
    const pages = this.started.filter(({ kind }) => kind !== 'erase');
    const last = pages.at(-1);
    if (last === undefined || last.channel === channel) return 0;
    return last.startNs + (last.kind === 'read' ? this.delays.switchReadNs : this.delays.switchWriteNs);
  }
}

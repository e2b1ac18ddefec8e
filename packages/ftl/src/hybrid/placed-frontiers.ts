import { PADDING_LPN, type Token } from '@flashstack/nand-device';
import { BlockState } from '../block-table.js';
import { Frontiers } from '../frontier.js';
import type { FrontierParts } from '../frontier-parts.js';
import { FROM_HOST } from '../slot-contents.js';
import type { HybridLayout } from './layout.js';
import type { LogMap } from './log-map.js';

/** What a block of a hybrid scheme is used for. */
export const Role = {
  none: 0,
  /** Data block of a logical block: each offset at its place. */
  data: 1,
  log: 2,
  /** Pages of the trim map. */
  meta: 3,
  /** Failed, or left by a power cut: to be emptied. What is valid in it is in the log map. */
  stray: 4,
} as const;

/** Frontiers that know at which position of its block the next slot goes, and keep the log map. */
export class PlacedFrontiers extends Frontiers {
  /** `Role` per block. */
  readonly role: Uint8Array;
  private readonly map: LogMap;
  private readonly layout: HybridLayout;

  constructor(parts: FrontierParts, map: LogMap, layout: HybridLayout) {
    super(parts);
    this.map = map;
    this.layout = layout;
    this.role = new Uint8Array(parts.table.blocks);
  }

  override append(f: number, lpn: number, origin: number, from: number, job: number, after: Token): void {
    const { role } = this;
    const wasLogged = from < 0 || role[this.blockOf(from)] !== Role.data;
    super.append(f, lpn, origin, from, job, after);
    if (lpn >= this.layout.logicalSlots) return;
    // Not in the block of `f` if the program failed at once.
    const psn = this.l2p[lpn];
    if (psn >= 0 && role[this.blockOf(psn)] !== Role.data) this.map.set(this.layout.keyOf(lpn), psn);
    else if (wasLogged) this.map.delete(this.layout.keyOf(lpn));
  }

  /** Position of the slot that the open frontier `f` takes next. */
  positionAt(f: number): number {
    return this.table.slotsPerBlock - this.roomLeft(f);
  }

  /** Puts padding into the next slot of the open frontier `f`. */
  padSlot(f: number): void {
    const psn = this.simple ? this.nextSlot(f) : this.nextPsn(f);
    this.lpnOf[psn] = PADDING_LPN;
    this.originOf[psn] = 0;
    this.contents?.pad(psn);
    this.stats.padding++;
    if (this.simple) this.programSlot(f, psn, FROM_HOST, -1, 0, -1);
    else this.collect(f, psn, FROM_HOST, -1, 0, -1);
  }

  /** Frontier `f` goes on at `position`, the beginning of a program unit, of a closed block. */
  resumeAt(f: number, block: number, position: number): void {
    this.table.state[block] = BlockState.open;
    if (this.simple) {
      this.resume(f, block, position);
      return;
    }
    const { programPages, slotsPerPage } = this.array.geometry;
    const perRow = this.table.width[block] * programPages * slotsPerPage;
    const row = Math.floor(position / perRow);
    this.resume(f, block, row);
    this.unitStart[f] = (position - row * perRow) / (programPages * slotsPerPage);
    this.beginUnit(f, block);
  }
}

import type { NandArray, Token } from '@flashstack/nand-device';

/** Whose slots are at risk: it keeps blocks from being erased. */
interface RiskOwner {
  blockOf(psn: number): number;
  /** The block of slot `older` must not be erased before program `token` is durable. */
  guard(older: number, token: Token): void;
  /** One slot less needs the superseded data in `block`. */
  unhold(block: number): void;
}

/**
 * Slots in pages that a power cut could still destroy, because an upper page of their word line has yet to be programmed
 * (paired-page loss of MLC and TLC parts). What such a slot supersedes must not be erased before the page is safe: not
 * before the last page of the word line is issued, nor while a program of the word line is in flight.
 *
 * A program endangers only pages of its own blocks, so the slots are listed by program unit of a row: unit `u` begins
 * with member `u` of the frontier's block.
 */
export class PairedPageRisks {
  /** Per page of a block: the page whose program makes it safe. */
  private readonly safeAfter: Int32Array;
  /** Most slots at risk in one member of a block. */
  private readonly stride: number;
  private readonly members: number;
  /** Slots that those at risk supersede, from `(f * members + unit) * stride` on. */
  private readonly older: Int32Array;
  private readonly until: Int32Array;
  private readonly count: Int32Array;
  /** Per frontier: last page that must be programmed before all its data is safe. */
  private readonly exposedUntil: Int32Array;

  private constructor(safeAfter: Int32Array, frontiers: number, members: number, slotsPerPage: number) {
    this.safeAfter = safeAfter;
    this.stride = (pairingDistance(safeAfter) + 2) * slotsPerPage;
    this.members = members;
    this.older = new Int32Array(frontiers * members * this.stride);
    this.until = new Int32Array(frontiers * members * this.stride);
    this.count = new Int32Array(frontiers * members);
    this.exposedUntil = new Int32Array(frontiers).fill(-1);
  }

  /** Null if the part has no paired pages, programs whole word lines, or never loses a lower page. */
  static of(array: NandArray, frontiers: number, members: number): PairedPageRisks | null {
    const safeAfter = safePages(array);
    if (pairingDistance(safeAfter) === 0) return null;
    return new PairedPageRisks(safeAfter, frontiers, members, array.geometry.slotsPerPage);
  }

  /** A slot with data was programmed in `page`; `older`: the slot that it supersedes, or −1. */
  add(f: number, unit: number, page: number, older: number, owner: RiskOwner): void {
    const until = this.safeAfter[page];
    if (until === page) {
      if (older >= 0) owner.unhold(owner.blockOf(older));
      return;
    }
    if (until > this.exposedUntil[f]) this.exposedUntil[f] = until;
    if (older < 0) return;
    const list = f * this.members + unit;
    const at = list * this.stride + this.count[list]++;
    this.older[at] = older;
    this.until[at] = until;
  }

  /** `token` programs `page` of a unit: torn, it destroys earlier pages of its word line; then none is left to do so. */
  programmed(f: number, unit: number, page: number, token: Token, owner: RiskOwner): void {
    const list = f * this.members + unit;
    const from = list * this.stride;
    const until = this.safeAfter[page];
    const total = this.count[list];
    let kept = 0;
    for (let at = from; at < from + total; at++) {
      const older = this.older[at];
      if (this.until[at] === until) {
        owner.guard(older, token);
        if (until === page) {
          owner.unhold(owner.blockOf(older));
          continue;
        }
      }
      this.older[from + kept] = older;
      this.until[from + kept++] = this.until[at];
    }
    this.count[list] = kept;
  }

  /** Frontier `f` programs no more pages of its block. */
  leave(f: number, owner: RiskOwner): void {
    for (let list = f * this.members; list < (f + 1) * this.members; list++) {
      const from = list * this.stride;
      for (let at = from; at < from + this.count[list]; at++) owner.unhold(owner.blockOf(this.older[at]));
      this.count[list] = 0;
    }
    this.exposedUntil[f] = -1;
  }

  /** True if data of the frontier's block is at risk while `row` is the next page to be programmed. */
  exposed(f: number, row: number): boolean {
    return this.exposedUntil[f] >= row;
  }

  holds(f: number, block: number, owner: RiskOwner): boolean {
    for (let list = f * this.members; list < (f + 1) * this.members; list++) {
      const from = list * this.stride;
      for (let at = from; at < from + this.count[list]; at++) {
        if (owner.blockOf(this.older[at]) === block) return true;
      }
    }
    return false;
  }

  clear(): void {
    this.count.fill(0);
    this.exposedUntil.fill(-1);
  }
}

/** Per page of a block: the page whose program makes it safe from a torn upper page; itself if it never is at risk. */
export function safePages(array: NandArray): Int32Array {
  const { geometry, config } = array;
  const safe = Int32Array.from({ length: geometry.pagesPerBlock }, (_, page) => page);
  if (config.geometry.cellBits === 1 || geometry.programPages > 1 || config.features.pairedLost === 0) return safe;
  const lastOfLine = new Map<number, number>();
  for (const page of safe) lastOfLine.set(geometry.wordLine[page], page);
  return safe.map((page) => lastOfLine.get(geometry.wordLine[page]) as number);
}

/** Pages that one may lie before the page that makes it safe; 0: none is ever at risk. */
export function pairingDistance(safe: Int32Array): number {
  return safe.reduce((most, after, page) => Math.max(most, after - page), 0);
}

/** Slots that settling a frontier may cost at most: the rest of a program unit, and pages until none is at risk. */
export function mostPadding(array: NandArray, members: number, unitSlots: number): number {
  return unitSlots - 1 + pairingDistance(safePages(array)) * members * array.geometry.slotsPerPage;
}

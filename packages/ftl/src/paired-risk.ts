import type { NandArray } from '@flashstack/nand-device';

/** Told when a superseded block is no longer needed by a slot at risk. */
interface Unholder {
  unhold(block: number): void;
}

/**
 * Slots in pages that a power cut could still destroy, because an upper page of their word line has yet to be programmed
 * (paired-page loss of MLC and TLC parts). What such a slot supersedes must not be erased before the page is safe.
 */
export class PairedPageRisks {
  /** Per page of a block: the page whose program makes it safe. */
  private readonly safeAfter: Int32Array;
  /** Most pages between a page and the one that makes it safe. */
  readonly distance: number;
  private readonly size: number;
  private readonly held: Int32Array;
  private readonly until: Int32Array;
  private readonly head: Int32Array;
  private readonly count: Int32Array;
  /** Per frontier: last page that must be programmed before all its data is safe. */
  private readonly exposedUntil: Int32Array;

  private constructor(safeAfter: Int32Array, frontiers: number, distance: number, rowSlots: number) {
    const size = (distance + 2) * rowSlots;
    this.safeAfter = safeAfter;
    this.distance = distance;
    this.size = size;
    this.held = new Int32Array(frontiers * size);
    this.until = new Int32Array(frontiers * size);
    this.head = new Int32Array(frontiers);
    this.count = new Int32Array(frontiers);
    this.exposedUntil = new Int32Array(frontiers).fill(-1);
  }

  /** Null if the part has no paired pages, programs whole word lines, or never loses a lower page. */
  static of(array: NandArray, frontiers: number, rowSlots: number): PairedPageRisks | null {
    const safeAfter = safePages(array);
    const distance = pairingDistance(safeAfter);
    return distance === 0 ? null : new PairedPageRisks(safeAfter, frontiers, distance, rowSlots);
  }

  /** A slot with data was programmed in `page`; `held`: the block it supersedes data of, or −1. */
  add(f: number, page: number, held: number, owner: Unholder): void {
    const until = this.safeAfter[page];
    if (until === page) {
      if (held >= 0) owner.unhold(held);
      return;
    }
    if (until > this.exposedUntil[f]) this.exposedUntil[f] = until;
    if (held < 0) return;
    const at = f * this.size + ((this.head[f] + this.count[f]++) % this.size);
    this.held[at] = held;
    this.until[at] = until;
  }

  /** All pages before `row` have been issued: entries that they make safe are released. */
  release(f: number, row: number, owner: Unholder): void {
    const from = f * this.size;
    let kept = 0;
    const total = this.count[f];
    const first = this.head[f];
    for (let i = 0; i < total; i++) {
      const at = from + ((first + i) % this.size);
      if (this.until[at] >= row) {
        const to = from + ((first + kept++) % this.size);
        this.held[to] = this.held[at];
        this.until[to] = this.until[at];
        continue;
      }
      this.count[f] = kept;
      owner.unhold(this.held[at]);
    }
    this.count[f] = kept;
    if (this.exposedUntil[f] < row) this.exposedUntil[f] = -1;
  }

  /** True if data of the frontier's block is at risk while `row` is the next page to be programmed. */
  exposed(f: number, row: number): boolean {
    return this.exposedUntil[f] >= row;
  }

  holds(f: number, block: number): boolean {
    for (let i = 0; i < this.count[f]; i++) {
      if (this.held[f * this.size + ((this.head[f] + i) % this.size)] === block) return true;
    }
    return false;
  }

  clear(): void {
    this.count.fill(0);
    this.head.fill(0);
    this.exposedUntil.fill(-1);
  }
}

/** Per page of a block: the page whose program makes it safe from a torn upper page; itself if it never is at risk. */
function safePages(array: NandArray): Int32Array {
  const { geometry, config } = array;
  const safe = Int32Array.from({ length: geometry.pagesPerBlock }, (_, page) => page);
  if (config.geometry.cellBits === 1 || geometry.programPages > 1 || config.features.pairedLost === 0) return safe;
  const lastOfLine = new Map<number, number>();
  for (const page of safe) lastOfLine.set(geometry.wordLine[page], page);
  return safe.map((page) => lastOfLine.get(geometry.wordLine[page]) as number);
}

function pairingDistance(safe: Int32Array): number {
  return safe.reduce((most, after, page) => Math.max(most, after - page), 0);
}

/** Slots that settling a frontier may cost at most: the rest of a program unit, and pages until none is at risk. */
export function mostPadding(array: NandArray, members: number, unitSlots: number): number {
  return unitSlots - 1 + pairingDistance(safePages(array)) * members * array.geometry.slotsPerPage;
}

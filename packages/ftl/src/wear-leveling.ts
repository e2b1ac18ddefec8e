import type { RandomStream } from '@flashstack/sim';
import { BlockState, type BlockTable } from './block-table.js';
import { MoveReason } from './stats.js';
import type { ResolvedWearLevelling } from './wear-options.js';

/** Static wear levelling: names blocks whose data should move so that their erase count catches up. */
export interface StaticWearLeveling {
  /** A block was erased; `target` is given the closed blocks that should be emptied. */
  erased(block: number, target: WearTarget): void;
}

/** Takes blocks whose data should move. */
interface WearTarget {
  require(block: number, reason: number): void;
}

/**
 * Moves the coldest data when erase counts of a domain differ by `delta` or more: the closed block with the fewest
 * erases is emptied, at most once per `interval` erases.
 */
class ThresholdLeveling implements StaticWearLeveling {
  private readonly table: BlockTable;
  private readonly delta: number;
  private readonly interval: number;
  private readonly erases: Int32Array;

  constructor(table: BlockTable, delta: number, interval: number) {
    this.table = table;
    this.delta = delta;
    this.interval = interval;
    this.erases = new Int32Array(table.domains);
  }

  erased(block: number, target: WearTarget): void {
    const { table } = this;
    const domain = table.domainOf(block);
    if (++this.erases[domain] < this.interval) return;
    this.erases[domain] = 0;
    const from = domain * table.blocksPerDomain;
    let most = 0;
    let least = Number.MAX_SAFE_INTEGER;
    let coldest = -1;
    for (let other = from; other < from + table.blocksPerDomain; other++) {
      if (table.state[other] === BlockState.bad) continue;
      const count = table.eraseCount[other];
      if (count > most) most = count;
      if (table.state[other] === BlockState.closed && count < least) {
        least = count;
        coldest = other;
      }
    }
    if (coldest >= 0 && most - least >= this.delta) target.require(coldest, MoveReason.wearLevelling);
  }
}

/**
 * Block erasing table (Chang, Hsieh and Kuo, "Endurance Enhancement of Flash-Memory Storage Systems: An Efficient Static
 * Wear Leveling Design", 2007): a flag per set of 2^k blocks is set by an erase. When erases per set flag reach the
 * threshold, blocks of sets without a flag are emptied, in cyclic order from a random start.
 */
class BlockErasingTable implements StaticWearLeveling {
  private readonly table: BlockTable;
  private readonly k: number;
  private readonly threshold: number;
  private readonly random: RandomStream;
  private readonly flags: Uint8Array;
  private erases = 0;
  private set = 0;
  private pointer = 0;

  constructor(table: BlockTable, k: number, threshold: number, random: RandomStream) {
    this.table = table;
    this.k = k;
    this.threshold = threshold;
    this.random = random;
    this.flags = new Uint8Array(Math.ceil(table.blocks / 2 ** k));
  }

  erased(block: number, target: WearTarget): void {
    this.erases++;
    this.mark(block >> this.k);
    if (this.set === this.flags.length) this.restart();
    if (this.set === 0 || this.erases / this.set < this.threshold) return;
    const { flags } = this;
    for (let i = 0; i < flags.length; i++) {
      const flag = (this.pointer + i) % flags.length;
      if (flags[flag] !== 0) continue;
      this.pointer = flag;
      // The erases that follow come back here until enough flags are set. A set without data that could move is done.
      if (this.collect(flag, target)) return;
      this.mark(flag);
    }
  }

  private mark(flag: number): void {
    if (this.flags[flag] !== 0) return;
    this.flags[flag] = 1;
    this.set++;
  }

  private restart(): void {
    this.flags.fill(0);
    this.erases = 0;
    this.set = 0;
    this.pointer = this.random.below(this.flags.length);
  }

  /** Gives up every closed block of a set; false if there is none. */
  private collect(flag: number, target: WearTarget): boolean {
    const { table } = this;
    const end = Math.min((flag + 1) << this.k, table.blocks);
    let found = false;
    for (let block = flag << this.k; block < end; block++) {
      if (table.state[block] !== BlockState.closed) continue;
      target.require(block, MoveReason.wearLevelling);
      found = true;
    }
    return found;
  }
}

/** The wear levelling that options ask for; null for none. */
export function staticWearLeveling(
  choice: ResolvedWearLevelling,
  table: BlockTable,
  random: RandomStream,
): StaticWearLeveling | null {
  if (choice.kind === 'threshold') return new ThresholdLeveling(table, choice.delta, choice.interval);
  if (choice.kind === 'bet') return new BlockErasingTable(table, choice.k, choice.threshold, random);
  return null;
}

import { exp, log, type RandomStream } from '@flashstack/sim';
import {
  dChoicesMeanField,
  fifoHotColdWriteAmplification,
  greedyLeastValid,
  type PopularityClass,
} from './analytic.js';

/** What the blocks of one domain hold in steady state: valid slots of class k of block b at `b * classes + k`. */
export type ClassCounts = Int32Array;

/** A domain in steady state: `blocks` closed blocks of `capacity` slots hold `data[k]` slots of class k. */
export interface StationaryDomain {
  readonly blocks: number;
  readonly capacity: number;
  readonly data: readonly number[];
}

/**
 * Greedy under uniform writes: as many blocks per unit of valid count i as 1/i, from X0 to the full block (the flow of
 * blocks from i to i − 1 valid slots is the same everywhere). Blocks in order of closing, emptiest first.
 */
export function greedyCounts(domain: StationaryDomain): ClassCounts {
  const { blocks, capacity, data } = domain;
  const least = greedyLeastValid((blocks * capacity) / data[0], capacity) - 0.5;
  const span = log((capacity + 0.5) / least);
  const counts = Int32Array.from({ length: blocks }, (_, block) =>
    Math.round(least * exp(((block + 0.5) / blocks) * span)),
  );
  return fixSum(counts, 1, 0, domain);
}

/** d-choices and random under uniform writes: the mean field, in random order of closing. */
export function dChoicesCounts(domain: StationaryDomain, d: number, random: RandomStream): ClassCounts {
  const { blocks, capacity, data } = domain;
  const { shares } = dChoicesMeanField((blocks * capacity) / data[0], capacity, d);
  const counts = new Int32Array(blocks);
  let valid = 0;
  let upTo = shares[0];
  for (let block = 0; block < blocks; block++) {
    while (valid < capacity && upTo < (block + 0.5) / blocks) upTo += shares[++valid];
    counts[block] = valid;
  }
  shuffle(counts, 0, blocks, random);
  return fixSum(counts, 1, 0, domain);
}

/**
 * FIFO with classes of popularity mixed in one frontier: a block that was closed j blocks ago has kept exp(−rate · age)
 * of what it was written with. Blocks in order of closing, oldest first.
 */
export function fifoCounts(
  domain: StationaryDomain,
  classes: readonly PopularityClass[],
  random: RandomStream,
): ClassCounts {
  const { blocks, capacity, data } = domain;
  const total = data.reduce((a, b) => a + b, 0);
  const alpha = (blocks * capacity) / total;
  const a = fifoHotColdWriteAmplification(alpha, classes);
  const counts = new Int32Array(blocks * classes.length);
  classes.forEach((kind, k) => {
    const rate = kind.writes / kind.slots;
    const written = (kind.writes / (1 - exp((-rate * alpha) / a)) / a) * capacity;
    for (let block = 0; block < blocks; block++) {
      const age = ((blocks - block - 0.5) * capacity) / (a * total);
      counts[block * classes.length + k] = Math.floor(written * exp(-rate * age) + random.nextFloat());
    }
    fixSum(counts, classes.length, k, domain);
  });
  return counts;
}

/** Exchanges the entries of list[from … to) at random. */
export function shuffle(list: Int32Array, from: number, to: number, random: RandomStream): void {
  for (let i = to - 1; i > from; i--) {
    const j = from + random.below(i - from + 1);
    const other = list[i];
    list[i] = list[j];
    list[j] = other;
  }
}

/** Rounding and the approximation leave a small error of the sum: spread it evenly over blocks that can take it. */
function fixSum(counts: ClassCounts, classes: number, k: number, domain: StationaryDomain): ClassCounts {
  const { blocks, capacity, data } = domain;
  let error = data[k];
  for (let block = 0; block < blocks; block++) error -= counts[block * classes + k];
  const stride = Math.max(1, Math.floor(blocks / (Math.abs(error) + 1)));
  for (let offset = 0, block = 0; error !== 0; block += stride) {
    if (block >= blocks) {
      offset = (offset + 1) % stride;
      block = offset;
    }
    let valid = 0;
    for (let other = 0; other < classes; other++) valid += counts[block * classes + other];
    if (error > 0 && valid < capacity) {
      counts[block * classes + k]++;
      error--;
    } else if (error < 0 && counts[block * classes + k] > 0) {
      counts[block * classes + k]--;
      error++;
    }
  }
  return counts;
}

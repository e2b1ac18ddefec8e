import type { RandomStream } from '@flashstack/sim';
import { ReplayError, ReplayErrorCode } from './replay-error.js';

/** One size of a mix and the share of the requests that have it. */
export interface RequestSize {
  readonly bytes: number;
  /** Share of the requests; those of a mix add up to 1. */
  readonly share: number;
}

/** Draws request sizes from a mix. */
export class RequestSizes {
  /** Least and greatest size of the mix. */
  readonly least: number;
  readonly greatest: number;
  private readonly bytes: Float64Array;
  private readonly upTo: Float64Array;

  /** @throws ReplayError if a size or share is impossible, or the shares do not add up to 1. */
  constructor(sizes: readonly RequestSize[]) {
    if (sizes.length === 0) throw wrong('name at least one size', 'none');
    let sum = 0;
    for (const { bytes, share } of sizes) {
      if (!Number.isSafeInteger(bytes) || bytes < 1) throw wrong('be whole numbers of bytes of at least 1', bytes);
      if (!(share >= 0 && share <= 1)) throw wrong('have shares from 0 to 1', share);
      sum += share;
    }
    if (Math.abs(sum - 1) > 1e-9) throw wrong('have shares that add up to 1', sum);
    this.bytes = Float64Array.from(sizes, (size) => size.bytes);
    let upTo = 0;
    this.upTo = Float64Array.from(sizes, (size) => {
      upTo += size.share;
      return upTo;
    });
    this.least = Math.min(...this.bytes);
    this.greatest = Math.max(...this.bytes);
  }

  /** The next size, in bytes. */
  next(random: RandomStream): number {
    const drawn = random.nextFloat();
    const last = this.upTo.length - 1;
    let i = 0;
    while (i < last && drawn >= this.upTo[i]) i++;
    return this.bytes[i];
  }
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2 };

/**
 * A mix written as fio's `bssplit` writes it: `4k/60:16k/30:64k/10`, sizes with k or m (powers of 1024) and per cent.
 * Sizes without a percentage share what is left.
 * @throws ReplayError if it cannot be read.
 */
export function parseSizes(text: string): RequestSize[] {
  const parts = text.split(':').map((part) => {
    const found = /^(\d+)([km]?)(?:\/(\d+(?:\.\d+)?))?$/i.exec(part.trim());
    if (found === null) throw wrong('look like 4k/60:16k/30:64k/10', `"${text}"`);
    const share = found[3] === undefined ? null : Number(found[3]) / 100;
    return { bytes: Number(found[1]) * units[found[2].toLowerCase()], share };
  });
  const given = parts.reduce((sum, part) => sum + (part.share ?? 0), 0);
  const open = parts.filter((part) => part.share === null).length;
  return parts.map(({ bytes, share }) => ({ bytes, share: share ?? (1 - given) / open }));
}

function wrong(expected: string, found: unknown): ReplayError {
  return new ReplayError(ReplayErrorCode.option, `sizes must ${expected}, found ${found}`, 'sizes');
}

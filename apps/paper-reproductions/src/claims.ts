import type { Basis, Claim } from '@flashstack/report';

/** A statement with the values that were found, one for each seed. */
export interface Statement {
  readonly name: string;
  readonly unit: string;
  /** What the paper says: a value, or words. */
  readonly published: number | string;
  /** Null: shown only. A side that is null is open. */
  readonly band: readonly [low: number | null, high: number | null] | null;
  readonly values: readonly number[];
  readonly basis: Basis;
  /** Why it cannot lie in its band, known and said before it is run. */
  readonly expectedMiss?: string;
  /** The best lead, if it should miss. */
  readonly lead?: string;
}

/** Judges a statement by the mean of its values. */
export function claim({ name, unit, published, band, values, basis, expectedMiss, lead }: Statement): Claim {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const simulated = { mean, low: Math.min(...values), high: Math.max(...values) };
  const common = { name, unit, published, simulated, basis };
  if (band === null) return { ...common, band: null, verdict: 'shown' };
  const [low, high] = band;
  // A value that is no number lies in no band.
  const inside = (low === null || mean >= low) && (high === null || mean <= high);
  const shown = { ...common, band: { low, high } };
  if (inside) return { ...shown, verdict: 'pass' };
  if (expectedMiss !== undefined) return { ...shown, verdict: 'expectedMiss', reason: expectedMiss };
  return { ...shown, verdict: 'miss', ...(lead === undefined ? {} : { reason: lead }) };
}

/** Mean, least and greatest of the values of each point of a line. */
export function spread(points: readonly (readonly number[])[]): { values: number[]; low: number[]; high: number[] } {
  return {
    values: points.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    low: points.map((values) => Math.min(...values)),
    high: points.map((values) => Math.max(...values)),
  };
}

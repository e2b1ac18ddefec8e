/**
 * Throws unless the counts fit the probabilities: Pearson's chi-square against its quantile at 4 standard deviations
 * (p ≈ 3e-5; Wilson–Hilferty approximation). With fixed seeds a passing test passes for ever.
 */
export function checkFit(counts: ArrayLike<number>, probabilities: readonly number[], what: string): void {
  const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
  let statistic = 0;
  let cells = 0;
  let restCount = 0;
  let restExpected = 0;
  for (let at = 0; at < probabilities.length; at++) {
    const expected = probabilities[at] * total;
    if (expected < 10) {
      restCount += counts[at];
      restExpected += expected;
      continue;
    }
    statistic += (counts[at] - expected) ** 2 / expected;
    cells++;
  }
  if (restExpected >= 10) {
    statistic += (restCount - restExpected) ** 2 / restExpected;
    cells++;
  }
  const df = cells - 1;
  const limit = df * (1 - 2 / (9 * df) + 4 * Math.sqrt(2 / (9 * df))) ** 3;
  if (df < 1) throw new Error(`${what}: too few cells`);
  if (statistic > limit) throw new Error(`${what}: chi-square ${statistic} with ${df} degrees is above ${limit}`);
}

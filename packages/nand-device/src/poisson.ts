import { exp, log, type RandomStream } from '@flashstack/sim';

/** log(k!), exact to rounding: a sum for small k, Stirling's series above. */
function logFactorial(k: number): number {
  if (k < 20) {
    let sum = 0;
    for (let i = 2; i <= k; i++) sum += log(i);
    return sum;
  }
  const n = k + 1;
  return (n - 0.5) * log(n) - n + 0.5 * log(2 * Math.PI) + 1 / (12 * n) - 1 / (360 * n * n * n);
}

/** P(X > k) for a Poisson variable of this mean, with small relative error also where it is tiny. */
export function poissonTail(k: number, mean: number): number {
  if (mean <= 0) return 0;
  if (mean > k + 1) return Math.max(0, 1 - lowerSum(k, mean));
  // Terms beyond k + 1 shrink at least like a geometric series.
  let term = exp((k + 1) * log(mean) - mean - logFactorial(k + 1));
  let sum = 0;
  for (let i = k + 2; term > sum * 1e-17; i++) {
    sum += term;
    term *= mean / i;
  }
  return Math.min(1, sum);
}

/** P(X ≤ k), summed downwards from the largest term. */
function lowerSum(k: number, mean: number): number {
  let term = exp(k * log(mean) - mean - logFactorial(k));
  let sum = 0;
  for (let i = k; i >= 0 && term > sum * 1e-17; i--) {
    sum += term;
    term *= i / mean;
  }
  return sum;
}

/** A Poisson variable: inversion, in pieces of mean ≤ 30 so that exp(−mean) does not underflow. Exact for any mean. */
export function poissonSample(random: RandomStream, mean: number): number {
  let left = mean;
  let total = 0;
  while (left > 0) {
    const piece = Math.min(left, 30);
    left -= piece;
    let term = exp(-piece);
    let cumulative = term;
    const draw = random.nextFloat();
    let k = 0;
    while (draw >= cumulative && term > 0) {
      k++;
      term *= piece / k;
      cumulative += term;
    }
    total += k;
  }
  return total;
}

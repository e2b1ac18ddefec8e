/*
 * Logarithm and exponential from additions, multiplications and divisions only. `Math.log` and its like may differ in
 * the last bit between engines and processors, and one bit is enough to make two runs of a simulation differ.
 * Errors stay below 2 units in the last place over the range that the distributions use.
 */

// ln 2 in two parts; the first has enough trailing zero bits for k × LN2_HIGH to be exact.
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** Natural logarithm of 1 + x, for −0.3 < x < 0.42: 2 artanh(x / (2 + x)). */
function logNearOne(x: number): number {
  const s = x / (2 + x);
  const z = s * s;
  // Terms of the series of artanh; z < 0.03, so the first one left out is below 2^-58.
  let sum = 1 / 21;
  for (let k = 19; k >= 3; k -= 2) sum = sum * z + 1 / k;
  return 2 * (s + s * z * sum);
}

/** Natural logarithm of a normal positive number. */
export function log(x: number): number {
  let mantissa = x;
  let exponent = 0;
  // Scaling by powers of two is exact, so this is the same everywhere; the loops are short for the usual arguments.
  while (mantissa >= 0x1_0000_0000) {
    mantissa *= 1 / 0x1_0000_0000;
    exponent += 32;
  }
  while (mantissa < 1) {
    mantissa *= 0x1_0000_0000;
    exponent -= 32;
  }
  const whole = 31 - Math.clz32(mantissa);
  mantissa *= powerOfTwo(-whole);
  exponent += whole;
  if (mantissa > Math.SQRT2) {
    mantissa *= 0.5;
    exponent += 1;
  }
  return exponent * LN2_HIGH + (logNearOne(mantissa - 1) + exponent * LN2_LOW);
}

/** ln(1 + x) for x > −1, accurate near 0. */
export function log1p(x: number): number {
  return x > -0.25 && x < 0.4 ? logNearOne(x) : log(1 + x);
}

/** e^x − 1 for |x| ≤ 0.35 by its Taylor series. */
function expm1NearZero(x: number): number {
  let sum = 1;
  for (let k = 14; k >= 2; k--) sum = 1 + (x / k) * sum;
  return x * sum;
}

/** e^x; 0 below −708, and infinity above 709. */
export function exp(x: number): number {
  if (x < -708) return 0;
  if (x > 709) return Number.POSITIVE_INFINITY;
  const k = Math.floor(x * Math.LOG2E + 0.5);
  const rest = x - k * LN2_HIGH - k * LN2_LOW;
  return (1 + expm1NearZero(rest)) * powerOfTwo(k);
}

/** e^x − 1, accurate near 0; outside ±0.34 with the absolute error of e^x. */
export function expm1(x: number): number {
  return x > -0.34 && x < 0.34 ? expm1NearZero(x) : exp(x) - 1;
}

/** 2^k for −1022 ≤ k ≤ 1023, exactly. */
function powerOfTwo(k: number): number {
  let result = 1;
  let base = k < 0 ? 0.5 : 2;
  for (let bits = k < 0 ? -k : k; bits > 0; bits >>= 1) {
    if ((bits & 1) !== 0) result *= base;
    base *= base;
  }
  return result;
}

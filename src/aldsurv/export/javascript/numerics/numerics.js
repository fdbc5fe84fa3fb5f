// Elementary and special functions that stay accurate where the textbook form cancels or overflows.

const LOG2 = Math.LN2;
const EPSILON = Number.EPSILON;
// Below this a Taylor series is more accurate than the closed form; 18 terms reach 1e-17 there.
const SERIES_BELOW = 0.7;
const REMAINDER_SERIES = remainderSeries();
const LOG_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);
// Bₙ/(n(n-1)) of the even Bernoulli numbers, for Stirling's series.
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400];

function remainderSeries() {
  const terms = [];
  let factorial = 1;
  for (let k = 1; k < 20; k += 1) {
    factorial *= k;
    if (k >= 2) {
      terms.push((k % 2 === 0 ? 1 : -1) / factorial);
    }
  }
  return terms;
}

/** The value between two bounds. */
export function clip(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** The polynomial with these coefficients, the constant first. */
export function horner(coefficients, x) {
  let total = coefficients[coefficients.length - 1];
  for (let k = coefficients.length - 2; k >= 0; k -= 1) {
    total = total * x + coefficients[k];
  }
  return total;
}

/** log(1 - exp(x)) for x ≤ 0; -Infinity at 0. */
export function log1mexp(x) {
  if (x < -LOG2) {
    return Math.log1p(-Math.exp(x));
  }
  return x < 0 ? Math.log(-Math.expm1(x)) : -Infinity;
}

/** log(exp(a) + exp(b)). */
export function logAddExp(a, b) {
  const top = Math.max(a, b);
  if (!Number.isFinite(top)) {
    return top;
  }
  return top + Math.log1p(Math.exp(Math.min(a, b) - top));
}

/** log(1 + exp(x)). */
export function softplus(x) {
  return logAddExp(x, 0);
}

/** log Σ exp(x); -Infinity where all terms are. */
export function logSumExp(terms) {
  let top = -Infinity;
  for (const term of terms) {
    top = Math.max(top, term);
  }
  if (top === -Infinity || Number.isNaN(top)) {
    return top;
  }
  const reference = Number.isFinite(top) ? top : 0;
  let total = 0;
  for (const term of terms) {
    total += Math.exp(term - reference);
  }
  return reference + Math.log(total);
}

/** Shares exp(x)/Σ exp(x). */
export function softmax(terms) {
  const top = Math.max(...terms);
  const shares = Array.from(terms, (term) => Math.exp(term - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

/** Log of a probability that is known, and of the one it adds up to 1 with: the more accurate of both ways. */
export function orComplement(logValue, logOther) {
  return logOther < -LOG2 ? Math.log1p(-Math.exp(logOther)) : logValue;
}

/** ∫ (1 - e⁻ˢ) ds from 0 to x ≥ 0, which is x + expm1(-x), with all its digits at small x. */
export function exponentialRemainder(x) {
  return x < SERIES_BELOW ? x * x * horner(REMAINDER_SERIES, x) : x + Math.expm1(-x);
}

/** 1 - exp(-distance/scale), 1 at an infinite distance. */
export function saturation(distance, scale) {
  return distance === Infinity ? 1 : -Math.expm1(-distance / scale);
}

/** ∫ t^(exponent-1) dt from 1 to exp(logRatio); logRatio at exponent 0. */
export function powerIntegral(exponent, logRatio) {
  return exponent === 0 ? logRatio : Math.expm1(exponent * logRatio) / exponent;
}

/** The logistic function 1/(1 + e⁻ˣ). */
export function logistic(x) {
  if (x >= 0) {
    return 1 / (1 + Math.exp(-x));
  }
  const odds = Math.exp(x);
  return odds / (1 + odds);
}

// ---- the normal distribution

/** The error function near 0, by its series of positive terms. */
function erfSeries(x) {
  let term = x;
  let total = x;
  for (let n = 1; n < 200 && Math.abs(term) > 1e-18 * Math.abs(total); n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    total += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * total;
}

/** exp(x²)·erfc(x) for x ≥ 1.5, by its continued fraction from far below. */
function scaledErfc(x) {
  let denominator = x;
  for (let n = 160; n >= 1; n -= 1) {
    denominator = x + n / 2 / denominator;
  }
  return 1 / (Math.sqrt(Math.PI) * denominator);
}

/** The complementary error function, with all its digits in the upper tail. */
export function erfc(x) {
  if (Number.isNaN(x)) {
    return x;
  }
  if (x < -1.5) {
    return 2 - erfc(-x);
  }
  if (x < 1.5) {
    return 1 - erfSeries(x);
  }
  return x === Infinity ? 0 : Math.exp(-x * x) * scaledErfc(x);
}

/** The normal cdf. */
export function normalCdf(z) {
  return erfc(-z / Math.SQRT2) / 2;
}

/** The logarithm of the normal cdf, also where that underflows. */
export function logNormalCdf(z) {
  if (z > 0) {
    return Math.log1p(-erfc(z / Math.SQRT2) / 2);
  }
  const x = -z / Math.SQRT2;
  if (x < 1.5) {
    return Math.log(erfc(x) / 2);
  }
  return x === Infinity ? -Infinity : -x * x + Math.log(scaledErfc(x) / 2);
}

/** The logarithm of the normal density. */
export function logNormalDensity(z) {
  return -(z * z) / 2 - LOG_SQRT_2PI;
}

/** z with log Φ(z) = logP: Newton's steps on a concave function, which approach from below. */
export function inverseLogNormalCdf(logP) {
  if (logP === -Infinity) {
    return -Infinity;
  }
  if (!(logP < 0)) {
    return logP === 0 ? Infinity : NaN;
  }
  if (logP > -LOG2) {
    return -inverseLogNormalCdf(log1mexp(logP));
  }
  let z = -Math.sqrt(Math.max(-2 * (logP + LOG2), 0));
  for (let step = 0; step < 100; step += 1) {
    const value = logNormalCdf(z);
    const change = (value - logP) * Math.exp(value - logNormalDensity(z));
    z -= change;
    if (!(Math.abs(change) > 2 * EPSILON * Math.abs(z))) {
      break;
    }
  }
  return z;
}

/** The normal quantile of a probability. */
export function normalQuantile(p) {
  return p <= 0.5 ? inverseLogNormalCdf(Math.log(p)) : -inverseLogNormalCdf(Math.log1p(-p));
}

// ---- gamma and beta functions

/** The logarithm of the gamma function of x > 0. */
export function logGamma(x) {
  if (x === Infinity) {
    return Infinity;
  }
  let shift = 0;
  let product = 1;
  let y = x;
  while (y < 12) {
    product *= y;
    y += 1;
    if (product > 1e250) {
      shift += Math.log(product);
      product = 1;
    }
  }
  const series = horner(STIRLING, 1 / (y * y)) / y;
  return (y - 0.5) * Math.log(y) - y + LOG_SQRT_2PI + series - shift - Math.log(product);
}

/** The regularised lower and upper incomplete gamma functions of order a > 0 at x ≥ 0, each with its own digits. */
export function incompleteGammas(a, x) {
  if (!(x > 0)) {
    return { lower: 0, upper: 1 };
  }
  if (x === Infinity) {
    return { lower: 1, upper: 0 };
  }
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let total = term;
    for (let n = 1; n < 10000 && term > 1e-18 * total; n += 1) {
      term *= x / (a + n);
      total += term;
    }
    const lower = Math.min(front * total, 1);
    return { lower, upper: 1 - lower };
  }
  const upper = Math.min(front * upperGammaFraction(a, x), 1);
  return { lower: 1 - upper, upper };
}

/** The continued fraction of the upper incomplete gamma function, by Lentz's method. */
function upperGammaFraction(a, x) {
  const tiny = 1e-300;
  let b = x + 1 - a;
  let c = 1 / tiny;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < 10000; n += 1) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / nonzero(numerator * d + b, tiny);
    c = nonzero(b + numerator / c, tiny);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < EPSILON) {
      break;
    }
  }
  return fraction;
}

function nonzero(value, tiny) {
  return Math.abs(value) < tiny ? tiny : value;
}

/** The regularised incomplete beta function. */
export function incompleteBeta(a, b, x) {
  if (!(x > 0)) {
    return 0;
  }
  if (x >= 1) {
    return 1;
  }
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  if (x < (a + 1) / (a + b + 2)) {
    return (front * betaFraction(a, b, x)) / a;
  }
  return 1 - (front * betaFraction(b, a, 1 - x)) / b;
}

function betaFraction(a, b, x) {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1), tiny);
  let fraction = d;
  for (let n = 1; n < 10000; n += 1) {
    const even = (n * (b - n) * x) / ((a + 2 * n - 1) * (a + 2 * n));
    d = 1 / nonzero(1 + even * d, tiny);
    c = nonzero(1 + even / c, tiny);
    fraction *= d * c;
    const odd = (-(a + n) * (a + b + n) * x) / ((a + 2 * n) * (a + 2 * n + 1));
    d = 1 / nonzero(1 + odd * d, tiny);
    c = nonzero(1 + odd / c, tiny);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < EPSILON) {
      break;
    }
  }
  return fraction;
}

/** The quantile of Student's t distribution with some degrees of freedom, at p from 0 to 1, both excluded. */
export function studentQuantile(p, freedom) {
  if (p === 0.5) {
    return 0;
  }
  if (p < 0.5) {
    return -studentQuantile(1 - p, freedom);
  }
  // The upper tail is half an incomplete beta function of share = freedom/(freedom + t²).
  const tail = 2 * (1 - p);
  const share = bisection((x) => incompleteBeta(freedom / 2, 0.5, x) - tail, 0, 1);
  return Math.sqrt((freedom * (1 - share)) / share);
}

/** Where a rising function changes its sign between two numbers, to the last digit. */
export function bisection(rising, low, high) {
  let below = low;
  let above = high;
  for (let step = 0; step < 2000; step += 1) {
    const centre = below + (above - below) / 2;
    if (centre <= below || centre >= above) {
      break;
    }
    if (rising(centre) < 0) {
      below = centre;
    } else {
      above = centre;
    }
  }
  return above;
}

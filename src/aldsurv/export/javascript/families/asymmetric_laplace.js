// The asymmetric Laplace distribution, on the whole line and of positive times: every formula in closed form.

import { Distribution } from "../distribution.js";
import { exponentialRemainder, log1mexp, logAddExp, orComplement, saturation } from "../numerics/numerics.js";
import { Shifted } from "../wrappers/shifted.js";
import { Truncated } from "../wrappers/truncated.js";

/** Two exponentials back to back at theta; a fraction κ²/(1+κ²) of the probability lies below. */
export class AsymmetricLaplace extends Distribution {
  constructor(theta, sigma, kappa) {
    super();
    this.theta = theta;
    this.sigma = sigma;
    this.kappa = kappa;
    this.left = (sigma * kappa) / Math.SQRT2;
    this.right = sigma / (kappa * Math.SQRT2);
    this.massLeft = 1 / (1 + (1 / kappa) ** 2);
    this.massRight = 1 / (1 + kappa ** 2);
  }

  logDensity(t) {
    const z = t - this.theta;
    return Math.min(-z / this.right, z / this.left) - Math.log(this.left + this.right);
  }

  logSurvival(t) {
    return logTail(t - this.theta, this.right, this.left, this.massRight, this.massLeft, this.kappa ** 2);
  }

  logCdf(t) {
    // -T is asymmetric Laplace with left and right exchanged.
    return logTail(this.theta - t, this.left, this.right, this.massLeft, this.massRight, this.kappa ** -2);
  }

  survival(t) {
    return tail(t - this.theta, this.right, this.left, this.massRight);
  }

  cdf(t) {
    return tail(this.theta - t, this.left, this.right, this.massLeft);
  }

  logHazard(t) {
    // Beyond θ a constant; as a difference of two logarithms it would lose digits with the distance.
    return t < this.theta ? this.logDensity(t) - this.logSurvival(t) : -Math.log(this.right);
  }

  logSurvivalRatio(t, since) {
    const before = this.logSurvival(Math.min(t, this.theta)) - this.logSurvival(Math.min(since, this.theta));
    // Beyond θ the hazard is constant: the difference of times, not of large logarithms.
    return before - (Math.max(t, this.theta) - Math.max(since, this.theta)) / this.right;
  }

  logProbability(lower, upper) {
    // Both sides of θ add up positive parts; nothing is subtracted but times.
    const below = Math.min(upper, this.theta);
    const above = Math.max(lower, this.theta);
    const onLeft = logSlice(below - lower, this.theta - below, this.left);
    const onRight = logSlice(upper - above, above - this.theta, this.right);
    return logAddExp(-Math.log1p(this.kappa ** -2) + onLeft, -Math.log1p(this.kappa ** 2) + onRight);
  }

  inverseLogSurvival(logSurvival) {
    const logMassRight = -Math.log1p(this.kappa ** 2);
    if (logSurvival <= logMassRight) {
      return this.theta - this.right * (logSurvival - logMassRight);
    }
    const q = -Math.expm1(logSurvival);
    // log(q/F(θ)): near θ from a difference of the smaller probabilities, far below from the logarithm of q.
    const shortfall = this.kappa < 1 ? q - this.massLeft : this.massRight - Math.exp(logSurvival);
    const excess = shortfall / this.massLeft;
    const below = excess > -0.5 ? Math.log1p(excess) : Math.log(q) + Math.log1p(this.kappa ** -2);
    return this.theta + this.left * below;
  }

  residual(start, stop) {
    // Time spent on either side of θ; times are subtracted before anything else can round.
    const onLeft = Math.max(Math.min(stop, this.theta) - start, 0);
    const onRight = Math.max(stop - Math.max(start, this.theta), 0);
    const h = onLeft / this.left;
    const rise = -Math.expm1(-h);
    const short = Math.min(stop - this.theta, 0) / this.left;
    // ∫ S below θ as three positive parts: S itself is mass·eᵘ + (1 - eᵘ).
    const parts = this.massRight * Math.exp(short) * rise + exponentialRemainder(h) - Math.expm1(short) * rise;
    const above = this.right * saturation(onRight, this.right);
    const atStart = this.survival(Math.min(start, this.theta));
    return (this.left * parts + this.massRight * above) / atStart;
  }

  mean() {
    return this.theta + ((this.sigma / Math.SQRT2) * (1 - this.kappa) * (1 + this.kappa)) / this.kappa;
  }

  mode() {
    return this.theta;
  }

  kinks() {
    return [this.theta];
  }

  conditionalSince(since) {
    if (!(since >= 0)) {
      return super.conditionalSince(since);
    }
    // Counted from `since`, what is left is the family of positive times, with all its closed forms.
    return new Shifted(new PositiveAsymmetricLaplace(this.theta - since, this.sigma, this.kappa), since);
  }

  scaled(factor) {
    return new AsymmetricLaplace(factor * this.theta, factor * this.sigma, this.kappa);
  }

  shifted(offset) {
    return new AsymmetricLaplace(this.theta + offset, this.sigma, this.kappa);
  }
}

/** The asymmetric Laplace distribution, given that the time is positive. */
export class PositiveAsymmetricLaplace extends Truncated {
  constructor(theta, sigma, kappa) {
    super(new AsymmetricLaplace(theta, sigma, kappa), 0);
    this.theta = theta;
    this.sigma = sigma;
    this.kappa = kappa;
  }

  /** Log cdf and log survival at t > 0, each from its own sum of positive parts. */
  logParts(t) {
    const logSurvival = this.base.logSurvivalRatio(t, 0);
    // A peak below zero leaves an exponential distribution, whose cdf needs no difference of large logarithms.
    const logCdf =
      this.theta < 0 ? log1mexp(logSurvival) : this.base.logProbability(0, t) - this.base.logSurvival(0);
    return [logCdf, logSurvival];
  }

  logCdf(t) {
    return t > 0 ? orComplement(...this.logParts(t)) : -Infinity;
  }

  logSurvival(t) {
    if (!(t > 0)) {
      return 0;
    }
    const [logCdf, logSurvival] = this.logParts(t);
    return orComplement(logSurvival, logCdf);
  }

  /** Probability to be below and above θ (0 and 1 where θ is negative). */
  shares() {
    const reach = Math.max(this.theta, 0) / this.base.left;
    const below = this.base.massLeft * -Math.expm1(-reach);
    const above = this.base.massRight;
    return [below / (below + above), above / (below + above)];
  }

  inverseLogSurvival(logSurvival) {
    const peak = Math.max(this.theta, 0);
    const logHigh = Math.log(this.shares()[1]);
    if (logSurvival <= logHigh) {
      return peak - this.base.right * (logSurvival - logHigh);
    }
    // Below θ: S(0)·q is added to F(0), in logarithms relative to F(0).
    const gain = log1mexp(logSurvival) + this.base.logSurvival(0) - this.base.logCdf(0);
    return Math.min(this.base.left * logAddExp(gain, 0), peak);
  }

  mode() {
    return Math.max(this.base.mode(), this.lower());
  }

  scaled(factor) {
    return new PositiveAsymmetricLaplace(factor * this.theta, factor * this.sigma, this.kappa);
  }
}

/** Log probability beyond z: mass·exp(-z/out) for z ≥ 0, 1 - rest·exp(z/back) for z < 0; odds = rest/mass. */
function logTail(z, out, back, mass, rest, odds) {
  if (!(z < 0)) {
    return -Math.log1p(odds) - z / out;
  }
  const u = z / back;
  const missing = rest * Math.exp(u);
  // 1 - rest·eᵘ = mass·eᵘ + (1 - eᵘ): a sum of positive terms, exact when both are tiny.
  return missing < 0.5 ? Math.log1p(-missing) : Math.log(mass * Math.exp(u) - Math.expm1(u));
}

/** Probability beyond z. */
function tail(z, out, back, mass) {
  const u = Math.min(z, 0) / back;
  const v = Math.max(z, 0) / out;
  return mass * Math.exp(u - v) - Math.expm1(u);
}

/** Log of exp(-gap/scale) - exp(-(gap+width)/scale); -Infinity where the width is not positive. */
function logSlice(width, gap, scale) {
  return width > 0 ? Math.log(-Math.expm1(-width / scale)) - gap / scale : -Infinity;
}

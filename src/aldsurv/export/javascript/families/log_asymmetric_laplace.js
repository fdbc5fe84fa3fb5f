// The asymmetric Laplace distribution of log time: positive times with power-law tails.

import { powerIntegral } from "../numerics/numerics.js";
import { AsymmetricLaplace } from "./asymmetric_laplace.js";
import { LogTime } from "./log_time.js";

/** The logarithm of the time is asymmetric Laplace; no probability below zero. */
export class LogAsymmetricLaplace extends LogTime {
  constructor(theta, sigma, kappa) {
    super(new AsymmetricLaplace(theta, sigma, kappa));
    this.theta = theta;
    this.sigma = sigma;
    this.kappa = kappa;
  }

  logDensityAtZero() {
    // f(t) ~ t^(1/left - 1): zero, finite or infinite at 0.
    const { left } = this.logFamily;
    if (left === 1) {
      return this.logFamily.logDensity(this.theta) - this.theta;
    }
    return left > 1 ? Infinity : -Infinity;
  }

  mean() {
    const { left, right } = this.logFamily;
    return right < 1 ? Math.exp(this.theta) / ((1 + left) * (1 - right)) : Infinity;
  }

  mode() {
    // Below exp(θ) the density rises unless left > 1, when it is infinite at zero.
    return this.logFamily.left > 1 ? 0 : Math.exp(this.theta);
  }

  residual(start, stop) {
    const { right } = this.logFamily;
    const kink = Math.exp(this.theta);
    const early = Math.min(start, kink);
    // ∫ S below the kink is the difference of t·(S(t) + F(t)/(1 + 1/left)/left), a sum of positive terms.
    const below = this.integralBelow(Math.min(stop, kink)) - this.integralBelow(early);
    const late = Math.max(start, kink);
    const first = logPositive(late);
    const power = 1 - 1 / right;
    let spread = 0;
    if (stop === Infinity) {
      if (!(power < 0)) {
        return Infinity;
      }
      spread = -1 / power;
    } else {
      spread = powerIntegral(power, logPositive(Math.max(stop, kink)) - first);
    }
    const atTail = Math.exp(this.logSurvival(late) - this.logSurvival(start));
    return below * Math.exp(-this.logSurvival(early)) + Math.exp(first) * spread * atTail;
  }

  /** ∫ S from 0 to t, for t up to exp(θ). */
  integralBelow(t) {
    return t * (this.survival(t) + this.cdf(t) / (1 + this.logFamily.left));
  }

  kinks() {
    return [Math.exp(this.theta)];
  }

  scaled(factor) {
    return new LogAsymmetricLaplace(this.theta + Math.log(factor), this.sigma, this.kappa);
  }
}

/** The logarithm of a positive time, 0 of others. */
function logPositive(t) {
  return t > 0 ? Math.log(t) : 0;
}

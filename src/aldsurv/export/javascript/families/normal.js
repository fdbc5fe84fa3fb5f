// The normal distribution, on the whole real line, and the log-normal.

import { Distribution, orByQuadrature } from "../distribution.js";
import { inverseLogNormalCdf, logNormalCdf, logNormalDensity, normalCdf } from "../numerics/numerics.js";
import { LogTime } from "./log_time.js";

/** Normal distribution of the event time. */
export class Normal extends Distribution {
  constructor(mu, sigma) {
    super();
    this.mu = mu;
    this.sigma = sigma;
  }

  z(t) {
    return (t - this.mu) / this.sigma;
  }

  logDensity(t) {
    return logNormalDensity(this.z(t)) - Math.log(this.sigma);
  }

  logSurvival(t) {
    return logNormalCdf(-this.z(t));
  }

  logCdf(t) {
    return logNormalCdf(this.z(t));
  }

  survival(t) {
    return normalCdf(-this.z(t));
  }

  cdf(t) {
    return normalCdf(this.z(t));
  }

  inverseLogSurvival(logSurvival) {
    return this.mu - this.sigma * inverseLogNormalCdf(logSurvival);
  }

  residual(start, stop) {
    const since = this.logSurvival(start);
    /** ∫ S from t on, over σ·S(start). */
    const beyond = (t) => {
      if (t === Infinity) {
        return 0;
      }
      const z = this.z(t);
      return Math.exp(logNormalDensity(z) - since) - z * Math.exp(logNormalCdf(-z) - since);
    };
    const first = beyond(start);
    const value = first - beyond(stop);
    return orByQuadrature(this, this.sigma * value, value < 1e-3 * first, start, stop);
  }

  mean() {
    return this.mu;
  }

  mode() {
    return this.mu;
  }

  scaled(factor) {
    return new Normal(factor * this.mu, factor * this.sigma);
  }

  shifted(offset) {
    return new Normal(this.mu + offset, this.sigma);
  }
}

/** The logarithm of the time is normal. */
export class LogNormal extends LogTime {
  constructor(mu, sigma) {
    super(new Normal(mu, sigma));
    this.mu = mu;
    this.sigma = sigma;
  }

  residual(start, stop) {
    // By parts: the difference of t·S(t), plus the difference of E[T; T > t].
    const since = this.logSurvival(start);
    const [momentFrom, productFrom] = this.residualParts(start, since);
    const [momentTo, productTo] = this.residualParts(stop, since);
    const value = momentFrom - momentTo + (productTo - productFrom);
    return orByQuadrature(this, value, value < 1e-3 * (momentFrom + productFrom), start, stop);
  }

  /** E[T; T > t] and t·S(t), over the survival at the start. */
  residualParts(t, since) {
    if (t === Infinity) {
      return [0, 0];
    }
    const z = t > 0 ? (Math.log(t) - this.mu) / this.sigma : -Infinity;
    const moment = Math.exp(this.mu + this.sigma ** 2 / 2 + logNormalCdf(this.sigma - z) - since);
    return [moment, t * Math.exp(logNormalCdf(-z) - since)];
  }

  mean() {
    return Math.exp(this.mu + this.sigma ** 2 / 2);
  }

  mode() {
    return Math.exp(this.mu - this.sigma ** 2);
  }

  scaled(factor) {
    return new LogNormal(this.mu + Math.log(factor), this.sigma);
  }
}

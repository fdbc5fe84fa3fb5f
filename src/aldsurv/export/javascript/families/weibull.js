// The Weibull and the exponential distribution.

import { Distribution, orByQuadrature } from "../distribution.js";
import { incompleteGammas, log1mexp, logGamma, saturation } from "../numerics/numerics.js";

// Beyond this cumulative hazard the incomplete gamma functions near the end of float64.
const FAR_HAZARD = 300;

/** Weibull distribution: S(t) = exp(-(t/scale)^shape). */
export class Weibull extends Distribution {
  constructor(scale, shape) {
    super();
    this.scale = scale;
    this.shape = shape;
  }

  /** log((t/scale)^shape) for a positive time. */
  logHazardIntegral(t) {
    return this.shape * (Math.log(t) - Math.log(this.scale));
  }

  logSurvival(t) {
    return t > 0 ? -Math.exp(this.logHazardIntegral(t)) : 0;
  }

  logCdf(t) {
    if (!(t > 0)) {
      return -Infinity;
    }
    const logH = this.logHazardIntegral(t);
    // 1 - exp(-H) is H where H is tiny, also where H itself underflows.
    return logH < -40 ? logH : log1mexp(-Math.exp(logH));
  }

  logDensity(t) {
    const slope = Math.log(this.shape) - Math.log(this.scale);
    if (t === 0) {
      if (this.shape === 1) {
        return slope;
      }
      return this.shape < 1 ? Infinity : -Infinity;
    }
    if (!(t > 0) || t === Infinity) {
      return -Infinity;
    }
    const logH = this.logHazardIntegral(t);
    return slope + (1 - 1 / this.shape) * logH - Math.exp(logH);
  }

  inverseLogSurvival(logSurvival) {
    return this.scale * Math.exp(Math.log(-logSurvival) / this.shape);
  }

  residual(start, stop) {
    if (stop <= 0 || this.logHazardIntegral(stop) < -40) {
      // So early that the cumulative hazard is lost in rounding, survival is 1.
      return stop - start;
    }
    const order = 1 / this.shape;
    const h = -this.logSurvival(start);
    if (!(h < FAR_HAZARD)) {
      return this.residualByQuadrature(start, stop);
    }
    const from = incompleteGammas(order, h);
    const to = incompleteGammas(order, -this.logSurvival(stop));
    const between = from.lower < 0.5 ? to.lower - from.lower : from.upper - to.upper;
    const value = this.mean() * between * Math.exp(h);
    return orByQuadrature(this, value, !Number.isFinite(value), start, stop);
  }

  mean() {
    return this.scale * Math.exp(logGamma(1 + 1 / this.shape));
  }

  mode() {
    return this.shape > 1 ? this.scale * Math.exp(Math.log1p(-1 / this.shape) / this.shape) : 0;
  }

  lower() {
    return 0;
  }

  scaled(factor) {
    return new Weibull(factor * this.scale, this.shape);
  }
}

/** Exponential distribution of the event time: a constant hazard. */
export class Exponential extends Distribution {
  constructor(scale) {
    super();
    this.scale = scale;
  }

  logSurvival(t) {
    return -Math.max(t, 0) / this.scale;
  }

  logCdf(t) {
    return log1mexp(this.logSurvival(t));
  }

  logDensity(t) {
    return t >= 0 ? this.logSurvival(t) - Math.log(this.scale) : -Infinity;
  }

  logSurvivalRatio(t, since) {
    return -(Math.max(t, 0) - Math.max(since, 0)) / this.scale;
  }

  inverseLogSurvival(logSurvival) {
    return -this.scale * logSurvival;
  }

  residual(start, stop) {
    return this.scale * saturation(stop - start, this.scale);
  }

  mean() {
    return this.scale;
  }

  mode() {
    return 0;
  }

  lower() {
    return 0;
  }

  scaled(factor) {
    return new Exponential(factor * this.scale);
  }
}

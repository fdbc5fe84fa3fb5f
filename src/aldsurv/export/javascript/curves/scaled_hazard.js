// A distribution whose hazard is multiplied by a number: S(t)**factor.

import { Distribution } from "../distribution.js";
import { log1mexp } from "../numerics/numerics.js";
import { restrictedMeanAtNodes } from "./early_nodes.js";

// Closer to 1 than this, a survival is known by its cdf alone, which may have underflowed.
const LEAST_HAZARD = 1e-100;

/** Any continuous distribution with its hazard multiplied: S(t)**factor. */
export class ScaledHazard extends Distribution {
  constructor(base, factor) {
    super();
    this.base = base;
    this.factor = factor;
  }

  logSurvival(t) {
    return this.factor * this.base.logSurvival(t);
  }

  logCdf(t) {
    const logSurvival = this.base.logSurvival(t);
    if (logSurvival > -LEAST_HAZARD) {
      return this.base.logCdf(t) + Math.log(this.factor);
    }
    return log1mexp(this.factor * logSurvival);
  }

  logDensity(t) {
    const logSurvival = this.base.logSurvival(t);
    if (logSurvival === -Infinity) {
      return -Infinity;
    }
    return this.base.logDensity(t) + (this.factor - 1) * logSurvival + Math.log(this.factor);
  }

  logHazard(t) {
    return this.base.logHazard(t) + Math.log(this.factor);
  }

  logSurvivalRatio(t, since) {
    return this.factor * this.base.logSurvivalRatio(t, since);
  }

  inverseLogSurvival(logSurvival) {
    return this.base.inverseLogSurvival(logSurvival / this.factor);
  }

  around(logSurvival) {
    return this.base.around(logSurvival / this.factor);
  }

  approximateRestrictedMean(horizon) {
    return restrictedMeanAtNodes(this, horizon);
  }

  lower() {
    return this.base.lower();
  }

  kinks() {
    return this.base.kinks();
  }

  conditionalSince(since) {
    return this.base.conditionalSince(since).withScaledHazard(this.factor);
  }

  withScaledHazard(factor) {
    return new ScaledHazard(this.base, this.factor * factor);
  }

  scaled(factor) {
    return new ScaledHazard(this.base.scaled(factor), this.factor);
  }

  shifted(offset) {
    return new ScaledHazard(this.base.shifted(offset), this.factor);
  }
}

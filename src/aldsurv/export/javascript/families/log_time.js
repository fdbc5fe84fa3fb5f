// Families of positive times whose logarithm has a known distribution.

import { Distribution } from "../distribution.js";

/** T = exp(Y): survival, cdf, density and quantiles from those of Y; moments are each family's own. */
export class LogTime extends Distribution {
  /** The distribution of the logarithm of the time. */
  constructor(logFamily) {
    super();
    this.logFamily = logFamily;
  }

  logSurvival(t) {
    return t > 0 ? this.logFamily.logSurvival(Math.log(t)) : 0;
  }

  logCdf(t) {
    return t > 0 ? this.logFamily.logCdf(Math.log(t)) : -Infinity;
  }

  survival(t) {
    return t > 0 ? this.logFamily.survival(Math.log(t)) : 1;
  }

  cdf(t) {
    return t > 0 ? this.logFamily.cdf(Math.log(t)) : 0;
  }

  logDensity(t) {
    if (!(t > 0)) {
      return t === 0 ? this.logDensityAtZero() : -Infinity;
    }
    return t === Infinity ? -Infinity : this.logFamily.logDensity(Math.log(t)) - Math.log(t);
  }

  /** Limit of the log density at time 0. */
  logDensityAtZero() {
    return -Infinity;
  }

  logSurvivalRatio(t, since) {
    return t > 0 && since > 0
      ? this.logFamily.logSurvivalRatio(Math.log(t), Math.log(since))
      : this.logSurvival(t);
  }

  inverseLogSurvival(logSurvival) {
    return Math.exp(this.logFamily.inverseLogSurvival(logSurvival));
  }

  lower() {
    return 0;
  }
}

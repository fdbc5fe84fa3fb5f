// A distribution moved along the time axis, for families that are not closed under it.

import { Distribution, registerWrapper } from "../distribution.js";

/** The distribution of T + offset where T follows the base. */
export class Shifted extends Distribution {
  constructor(base, offset) {
    super();
    this.base = base;
    this.offset = offset;
  }

  logSurvival(t) {
    return this.base.logSurvival(t - this.offset);
  }

  logCdf(t) {
    return this.base.logCdf(t - this.offset);
  }

  logDensity(t) {
    return this.base.logDensity(t - this.offset);
  }

  survival(t) {
    return this.base.survival(t - this.offset);
  }

  cdf(t) {
    return this.base.cdf(t - this.offset);
  }

  logSurvivalRatio(t, since) {
    return this.base.logSurvivalRatio(t - this.offset, since - this.offset);
  }

  logProbability(lower, upper) {
    return this.base.logProbability(lower - this.offset, upper - this.offset);
  }

  inverseLogSurvival(logSurvival) {
    return this.base.inverseLogSurvival(logSurvival) + this.offset;
  }

  residual(start, stop) {
    return this.base.residual(start - this.offset, stop - this.offset);
  }

  mean() {
    return this.base.mean() + this.offset;
  }

  lower() {
    return this.base.lower() + this.offset;
  }

  kinks() {
    return this.base.kinks().map((kink) => kink + this.offset);
  }

  conditionalSince(since) {
    return this.base.conditionalSince(since - this.offset).shifted(this.offset);
  }

  scaled(factor) {
    return new Shifted(this.base.scaled(factor), factor * this.offset);
  }

  shifted(offset) {
    return new Shifted(this.base, this.offset + offset);
  }
}

registerWrapper("shifted", (base, offset) => new Shifted(base, offset));

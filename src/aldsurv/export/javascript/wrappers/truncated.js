// Distributions of those known to be event-free at some time.

import { Distribution, registerWrapper, residualAnywhere } from "../distribution.js";
import { log1mexp } from "../numerics/numerics.js";

/** P(T > t | T > since) = S(t)/S(since), all of it in log space: S(since) may underflow. */
export class Truncated extends Distribution {
  /** The distribution before anything was known, and the time at which the person is known to be event-free. */
  constructor(base, since) {
    super();
    this.base = base;
    this.since = since;
  }

  logSurvival(t) {
    return this.base.logSurvivalRatio(Math.max(t, this.since), this.since);
  }

  logCdf(t) {
    return t > this.since ? log1mexp(this.base.logSurvivalRatio(t, this.since)) : -Infinity;
  }

  logDensity(t) {
    if (!(t >= this.since)) {
      return -Infinity;
    }
    // Hazard times survival since then; where survival is 0 in float64, the ratio of density and survival.
    if (this.base.logSurvival(t) === -Infinity) {
      return this.base.logDensity(t) - this.base.logSurvival(this.since);
    }
    return this.base.logHazard(t) + this.base.logSurvivalRatio(t, this.since);
  }

  logSurvivalRatio(t, since) {
    return this.base.logSurvivalRatio(Math.max(t, this.since), Math.max(since, this.since));
  }

  inverseLogSurvival(logSurvival) {
    const time = this.base.inverseLogSurvival(logSurvival + this.base.logSurvival(this.since));
    return Math.max(time, this.since);
  }

  residual(start, stop) {
    const lower = Math.max(this.since, this.base.lower());
    return this.base.residual(Math.max(start, lower), Math.max(stop, lower));
  }

  mean() {
    // Where nothing is cut off, it is the mean of the base, which need not be measured from far away.
    if (this.base.logCdf(this.since) < -40) {
      return this.base.mean();
    }
    return this.since + residualAnywhere(this.base, this.since, Infinity);
  }

  lower() {
    return Math.max(this.since, this.base.lower());
  }

  kinks() {
    return this.base.kinks().map((kink) => Math.max(kink, this.lower()));
  }

  conditionalSince(since) {
    return this.base.conditionalSince(Math.max(since, this.since));
  }
}

/** Any distribution, given that the event has not happened by a time. */
export class LeftTruncated extends Truncated {
  constructor(base, since) {
    super(base, Math.max(since, -Number.MAX_VALUE));
    if (base.logSurvival(this.since) === -Infinity) {
      throw new Error(`a person cannot be event-free until ${this.since}: the survival is 0 there. Give earlier times.`);
    }
  }

  scaled(factor) {
    return new LeftTruncated(this.base.scaled(factor), factor * this.since);
  }

  shifted(offset) {
    return new LeftTruncated(this.base.shifted(offset), this.since + offset);
  }
}

registerWrapper("conditional", (base, since) => new LeftTruncated(base, since));

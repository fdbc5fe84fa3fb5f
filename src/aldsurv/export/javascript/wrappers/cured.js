// Distributions with a share of persons who never have the event.

import { Distribution } from "../distribution.js";
import { logAddExp, orComplement } from "../numerics/numerics.js";

/** With probability `cure` the event never comes; otherwise its time follows the base. */
export class Cured extends Distribution {
  constructor(base, cure) {
    super();
    this.base = base;
    this.cure = cure;
    this.logCure = cure > 0 ? Math.log(cure) : -Infinity;
    this.logRest = cure < 1 ? Math.log1p(-cure) : -Infinity;
  }

  logSurvival(t) {
    return orComplement(logAddExp(this.logCure, this.logRest + this.base.logSurvival(t)), this.logCdf(t));
  }

  logCdf(t) {
    return this.logRest + this.base.logCdf(t);
  }

  logDensity(t) {
    return this.logRest + this.base.logDensity(t);
  }

  logProbability(lower, upper) {
    return this.logRest + this.base.logProbability(lower, upper);
  }

  inverseLogSurvival(logSurvival) {
    const level = this.baseLevel(logSurvival);
    return level === null ? Infinity : this.base.inverseLogSurvival(level);
  }

  around(logSurvival) {
    const level = this.baseLevel(logSurvival);
    return level === null ? [Infinity, Infinity] : this.base.around(level);
  }

  /** Log survival of the base where that of all is as given; null where it never falls that far. */
  baseLevel(logSurvival) {
    const { cure, logCure, logRest } = this;
    const some = cure > 0;
    const curable = cure < 1;
    const share = -Math.expm1(logSurvival) / (curable ? 1 - cure : 1);
    if (curable && share < 0.5) {
      return Math.log1p(-share);
    }
    // Later by what is left of the survival: without a cure that is the survival itself, however small.
    const within = curable && logSurvival > -Infinity;
    const reference = (some && within ? logCure : 0) - (within ? logSurvival : 0);
    const left = some ? -Math.expm1(Math.min(reference, 1)) : 1;
    // Where the level is that of the share itself rounding decides, and the last events are counted as reached.
    if (left < -4 * Number.EPSILON || (some && !within)) {
      return null;
    }
    return within && left > 0 ? Math.min(logSurvival + Math.log(left) - logRest, 0) : -Infinity;
  }

  residual(start, stop) {
    const logSurvival = this.logSurvival(start);
    const reference = logSurvival === -Infinity ? 0 : logSurvival;
    const cured = Math.exp(this.logCure - reference);
    const others = Math.exp(this.logRest + this.base.logSurvival(start) - reference);
    const waiting = stop - start;
    if (waiting === Infinity && cured > 0) {
      return Infinity;
    }
    return (cured > 0 ? cured * waiting : 0) + (others > 0 ? others * this.base.residual(start, stop) : 0);
  }

  mean() {
    return this.cure > 0 ? Infinity : this.base.mean();
  }

  mode() {
    return this.base.mode();
  }

  places() {
    return this.base.places();
  }

  lower() {
    return this.base.lower();
  }

  kinks() {
    return this.base.kinks();
  }

  approximateRestrictedMean(horizon) {
    return this.cure * horizon + (1 - this.cure) * this.base.approximateRestrictedMean(horizon);
  }

  scaled(factor) {
    return new Cured(this.base.scaled(factor), this.cure);
  }

  shifted(offset) {
    return new Cured(this.base.shifted(offset), this.cure);
  }
}

// Proportional hazards: a baseline and a log risk, for each member of an ensemble.

import { log1mexp, logSumExp, orComplement } from "../numerics/numerics.js";
import { HazardCurves, logFall } from "./hazard_curves.js";
import { sumOf } from "./sorted.js";

/** S(t) = exp(-H0(t)·exp(log risk)), H0 a cumulative hazard that rises at the times of a grid: the members' mean. */
export class ProportionalHazards extends HazardCurves {
  changed(fields) {
    const { times, logCumulative, logRisk, levelMaps } = { ...this, ...fields };
    return new ProportionalHazards(times, logCumulative, logRisk, levelMaps);
  }

  curveAfter(count) {
    return meanOf(this.logSurvivals(count).map(Math.exp));
  }

  cdf(t) {
    if (this.levelMaps.length) {
      return super.cdf(t);
    }
    return meanOf(this.logSurvivals(this.count(t, true)).map((value) => -Math.expm1(value)));
  }

  logSurvival(t) {
    return this.levelMaps.length ? super.logSurvival(t) : this.logTails(t).logSurvival;
  }

  logCdf(t) {
    return this.levelMaps.length ? super.logCdf(t) : this.logTails(t).logCdf;
  }

  /** Log survival and log cdf, each by the more accurate of two ways. */
  logTails(t) {
    const parts = this.logSurvivals(this.count(t, true));
    const survival = logMeanExp(parts);
    const cdf = logMeanExp(parts.map(log1mexp));
    if (parts.length === 1) {
      return { logSurvival: survival, logCdf: cdf };
    }
    return { logSurvival: orComplement(survival, cdf), logCdf: orComplement(cdf, survival) };
  }

  logMass(count) {
    if (this.levelMaps.length) {
      return super.logMass(count);
    }
    const after = this.logSurvivals(count);
    return logMeanExp(this.logSurvivals(count - 1).map((before, k) => logFall(before, after[k])));
  }

  withScaledHazard(factor) {
    const several = this.levelMaps.length > 0 || this.logRisk.length > 1;
    return several ? super.withScaledHazard(factor) : this.withRisksTimes(factor);
  }
}

function meanOf(values) {
  return values.length === 1 ? values[0] : sumOf(values) / values.length;
}

/** The logarithm of the mean of numbers given by their logarithms. */
function logMeanExp(values) {
  return values.length === 1 ? values[0] : logSumExp(values) - Math.log(values.length);
}

// The time to the first event of any cause, where each cause has proportional hazards.

import { clip, log1mexp } from "../numerics/numerics.js";
import { HazardCurves, logFall } from "./hazard_curves.js";
import { sumOf } from "./sorted.js";

// Above it a cumulative hazard leaves a survival of 0; its exponential is still a number.
const MOST_LOG_HAZARD = 600;

/** S(t) = exp(-Σ H_k(t)·exp(log risk_k)): cumulative hazards of causes that add up. */
export class SummedHazards extends HazardCurves {
  changed(fields) {
    const { times, logCumulative, logRisk, levelMaps } = { ...this, ...fields };
    return new SummedHazards(times, logCumulative, logRisk, levelMaps);
  }

  /** For each cause the cumulative hazard at each time over its last, and the risk at the last. */
  hazardFactors() {
    if (this.knownFactors === undefined) {
      this.knownFactors = this.logCumulative.map((heights, k) => hazardFactor(heights, this.logRisk[k]));
    }
    return this.knownFactors;
  }

  /** Log survival after so many times of the grid. */
  logAfter(count) {
    if (count === 0) {
      return 0;
    }
    return -sumOf(this.hazardFactors().map(({ baseline, risk }) => baseline[count - 1] * risk));
  }

  curveAfter(count) {
    return Math.exp(this.logAfter(count));
  }

  cdf(t) {
    return this.levelMaps.length ? super.cdf(t) : -Math.expm1(this.logAfter(this.count(t, true)));
  }

  logSurvival(t) {
    return this.levelMaps.length ? super.logSurvival(t) : this.logAfter(this.count(t, true));
  }

  logCdf(t) {
    return this.levelMaps.length ? super.logCdf(t) : log1mexp(this.logAfter(this.count(t, true)));
  }

  logMass(count) {
    return this.levelMaps.length ? super.logMass(count) : logFall(this.logAfter(count - 1), this.logAfter(count));
  }

  withScaledHazard(factor) {
    return this.levelMaps.length ? super.withScaledHazard(factor) : this.withRisksTimes(factor);
  }
}

/** S(t) = 1 - Σ share_k·(1 - exp(-H_k(t)·exp(log risk_k))): incidences of causes that add up. */
export class SummedIncidences extends HazardCurves {
  constructor(times, logCumulative, logRisk, shares, levelMaps = []) {
    super(times, logCumulative, logRisk, levelMaps);
    this.shares = shares;
  }

  changed(fields) {
    const { times, logCumulative, logRisk, shares, levelMaps } = { ...this, ...fields };
    return new SummedIncidences(times, logCumulative, logRisk, shares, levelMaps);
  }

  /** Incidence of each cause after so many times of the grid. */
  incidencesAfter(count) {
    return this.logSurvivals(count).map((value, k) => -this.shares[k] * Math.expm1(value));
  }

  curveAfter(count) {
    // Shares were chosen so that no more than one is lost: what rounding takes beyond is none.
    return clip(1 - sumOf(this.incidencesAfter(count)), 0, 1);
  }
}

/** A cumulative hazard as two factors, neither of which overflows. */
function hazardFactor(heights, logRisk) {
  let top = -MOST_LOG_HAZARD;
  for (const height of heights) {
    if (Number.isFinite(height)) {
      top = Math.max(top, height);
    }
  }
  const baseline = heights.map((height) => Math.exp(height - top));
  return { baseline, risk: Math.exp(Math.min(logRisk + top, MOST_LOG_HAZARD)) };
}

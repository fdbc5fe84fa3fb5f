// Cumulative incidence: the probability to have had the event by a time, cause by cause.

import { QuantileKnots } from "../curves/quantile_knots.js";
import { countBelow, sumOf, withFirst } from "../curves/sorted.js";
import { Step } from "../curves/step.js";
import { clip } from "../numerics/numerics.js";
import { CompetingDistribution } from "./competing_distribution.js";

// What is left to survive the grid is at most this close to one where the hazard of the tail is taken.
const LEAST_LOSS = 1e-12;

/**
 * Survival that falls in straight lines from 1 at time 0 through its values at the ends of bins. After the last end the
 * hazard is the mean hazard up to it.
 */
export function linearSurvival(ends, survival) {
  const { values, cdfValues } = new Step(ends, survival).smoothed();
  const lastEnd = ends[ends.length - 1];
  const last = clip(survival[survival.length - 1], 0, 1 - LEAST_LOSS);
  const scale = Math.max(lastEnd / -Math.log(last), Number.EPSILON * (1 + lastEnd));
  return new QuantileKnots(values, cdfValues, scale);
}

/** Probability of the event of each cause by any time; only the first event counts. */
export class CumulativeIncidence extends CompetingDistribution {
  /** A grid, the incidence of each cause from each time on, and whether it rises in straight lines in between. */
  constructor(times, values, causes, interpolate) {
    super(causes);
    this.times = times;
    this.values = values;
    this.interpolate = interpolate;
  }

  /** Incidence of each cause at the last time. */
  lastValues() {
    return this.values.map((own) => own[own.length - 1]);
  }

  overall() {
    const survival = this.times.map((_, k) => clip(1 - sumOf(this.values.map((own) => own[k])), 0, 1));
    return this.interpolate ? linearSurvival(this.times, survival) : new Step(this.times, survival);
  }

  subdistribution(cause) {
    if (this.interpolate) {
      return super.subdistribution(cause);
    }
    return new Step(this.times, this.values[this.causeNumber(cause) - 1].map((value) => 1 - value));
  }

  incidences(t) {
    const size = this.times.length;
    const passed = countBelow(this.times, t, true);
    const before = this.values.map((own) => (passed > 0 ? own[passed - 1] : 0));
    if (!this.interpolate) {
      return before;
    }
    if (passed < size) {
      const start = passed > 0 ? this.times[passed - 1] : 0;
      const share = clip((t - start) / (this.times[passed] - start), 0, 1);
      return before.map((value, k) => value + (this.values[k][passed] - value) * share);
    }
    const last = this.lastValues();
    const later = this.overall().cdf(Math.max(t, this.times[size - 1])) - sumOf(last);
    const shares = this.laterShares();
    return last.map((value, k) => value + shares[k] * later);
  }

  /** Shares of what is left after the grid: in the proportion that the causes have there. */
  laterShares() {
    const last = this.lastValues();
    const total = sumOf(last);
    return last.map((value) => (total > 0 ? value / total : 1 / last.length));
  }

  logDensities(t) {
    if (!this.interpolate) {
      throw new Error("incidence that rises in steps has no density; that of a smooth prediction has one.");
    }
    if (t < 0) {
      return this.values.map(() => -Infinity);
    }
    const last = this.times.length - 1;
    if (t > this.times[last]) {
      const density = this.overall().density(t);
      return this.laterShares().map((share) => Math.log(share * density));
    }
    // As of the overall distribution, the end of a stretch belongs to it.
    const stretch = Math.min(countBelow(this.times, t, false), last);
    const edges = withFirst(0, this.times);
    const width = edges[stretch + 1] - edges[stretch];
    return this.values.map((own) => Math.log((own[stretch] - (stretch > 0 ? own[stretch - 1] : 0)) / width));
  }

  scaled(factor) {
    const times = this.times.map((time) => factor * time);
    return new CumulativeIncidence(times, this.values, this.causes, this.interpolate);
  }
}

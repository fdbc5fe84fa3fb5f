// A distribution drawn through predicted quantiles: the cdf is linear between its knots.

import { Distribution } from "../distribution.js";
import { clip, saturation } from "../numerics/numerics.js";
import { countBelow, placeOfLargest, sumsFromStart, sumsToEnd, withFirst } from "./sorted.js";

// A flat curve has at least this cdf at its end where the slope of its tail is taken.
const LEAST_RISE = 1e-12;

/** Quantiles joined by straight lines; beyond the last the tail is exponential. */
export class QuantileKnots extends Distribution {
  /** Knots with the cdf at each, the first 0, and the scale of the tail; by default that of the last stretch. */
  constructor(values, cdfValues, tailScale = lastStretchScale(values, cdfValues)) {
    super();
    this.values = values;
    this.cdfValues = cdfValues;
    this.tailScale = tailScale;
    this.lastKnot = values[values.length - 1];
    this.rest = 1 - cdfValues[cdfValues.length - 1];
  }

  /** Index of the knot at which the stretch of a time begins; the last knot is never one. */
  stretch(t) {
    return clip(countBelow(this.values, t, true) - 1, 0, this.values.length - 2);
  }

  /** Cdf up to the last knot, clipped beyond the knots. */
  innerCdf(t) {
    const index = this.stretch(t);
    const low = this.cdfValues[index];
    // Before the first knot there is nothing, even where the first stretch is a jump.
    if (t < this.values[0]) {
      return low;
    }
    const width = this.values[index + 1] - this.values[index];
    const share = width > 0 ? clip((t - this.values[index]) / width, 0, 1) : 1;
    return low + (this.cdfValues[index + 1] - low) * share;
  }

  /** How far a time lies behind the last knot, in units of the scale of the tail. */
  tailDistance(t) {
    return Math.max(t - this.lastKnot, 0) / this.tailScale;
  }

  logSurvival(t) {
    if (t >= this.lastKnot) {
      return Math.log(this.rest) - this.tailDistance(t);
    }
    return Math.log1p(-this.innerCdf(t));
  }

  logCdf(t) {
    if (t >= this.lastKnot) {
      return Math.log1p(-this.rest * Math.exp(-this.tailDistance(t)));
    }
    return Math.log(this.innerCdf(t));
  }

  logDensity(t) {
    if (!(t >= this.values[0])) {
      return -Infinity;
    }
    if (t >= this.lastKnot) {
      return Math.log(this.rest) - Math.log(this.tailScale) - this.tailDistance(t);
    }
    const index = this.stretch(t);
    const rise = this.cdfValues[index + 1] - this.cdfValues[index];
    return Math.log(rise) - Math.log(this.values[index + 1] - this.values[index]);
  }

  inverseLogSurvival(logSurvival) {
    const logRest = Math.log(this.rest);
    if (logSurvival < logRest) {
      return this.rest > 0 ? this.lastKnot - this.tailScale * (logSurvival - logRest) : this.lastKnot;
    }
    const knots = this.cdfValues.length;
    const level = Math.min(-Math.expm1(logSurvival), this.cdfValues[knots - 1]);
    const index = clip(countBelow(this.cdfValues, level, false) - 1, 0, knots - 2);
    const rise = this.cdfValues[index + 1] - this.cdfValues[index];
    const share = rise > 0 ? (level - this.cdfValues[index]) / rise : 0;
    return this.values[index] + (this.values[index + 1] - this.values[index]) * share;
  }

  // ---- integrals: polynomials on the stretches, exponentials in the tail

  /** Areas under the survival from the first knot to each, and from each to the last. */
  areas() {
    if (this.knownAreas === undefined) {
      const stretches = new Float64Array(this.values.length - 1);
      for (let k = 0; k < stretches.length; k += 1) {
        const height = (1 - this.cdfValues[k] + (1 - this.cdfValues[k + 1])) / 2;
        stretches[k] = (this.values[k + 1] - this.values[k]) * height;
      }
      this.knownAreas = { front: sumsFromStart(stretches), back: sumsToEnd(stretches) };
    }
    return this.knownAreas;
  }

  /** Area under the survival from the first knot to a time, and from there to the last: each summed from its end. */
  survivalIntegrals(t) {
    const { front, back } = this.areas();
    const index = this.stretch(t);
    const inside = clip(t, this.values[0], this.lastKnot);
    const here = 1 - this.innerCdf(t);
    const before = ((inside - this.values[index]) * (1 - this.cdfValues[index] + here)) / 2;
    const after = ((this.values[index + 1] - inside) * (here + (1 - this.cdfValues[index + 1]))) / 2;
    return { front: front[index] + before, back: back[index + 1] + after };
  }

  residual(start, stop) {
    const early = Math.min(start, this.lastKnot);
    const atStart = 1 - this.innerCdf(early);
    if (!(atStart > 0)) {
      return 0;
    }
    const first = this.survivalIntegrals(early);
    const second = this.survivalIntegrals(Math.min(stop, this.lastKnot));
    // Either difference is as exact as what it is taken from: the smaller one, early or late in time.
    const inner = second.front < first.back ? second.front - first.front : first.back - second.back;
    const distance = Math.max(stop - Math.max(start, this.lastKnot), 0);
    const tail = this.tailScale * saturation(distance, this.tailScale);
    return (inner + this.rest * tail) / atStart;
  }

  mean() {
    let total = 0;
    for (let k = 0; k + 1 < this.values.length; k += 1) {
      const mass = this.cdfValues[k + 1] - this.cdfValues[k];
      total += (mass * (this.values[k + 1] + this.values[k])) / 2;
    }
    return total + this.rest * (this.lastKnot + this.tailScale);
  }

  /** The largest jump if there is one, else the middle of the densest stretch, on which the density is constant. */
  mode() {
    const masses = [];
    const widths = [];
    for (let k = 0; k + 1 < this.values.length; k += 1) {
      masses.push(this.cdfValues[k + 1] - this.cdfValues[k]);
      widths.push(this.values[k + 1] - this.values[k]);
    }
    const jumps = masses.map((mass, k) => (widths[k] <= 0 ? mass : 0));
    const densities = masses.map((mass, k) => (widths[k] <= 0 ? 0 : mass / widths[k]));
    const heights = jumps.some((jump) => jump > 0) ? jumps : densities;
    // The first of those as high except for rounding: the stretch below the first quantile may copy the next one.
    const least = (1 - 1e-9) * heights[placeOfLargest(heights)];
    const index = heights.findIndex((height) => height >= least);
    return (this.values[index] + this.values[index + 1]) / 2;
  }

  lower() {
    return this.values[0];
  }

  kinks() {
    return Array.from(this.values);
  }

  scaled(factor) {
    return new QuantileKnots(this.values.map((value) => factor * value), this.cdfValues, factor * this.tailScale);
  }

  shifted(offset) {
    return new QuantileKnots(this.values.map((value) => value + offset), this.cdfValues, this.tailScale);
  }
}

/** The distribution of predicted quantiles at ascending levels; quantiles that cross are sorted. */
export function knotsOfQuantiles(levels, quantiles) {
  const sorted = Float64Array.from(quantiles).sort();
  const thin = ((sorted[1] - sorted[0]) / (levels[1] - levels[0])) * levels[0];
  const bottom = sorted[0] > 0 ? 0 : sorted[0] - thin;
  return new QuantileKnots(withFirst(bottom, sorted), withFirst(0, levels));
}

/** The scale of the exponential tail that continues the density of the last stretch. */
function lastStretchScale(values, cdfValues) {
  const last = values.length - 1;
  let width = values[last] - values[last - 1];
  let rise = cdfValues[last] - cdfValues[last - 1];
  // A flat last stretch says nothing about the tail: take the mean slope of the whole curve instead.
  if (rise <= 0) {
    width = values[last] - values[0];
    rise = Math.max(cdfValues[last], LEAST_RISE);
  }
  const least = Number.EPSILON * (1 + Math.abs(values[last]));
  return Math.max(((1 - cdfValues[last]) * width) / rise, least);
}

// Survival as a step function on a grid: Cox, discrete time.

import { Distribution } from "../distribution.js";
import { clip } from "../numerics/numerics.js";
import { mappedSurvival } from "../wrappers/level_map.js";
import { QuantileKnots } from "./quantile_knots.js";
import { countBelow, firstTrue, placeOfLargest, sumsFromStart, sumsToEnd, withFirst } from "./sorted.js";

/** All probability sits at the times of a grid: survival is 1 before the first, falls at each, and the last is held. */
export class Step extends Distribution {
  /** An ascending grid, and the survival from each time on. */
  constructor(times, values) {
    super();
    this.times = times;
    this.values = values;
    // The grid with its edge: what holds before the first time.
    this.edgeTimes = withFirst(edgeBefore(times), times);
    this.edgeValues = withFirst(1, values);
  }

  /** Linear interpolation of the cdf between the times; after the last, an exponential tail. */
  smoothed() {
    return new QuantileKnots(this.edgeTimes, this.edgeValues.map((value) => 1 - value));
  }

  survival(t) {
    return this.edgeValues[countBelow(this.times, t, true)];
  }

  cdf(t) {
    return 1 - this.survival(t);
  }

  logSurvival(t) {
    return Math.log(this.survival(t));
  }

  logCdf(t) {
    return Math.log1p(-this.survival(t));
  }

  /** That of the linear interpolation: a discrete distribution has no density. */
  logDensity(t) {
    const last = this.edgeTimes.length - 1;
    if (!(t > this.edgeTimes[0] && t <= this.edgeTimes[last])) {
      return -Infinity;
    }
    const index = clip(countBelow(this.edgeTimes, t, false), 1, last);
    const width = this.edgeTimes[index] - this.edgeTimes[index - 1];
    return Math.log((this.edgeValues[index - 1] - this.edgeValues[index]) / width);
  }

  inverseLogSurvival(logSurvival) {
    const reached = reachedLevel(logSurvival);
    const count = firstTrue((position) => this.values[position - 1] <= reached, this.times.length);
    return count <= this.times.length ? this.times[count - 1] : Infinity;
  }

  /** Areas under the survival from the edge to each time, and from each to the last. */
  areas() {
    if (this.knownAreas === undefined) {
      const parts = new Float64Array(this.times.length);
      for (let k = 0; k < parts.length; k += 1) {
        parts[k] = (this.edgeTimes[k + 1] - this.edgeTimes[k]) * this.edgeValues[k];
      }
      this.knownAreas = { front: sumsFromStart(parts), back: sumsToEnd(parts) };
    }
    return this.knownAreas;
  }

  /** Area under the survival from the edge to a time; it is 1 before the edge and the last one after the end. */
  areaTo(t) {
    const index = Math.max(countBelow(this.edgeTimes, t, true) - 1, 0);
    const height = this.edgeValues[index];
    return this.areas().front[index] + (height > 0 ? (t - this.edgeTimes[index]) * height : 0);
  }

  /** The same from a time to the last of the grid, negative beyond it: summed from the end. */
  areaFrom(t) {
    const index = Math.max(countBelow(this.edgeTimes, t, true) - 1, 0);
    const following = Math.min(index + 1, this.edgeTimes.length - 1);
    const height = this.edgeValues[index];
    return this.areas().back[following] + (height > 0 ? (this.edgeTimes[following] - t) * height : 0);
  }

  residual(start, stop) {
    const atStart = this.survival(start);
    if (!(atStart > 0)) {
      return 0;
    }
    // Either difference is as exact as what it is taken from: the smaller one, early or late in time.
    const front = this.areaTo(stop);
    const back = this.areaFrom(start);
    const fromFront = Math.abs(front) < Math.abs(back);
    return (fromFront ? front - this.areaTo(start) : back - this.areaFrom(stop)) / atStart;
  }

  /** Probability at each time. */
  masses() {
    return this.values.map((value, k) => this.edgeValues[k] - value);
  }

  mean() {
    if (this.values[this.values.length - 1] > 0) {
      return Infinity;
    }
    return this.masses().reduce((total, mass, k) => total + mass * this.times[k], 0);
  }

  /** The time with the largest probability. */
  mode() {
    return this.times[placeOfLargest(this.masses())];
  }

  kinks() {
    return Array.from(this.times);
  }

  recalibrated(levelMap) {
    return new Step(this.times, this.values.map((value) => mappedSurvival(value, levelMap)));
  }

  withScaledHazard(factor) {
    return new Step(this.times, this.values.map((value) => value ** factor));
  }

  scaled(factor) {
    return new Step(this.times.map((time) => factor * time), this.values);
  }

  shifted(offset) {
    return new Step(this.times.map((time) => time + offset), this.values);
  }
}

/** Where the stretch before the first time begins: at zero, or a grid step earlier if that time is not positive. */
export function edgeBefore(times) {
  if (times[0] > 0) {
    return 0;
  }
  return times[0] - (times.length > 1 ? times[1] - times[0] : 1);
}

/** Survival at or below which a level counts as reached: also if it equals the level up to rounding. */
export function reachedLevel(logSurvival) {
  const level = Math.exp(logSurvival);
  return level + Number.EPSILON * (8 * level + 4 * (1 - level));
}

// A monotone map of probabilities: what turns predicted levels into those that come true.

import { clip, log1mexp, softplus } from "../numerics/numerics.js";
import { countBelow } from "../curves/sorted.js";

/**
 * A smooth, strictly increasing map of [0, 1] onto itself through given points: a spline of rational quadratics between
 * the log odds. Before the first and after the last point it adds a constant to the log odds.
 */
export class LevelMap {
  /** Log odds of the levels as predicted, and of what they become, both ascending; none at all: the identity. */
  constructor(knots, values) {
    this.knots = knots;
    this.values = values;
    this.slopes = splineSlopes(knots, values);
  }

  /** What is added to log odds beyond the knot of that number; 0 without knots. */
  endShift(place) {
    return this.knots.length ? this.values[place] - this.knots[place] : 0;
  }

  /** What is added to log odds, which may be infinite: finite everywhere. */
  shift(odds) {
    const last = this.knots.length - 1;
    if (last < 1 || odds < this.knots[0]) {
      return this.endShift(0);
    }
    if (odds > this.knots[last]) {
      return this.endShift(last);
    }
    const { start, width, low, height, first, second } = this.piece(odds, this.knots);
    const share = (odds - start) / width;
    const secant = height / width;
    const product = share * (1 - share);
    const risen =
      (height * (secant * share * share + first * product)) / (secant + (first + second - 2 * secant) * product);
    return low + risen - odds;
  }

  /** Logarithm of the derivative of the map of log odds. */
  logSlope(odds) {
    const last = this.knots.length - 1;
    if (last < 1) {
      return 0;
    }
    // At the ends of the clipped range the slope is 1, as it is beyond them.
    const inside = clip(odds, this.knots[0], this.knots[last]);
    const { start, width, height, first, second } = this.piece(inside, this.knots);
    const share = (inside - start) / width;
    const secant = height / width;
    const product = share * (1 - share);
    const rise = second * share * share + 2 * secant * product + first * (1 - share) ** 2;
    return Math.log(secant * secant * rise) - 2 * Math.log(secant + (first + second - 2 * secant) * product);
  }

  /** What must be added to mapped log odds to get those before. */
  inverseShift(odds) {
    const last = this.values.length - 1;
    if (last < 1 || odds < this.values[0]) {
      return -this.endShift(0);
    }
    if (odds > this.values[last]) {
      return -this.endShift(last);
    }
    const { start, width, low, height, first, second } = this.piece(odds, this.values);
    const secant = height / width;
    const risen = odds - low;
    const bend = risen * (first + second - 2 * secant);
    const a = height * (secant - first) + bend;
    const b = height * first - bend;
    const c = -secant * risen;
    // The root in [0, 1], in the form that does not subtract; the discriminant is positive except for rounding.
    const share = (2 * c) / (-b - Math.sqrt(Math.max(b * b - 4 * a * c, 0)));
    return start + clip(share, 0, 1) * width - odds;
  }

  /** Of the stretch a number lies in: knot, width, value, height, slopes at both ends. */
  piece(inside, edges) {
    const index = clip(countBelow(edges, inside, true) - 1, 0, edges.length - 2);
    return {
      start: this.knots[index],
      width: this.knots[index + 1] - this.knots[index],
      low: this.values[index],
      height: this.values[index + 1] - this.values[index],
      first: this.slopes[index],
      second: this.slopes[index + 1],
    };
  }
}

/** Derivative at each knot: 1 at both ends, elsewhere a harmonic mean of the slopes on both sides. */
function splineSlopes(knots, values) {
  const slopes = new Float64Array(knots.length).fill(1);
  for (let k = 1; k + 1 < knots.length; k += 1) {
    const earlier = knots[k] - knots[k - 1];
    const later = knots[k + 1] - knots[k];
    const before = 2 * later + earlier;
    const after = later + 2 * earlier;
    const secantBefore = (values[k] - values[k - 1]) / earlier;
    const secantAfter = (values[k + 1] - values[k]) / later;
    slopes[k] = (before + after) / (before / secantBefore + after / secantAfter);
  }
  return slopes;
}

/** What a survival becomes if its level is mapped: those of 0 and 1 stay. */
export function mappedSurvival(survival, levelMap) {
  if (!(survival > 0 && survival < 1)) {
    return survival;
  }
  const odds = Math.log1p(-survival) - Math.log(survival);
  return Math.exp(-softplus(odds + levelMap.shift(odds)));
}

/** Log odds of the cdf, from the log survival. */
export function logOddsOfSurvival(logSurvival) {
  return log1mexp(logSurvival) - logSurvival;
}

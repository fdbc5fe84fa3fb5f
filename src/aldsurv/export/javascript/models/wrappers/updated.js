// A fitted model with its predictions changed for other people than those it was fitted to.

import { requireEntry } from "../../file_entries.js";
import { clip } from "../../numerics/numerics.js";
import { readLevelMap } from "./recalibrated.js";
import { WrappedEstimator, readInner } from "./wrapped.js";

// No hazard is multiplied by more than e^20: such rows are unlike any that the change was learned from.
const LARGEST_LOG_FACTOR = 20;
// Of log cumulative hazards: survival between these is neither 0 nor 1.
const LOWEST_PREDICTOR = Math.log(1e-8);
const HIGHEST_PREDICTOR = Math.log(50);

/** A change of predicted distributions: S(t|x)**exp(a + (b - 1)·(lp(x) - center)), then a map of levels. */
export class Adjustment {
  constructor({ intercept, slope, time, center }, levelMap) {
    this.intercept = intercept;
    this.slope = slope;
    this.time = time;
    this.center = center;
    this.levelMap = levelMap;
  }

  /** Logarithm of what the hazard is multiplied by. */
  logFactor(predicted) {
    if (this.slope === 1) {
      return this.intercept;
    }
    const centered = linearPredictor(predicted, this.time) - this.center;
    return clip(this.intercept + (this.slope - 1) * centered, -LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR);
  }

  /** The changed distribution, by its own log factor or by another one. */
  apply(predicted, logFactor = this.logFactor(predicted)) {
    const changed = logFactor === 0 ? predicted : predicted.withScaledHazard(Math.exp(logFactor));
    return this.levelMap.knots.length > 0 ? changed.recalibrated(this.levelMap) : changed;
  }
}

/** log(-log S(time)), within limits where survival is 0 or 1. */
function linearPredictor(predicted, time) {
  return clip(Math.log(predicted.cumulativeHazard(time)), LOWEST_PREDICTOR, HIGHEST_PREDICTOR);
}

/** A fitted model, updated on the rows of another place or time. */
export class UpdatedSurvival extends WrappedEstimator {
  constructor(inner, adjustment) {
    super(inner);
    this.adjustment = adjustment;
  }

  predictDistribution(row) {
    return this.adjustment.apply(this.inner.predictDistribution(row));
  }

  predictMembers(row) {
    const factor = this.adjustment.logFactor(this.inner.predictDistribution(row));
    return this.inner.predictMembers(row).map((member) => this.adjustment.apply(member, factor));
  }
}

/** The model of a file of kind updated. */
export function readUpdated(document, arrays) {
  const entries = document.adjustment;
  const clear = entries !== null && typeof entries === "object";
  const numbers = clear && ["intercept", "slope", "time", "center"].every((name) => Number.isFinite(entries[name]));
  requireEntry(numbers, "its adjustment must be finite numbers");
  requireEntry(Math.abs(entries.intercept) <= LARGEST_LOG_FACTOR, "its intercept is too large");
  const adjustment = new Adjustment(entries, readLevelMap(arrays, "adjustment."));
  return new UpdatedSurvival(readInner(document, arrays), adjustment);
}

// What linear models of proportional hazards share: a baseline for each stratum, and a log risk.

import { Estimator } from "../../estimator.js";
import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { Design } from "../../linear.js";
import { readTrainedOn, timePoint } from "../neural/neural_survival.js";

/** Coefficients of scaled columns, the average row, and the baselines of the strata. */
export class HazardRegression {
  constructor(design, arrays) {
    this.slopes = finiteNumbers(arrays, "standardised", 1);
    this.average = finiteNumbers(arrays, "average", 1);
    const { width } = design;
    const fits = this.slopes.length === width && this.average.length === width;
    requireEntry(fits, "its coefficients are not those of its columns");
    this.baselines = readBaselines(arrays, design);
  }

  /** β·x, measured from an average row. */
  logRisk(numbers) {
    return numbers.reduce((sum, x, k) => sum + (x - this.average[k]) * this.slopes[k], 0);
  }

  /** The baseline of a stratum, of which null is the only one: {times, logCumulative}. */
  baseline(stratum) {
    const found = this.baselines.get(stratum);
    if (found === undefined) {
      throw new Error("the stratum had no row of positive weight in training, so it has no baseline hazard.");
    }
    return found;
  }
}

/** Baselines by the number of their stratum. */
function readBaselines(arrays, design) {
  const sizes = Array.from(finiteNumbers(arrays, "baseline.sizes", 1), Number);
  const times = finiteNumbers(arrays, "baseline.times", 1);
  const levels = design.strataColumns.length === 0 ? [null] : Array.from(finiteNumbers(arrays, "baseline.levels", 1), Number);
  requireEntry("baseline.log_cumulative" in arrays, "its baseline is missing");
  const heights = arrays["baseline.log_cumulative"].data;
  requireEntry(levels.length === sizes.length, "there must be one baseline per stratum");
  const total = sizes.reduce((sum, size) => sum + size, 0);
  requireEntry(total === times.length && total === heights.length, "the baseline's sizes do not fit");
  const baselines = new Map();
  let start = 0;
  sizes.forEach((size, k) => {
    const own = { times: times.slice(start, start + size), logCumulative: heights.slice(start, start + size) };
    requireEntry(size > 0 && ascends(own.times, true), "times of the baseline must ascend");
    requireEntry(ascends(own.logCumulative, false), "the baseline must not fall");
    baselines.set(levels[k], own);
    start += size;
  });
  return baselines;
}

function ascends(numbers, strictly) {
  return numbers.every((number, k) => {
    const before = k === 0 ? -Infinity : numbers[k - 1];
    return number > before || (number === before && (k === 0 || !strictly));
  });
}

/** A model of a design with strata. */
export class DesignEstimator extends Estimator {
  /** Entries and arrays of a file, and the summary by which rows are ranked. */
  constructor(document, arrays, rankingPoint) {
    const { point, unit } = document.parameters;
    const design = new Design(document.design);
    super({
      features: design.features,
      unit,
      times: finiteNumbers(arrays, "times", 1),
      trainedOn: readTrainedOn(document.trained_on),
      errorPoint: timePoint(point),
      rankingPoint,
    });
    this.design = design;
  }

  get columns() {
    return this.design.describe();
  }

  outside(row) {
    return super.outside(row).filter((name) => !this.design.strataColumns.includes(name));
  }

  notes(row) {
    return super.notes(row).filter(({ column }) => !this.design.strataColumns.includes(column));
  }
}

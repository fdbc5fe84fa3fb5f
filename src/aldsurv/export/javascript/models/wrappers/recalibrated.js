// Any model, with its levels recalibrated on rows that it did not learn from.

import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { LevelMap } from "../../wrappers/level_map.js";
import { WrappedEstimator, readInner } from "./wrapped.js";

/** A model whose predicted probabilities are calibrated on average over all rows. */
export class RecalibratedSurvival extends WrappedEstimator {
  constructor(inner, levelMap) {
    super(inner);
    this.levelMap = levelMap;
  }

  predictDistribution(row) {
    return this.inner.predictDistribution(row).recalibrated(this.levelMap);
  }

  predictMembers(row) {
    return this.inner.predictMembers(row).map((member) => member.recalibrated(this.levelMap));
  }
}

/** The model of a file of kind recalibrated. */
export function readRecalibrated(document, arrays) {
  return new RecalibratedSurvival(readInner(document, arrays), readLevelMap(arrays, "level_map."));
}

/** A map of levels from its two arrays. */
export function readLevelMap(arrays, prefix) {
  const [knots, values] = ["knots", "values"].map((name) => finiteNumbers(arrays, `${prefix}${name}`, 1));
  const ascending = (numbers) => numbers.every((number, k) => k === 0 || number > numbers[k - 1]);
  requireEntry(knots.length === values.length && ascending(knots) && ascending(values), "its map of levels is unclear");
  return new LevelMap(knots, values);
}

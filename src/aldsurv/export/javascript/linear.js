// Columns of a linear model: numbers centred and scaled, levels against the first one, strata apart.

import { columnValue, formatValue, levelKey, LevelsColumn, plainValue, readFeatures } from "./columns.js";
import { requireEntry } from "./file_entries.js";

/** How a row becomes numbers for a linear model; strata are columns by name. */
export class Design {
  constructor(plain) {
    requireEntry(plain !== null && typeof plain === "object", "its columns are unclear");
    this.features = readFeatures(plain.features);
    const names = this.features.plans.map((plan) => plan.name);
    requireEntry(Array.isArray(plain.columns) && Array.isArray(plain.strata), "its strata are unclear");
    this.strataColumns = plain.columns.map((column) => (typeof column === "number" ? names[column] : column));
    requireEntry(
      this.strataColumns.every((name) => names.includes(name)),
      "its strata are not columns of the model",
    );
    this.strata = plain.strata;
    this.used = this.features.plans.flatMap((plan) => {
      const used = new Array(plan.width).fill(!this.strataColumns.includes(plan.name));
      // The first level is the reference.
      return plan instanceof LevelsColumn ? used.map((use, k) => use && k > 0) : used;
    });
  }

  /** How many inputs each row has. */
  get width() {
    return this.used.filter((use) => use).length;
  }

  /** The row as numbers. */
  numbers(row) {
    const every = this.features.inputs(row, { exact: true, without: this.strataColumns });
    return every.filter((_, k) => this.used[k]);
  }

  /** The sum of the numbers of a row times coefficients. */
  predictor(row, coefficients) {
    return this.numbers(row).reduce((sum, number, k) => sum + number * coefficients[k], 0);
  }

  /** Number of the row's stratum, null if there are no strata; one that training had not is refused. */
  stratum(row) {
    if (this.strataColumns.length === 0) {
      return null;
    }
    const levels = this.strataColumns.map((name) => plainValue(columnValue(row, name), name));
    const key = stratumKey(levels);
    const found = this.strata.findIndex((stratum) => stratumKey(stratum) === key);
    if (found < 0) {
      throw new Error(`stratum ${this.stratumText(levels)} was not in the training data, so it has no baseline hazard.`);
    }
    return found;
  }

  stratumText(levels) {
    return levels.map((level, k) => `${this.strataColumns[k]}=${level === null ? "a gap" : formatValue(level)}`).join(", ");
  }

  /** What a page must know of each column; strata offer the levels that training had. */
  describe() {
    return this.features.describe().map((column) => {
      const place = this.strataColumns.indexOf(column.name);
      return place < 0 ? column : { ...column, kind: "stratum", ...this.stratumLevels(place) };
    });
  }

  stratumLevels(place) {
    const levels = [];
    let gaps = false;
    const seen = new Set();
    for (const stratum of this.strata) {
      const level = stratum[place];
      gaps = gaps || level === null;
      if (level !== null && !seen.has(levelKey(level))) {
        seen.add(levelKey(level));
        levels.push({ value: level, label: formatValue(level) });
      }
    }
    return { levels, gaps };
  }
}

function stratumKey(levels) {
  return JSON.stringify(levels.map((level) => (level === null ? null : levelKey(level))));
}

// Columns whose levels are strata: the number of a row's stratum.

import { formatValue, isGap, levelKey } from "../../columns.js";
import { requireEntry } from "../../file_entries.js";

/** The combinations of levels of some columns that training had. */
export class Strata {
  /** Names of the columns, and the levels of each stratum, one per column; null is a gap. */
  constructor(names, strata) {
    const fits = Array.isArray(strata) && strata.every((levels) => levels.length === names.length);
    requireEntry(fits, "its strata are not those of its columns");
    this.names = names;
    this.strata = strata;
    this.numbers = new Map(strata.map((levels, number) => [keyOfLevels(levels), number]));
  }

  /** The number of a row's stratum; one that training did not have is an error. */
  numberOf(row) {
    const levels = this.names.map((name) => row[name]);
    const number = this.numbers.get(keyOfLevels(levels));
    if (number === undefined) {
      const known = this.strata.map((each) => this.words(each)).join("; ");
      const words = this.words(levels);
      throw new Error(`stratum ${words} was not in the training data, so it has no baseline hazard. Known: ${known}.`);
    }
    return number;
  }

  /** A stratum in words, such as "sex=f, grade=2". */
  words(levels) {
    return levels.map((level, k) => `${this.names[k]}=${isGap(level) ? "a gap" : formatValue(level)}`).join(", ");
  }

  /** What a page must know of each of the columns. */
  describe() {
    return this.names.map((name, column) => {
      const every = new Map(this.strata.map((levels) => [keyOfLevels([levels[column]]), levels[column]]));
      const levels = [...every.values()].filter((level) => level !== null);
      const gaps = levels.length < every.size;
      const described = levels.map((value) => ({ value, label: formatValue(value) }));
      return { name, kind: "stratum", low: null, high: null, median: null, levels: described, gaps, whole: false };
    });
  }
}

/** Equal for equal strata. */
function keyOfLevels(levels) {
  return JSON.stringify(levels.map((level) => (isGap(level) ? null : levelKey(level))));
}

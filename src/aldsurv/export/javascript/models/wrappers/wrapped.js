// Models around another model: most facts about them are those of the model within.

import { Estimator } from "../../estimator.js";
import { arraysUnder, requireEntry } from "../../file_entries.js";
import { readModel } from "../../models.js";

/** A model that changes the predictions of another one. */
export class WrappedEstimator extends Estimator {
  constructor(inner) {
    const { features, unit, times, trainedOn, errorPoint, rankingPoint } = inner;
    super({ features, unit, times, trainedOn, errorPoint, rankingPoint });
    this.inner = inner;
  }

  get nMembers() {
    return this.inner.nMembers;
  }

  bandStretch() {
    return this.inner.bandStretch();
  }

  get columns() {
    return this.inner.columns;
  }

  outside(row) {
    return this.inner.outside(row);
  }

  notes(row) {
    return this.inner.notes(row);
  }
}

/** The model within another one, of the entries and arrays of the latter. */
export function readInner(document, arrays) {
  const { inner } = document;
  const clear = inner !== null && typeof inner === "object" && typeof inner.entries === "object";
  requireEntry(clear, "the model within is unclear");
  return readModel(inner.model, inner.entries, arraysUnder(arrays, "inner."));
}

// Several models as one: the mixture of their predictions, weighted by how well each predicts new rows.

import { Estimator } from "../../estimator.js";
import { arraysUnder, finiteNumbers, requireEntry } from "../../file_entries.js";
import { readModel } from "../../models.js";
import { joinedSteps } from "../../wrappers/joined_steps.js";
import { Mixture } from "../../wrappers/mixture.js";

/** Several models whose predictions are mixed, each with a weight. */
export class StackedSurvival extends Estimator {
  /** Fitted models, their weights, times between which curves of steps are joined by lines, and the parameters. */
  constructor(models, weights, knots, { point, unit }) {
    // The model whose columns stand for those of all: one that reads every column itself, if there is one.
    const reference = models.find((model) => model.columns.every(({ kind }) => kind !== "stratum")) || models[0];
    const { features, times, trainedOn } = reference;
    const errorPoint = point === "follow_up" ? "median" : point;
    super({ features, unit, times, trainedOn, errorPoint, rankingPoint: point });
    this.models = models;
    this.weights = weights;
    this.knots = knots;
    this.reference = reference;
  }

  get columns() {
    return this.reference.columns;
  }

  outside(row) {
    return this.reference.outside(row);
  }

  notes(row) {
    return this.reference.notes(row);
  }

  predictDistribution(row) {
    const parts = this.models.map((model) => joinedSteps(model.predictDistribution(row), this.knots));
    return parts.length === 1 ? parts[0] : new Mixture(parts, this.weights);
  }
}

/** The model of a file of kind stack. */
export function readStack(document, arrays) {
  const entries = document.members;
  requireEntry(Array.isArray(entries) && entries.length > 0, "its members are unclear");
  const weights = finiteNumbers(arrays, "weights", 1);
  requireEntry(weights.length === entries.length, "weights must be one for each member");
  requireEntry(weights.every((weight) => weight > 0), "weights must be positive");
  const knots = finiteNumbers(arrays, "knots", 1);
  const rising = knots.length > 0 && knots.every((knot, k) => knot > (k === 0 ? 0 : knots[k - 1]));
  requireEntry(rising, "knots must be positive and ascend");
  const models = entries.map((entry, k) => readModel(entry.model, entry.entries, arraysUnder(arrays, `member${k}.`)));
  return new StackedSurvival(models, Array.from(weights), knots, document.parameters);
}

// What models with a linear predictor share: columns, estimates of scaled columns, the summaries of a prediction.

import { Estimator } from "../../estimator.js";
import { finiteNumbers } from "../../file_entries.js";
import { Design } from "../../linear.js";
import { readTrainedOn, timePoint } from "../neural/neural_survival.js";

/** A model whose distribution depends on covariates by a sum of columns times coefficients. */
export class LinearSurvival extends Estimator {
  constructor(document, arrays) {
    const design = new Design(document.design);
    const { point, unit } = document.parameters;
    super({
      features: design.features,
      unit,
      times: finiteNumbers(arrays, "times", 1),
      trainedOn: readTrainedOn(document.trained_on),
      errorPoint: timePoint(point),
      rankingPoint: point,
    });
    this.design = design;
    this.parameters = document.parameters;
    this.standardised = finiteNumbers(arrays, "standardised", 1);
  }

  get columns() {
    return this.design.describe();
  }
}

// Cox's proportional hazards regression, with or without an elastic net.

import { ProportionalHazards } from "../../curves/proportional_hazards.js";
import { DesignEstimator, HazardRegression } from "./hazard_regression.js";

/** Proportional hazards: h(t | x) = h0(t)·exp(β·x), h0 a step at each event. */
export class CoxRegression extends DesignEstimator {
  constructor(document, arrays) {
    super(document, arrays, document.parameters.point);
    // Any median may be infinite: rows are ranked within follow-up, if the file has its end.
    this.rankingPoint = this.followUp === null ? this.rankingPoint : "follow_up";
    this.regression = new HazardRegression(this.design, arrays);
  }

  /** The log risk, measured from an average row: the higher, the earlier the event. */
  predictRisk(row) {
    return this.regression.logRisk(this.design.numbers(row));
  }

  predictDistribution(row) {
    const { times, logCumulative } = this.regression.baseline(this.design.stratum(row));
    return new ProportionalHazards(times, [logCumulative], [this.predictRisk(row)]);
  }
}

/** The model of a file of kind cox or coxnet. */
export function readCox(document, arrays) {
  return new CoxRegression(document, arrays);
}

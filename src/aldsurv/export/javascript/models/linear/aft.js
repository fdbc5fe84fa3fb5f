// Accelerated failure times: columns multiply the time, the shape is the same for all rows.

import { LogNormal } from "../../families/normal.js";
import { Weibull } from "../../families/weibull.js";
import { requireEntry } from "../../file_entries.js";
import { clip } from "../../numerics/numerics.js";
import { Cured } from "../../wrappers/cured.js";
import { LinearSurvival } from "./linear_survival.js";

// Beyond e^300 squares would overflow.
const LARGEST_LOG_TIME = 300;
const AFT_FAMILIES = {
  weibull: (mu, sigma) => new Weibull(Math.exp(mu), 1 / sigma),
  lognormal: (mu, sigma) => new LogNormal(mu, sigma),
};

/** log T = β0 + β·x + σ·Z; with a cure, logit P(never) = γ0 + γ·x. */
export class AcceleratedFailureTime extends LinearSurvival {
  constructor(document, arrays, family) {
    super(document, arrays);
    this.family = AFT_FAMILIES[family];
    requireEntry(this.family !== undefined, "its family is unknown");
    this.cure = this.parameters.cure === true;
    // With a cure, any other summary may be infinite.
    this.rankingPoint = this.cure ? "follow_up" : this.rankingPoint;
    const width = this.design.width;
    const count = width + 2 + (this.cure ? width + 1 : 0);
    requireEntry(this.standardised.length === count, "its coefficients are not those of its columns");
  }

  predictDistribution(row) {
    const base = this.family(this.location(row), this.spread());
    return this.cure ? new Cured(base, this.cureShare(row)) : base;
  }

  /** μ of a row. */
  location(row) {
    const mu = this.standardised[0] + this.design.predictor(row, this.standardised.subarray(1));
    return clip(mu, -LARGEST_LOG_TIME, LARGEST_LOG_TIME);
  }

  /** σ, the same for all rows. */
  spread() {
    return Math.exp(this.standardised[this.design.width + 1]);
  }

  /** Probability never to have the event. */
  cureShare(row) {
    const gamma = this.standardised.subarray(this.design.width + 2);
    const logit = gamma[0] + this.design.predictor(row, gamma.subarray(1));
    return 1 / (1 + Math.exp(-clip(logit, -LARGEST_LOG_TIME, LARGEST_LOG_TIME)));
  }
}

/** The model of the entries and arrays of a file. */
export function readWeibullAFT(document, arrays) {
  return new AcceleratedFailureTime(document, arrays, "weibull");
}

/** The model of the entries and arrays of a file. */
export function readLogNormalAFT(document, arrays) {
  return new AcceleratedFailureTime(document, arrays, "lognormal");
}

/** The model of the entries and arrays of a file. */
export function readElasticNetAFT(document, arrays) {
  return new AcceleratedFailureTime(document, arrays, document.parameters.family);
}

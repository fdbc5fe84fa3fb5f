// Quantile regression under censoring: a network gives every individual the quantiles of its distribution.

import { knotsOfQuantiles } from "../../curves/quantile_knots.js";
import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { clip, softplus } from "../../numerics/numerics.js";
import { NeuralSurvival } from "./neural_survival.js";

// Beyond e^80 nothing is known any more.
const LARGEST_LOG_QUANTILE = 80;

/** Individual survival distributions by censored quantile regression. */
export class QuantileSurvival extends NeuralSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    const { quantiles, support, crossing } = this.settings;
    requireEntry(this.network.outputs === quantiles.length, "the network must have an output for each quantile");
    this.quantileLevels = quantiles;
    this.ordered = crossing === "never";
    this.logSpread = support === "log" ? finiteNumbers(this.learned, "log_spread", 1)[0] : null;
  }

  memberDistribution(raw) {
    const quantiles = this.ordered ? orderedQuantiles(raw) : raw;
    const times = this.logSpread === null ? quantiles : quantiles.map((quantile) => this.timeOf(quantile));
    return knotsOfQuantiles(this.quantileLevels, times);
  }

  /** The time of a quantile of its logarithm. */
  timeOf(quantile) {
    return Math.exp(clip(quantile * this.logSpread, -LARGEST_LOG_QUANTILE, LARGEST_LOG_QUANTILE));
  }
}

/** Increasing quantiles: the first output is the one in the middle, softplus of the others are distances. */
function orderedQuantiles(raw) {
  const middleLevel = raw.length >> 1;
  let sum = 0;
  const sums = raw.map((value, k) => {
    sum += k === 0 ? 0 : softplus(value);
    return sum;
  });
  return sums.map((value) => raw[0] + (value - sums[middleLevel]));
}

/** The model of a file of kind cqrnn. */
export function readCQRNN(document, arrays) {
  return new QuantileSurvival(document, arrays);
}

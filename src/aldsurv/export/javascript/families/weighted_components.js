// What all mixtures share: sums over their components, and residual lives of those who are still event-free.

import { Distribution, residualAnywhere } from "../distribution.js";
import { logSumExp } from "../numerics/numerics.js";

/** Log survivals at which integrals over a mixture take a new start, in each component. */
export const LANDMARKS = [Math.log(0.5), Math.log(1e-4)];

/** With probability `weights`, which add up to one, the time follows each of the components. */
export class WeightedComponents extends Distribution {
  constructor(components, weights) {
    super();
    this.components = components;
    this.weights = weights;
    // A component of weight 0 does not count, even if infinite.
    this.counted = components.map((part, k) => ({ part, weight: weights[k] })).filter(({ weight }) => weight > 0);
  }

  weightedSum(value) {
    return this.counted.reduce((total, { part, weight }) => total + weight * value(part), 0);
  }

  logWeightedSum(value) {
    return logSumExp(this.counted.map(({ part, weight }) => value(part) + Math.log(weight)));
  }

  survival(t) {
    return Math.min(
      this.weightedSum((part) => part.survival(t)),
      1,
    );
  }

  cdf(t) {
    return Math.min(
      this.weightedSum((part) => part.cdf(t)),
      1,
    );
  }

  density(t) {
    return this.weightedSum((part) => part.density(t));
  }

  logDensity(t) {
    return this.logWeightedSum((part) => part.logDensity(t));
  }

  logProbability(lower, upper) {
    return this.logWeightedSum((part) => part.logProbability(lower, upper));
  }

  bracket(logSurvival) {
    return this.around(logSurvival);
  }

  residual(start, stop) {
    const logSurvival = this.logSurvival(start);
    const gone = logSurvival === -Infinity;
    let total = 0;
    let whole = 0;
    for (const { part, weight } of this.counted) {
      // Who is still event-free at the start is mixed again: components that live longer weigh more.
      const share = weight * Math.exp(part.logSurvival(start) - (gone ? 0 : logSurvival));
      if (share > 0) {
        total += share * residualAnywhere(part, start, stop);
      }
      whole += share;
    }
    // The shares add up to one except for rounding, which grows with the logarithms.
    return total / (gone ? 1 : whole);
  }

  mean() {
    return this.weightedSum((part) => part.mean());
  }
}

// Mixtures of distributions: ensembles, and persons with several ways for the event to come.

import { Distribution, residualAnywhere } from "../distribution.js";
import { MixedAsymmetricLaplace } from "../families/mixed_asymmetric_laplace.js";
import { logSumExp, orComplement } from "../numerics/numerics.js";

// Log survivals at which integrals over a mixture take a new start, in each component.
const MIXTURE_LANDMARKS = [Math.log(0.5), Math.log(1e-4)];

/** With probability `weights` the time follows each of the components. */
export class Mixture extends Distribution {
  /** Components, and weights that are divided by their sum; equal ones by default. */
  constructor(components, weights = components.map(() => 1)) {
    super();
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    this.components = components;
    this.weights = weights.map((weight) => weight / total);
    // A component of weight 0 does not count, even if infinite.
    this.counted = components.map((part, k) => ({ part, weight: this.weights[k] })).filter(({ weight }) => weight > 0);
  }

  weightedSum(value) {
    return this.counted.reduce((total, { part, weight }) => total + weight * value(part), 0);
  }

  logWeightedSum(value) {
    return logSumExp(this.counted.map(({ part, weight }) => value(part) + Math.log(weight)));
  }

  logSurvival(t) {
    // A sum of survivals near 1 would forget how near.
    return orComplement(
      this.logWeightedSum((part) => part.logSurvival(t)),
      this.logWeightedSum((part) => part.logCdf(t)),
    );
  }

  logCdf(t) {
    return orComplement(
      this.logWeightedSum((part) => part.logCdf(t)),
      this.logWeightedSum((part) => part.logSurvival(t)),
    );
  }

  logDensity(t) {
    return this.logWeightedSum((part) => part.logDensity(t));
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

  logProbability(lower, upper) {
    return this.logWeightedSum((part) => part.logProbability(lower, upper));
  }

  bracket(logSurvival) {
    return this.around(logSurvival);
  }

  around(logSurvival) {
    // The mixture's quantile lies between those of its components.
    const ends = this.counted.map(({ part }) => part.around(logSurvival));
    return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
  }

  places() {
    return [...this.components.flatMap((part) => part.places()), ...this.kinks()];
  }

  approximateRestrictedMean(horizon) {
    return this.weightedSum((part) => part.approximateRestrictedMean(horizon));
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

  inverseLogSurvival(logSurvival) {
    const only = this.components.length === 1 ? this.components[0] : this.flat();
    return only === null ? super.inverseLogSurvival(logSurvival) : only.inverseLogSurvival(logSurvival);
  }

  /** The same with all components in one mixture, if they are asymmetric Laplace of one support; null of others. */
  flat() {
    return MixedAsymmetricLaplace.ofComponents(this.components, this.weights);
  }

  lower() {
    return Math.min(...this.components.map((part) => part.lower()));
  }

  kinks() {
    // Beside the components' own kinks: where the support of each begins, and where most of it has passed, since a
    // narrow component is a sharp feature on the scale of a wide one.
    const kinks = this.components.flatMap((part) => [
      ...part.kinks(),
      part.lower(),
      ...MIXTURE_LANDMARKS.map((level) => part.inverseLogSurvival(level)),
    ]);
    return kinks.map((kink) => (Number.isFinite(kink) ? kink : 0));
  }

  scaled(factor) {
    return new Mixture(
      this.components.map((part) => part.scaled(factor)),
      this.weights,
    );
  }

  shifted(offset) {
    return new Mixture(
      this.components.map((part) => part.shifted(offset)),
      this.weights,
    );
  }
}

// Mixtures of distributions: ensembles, and persons with several ways for the event to come.

import { MixedAsymmetricLaplace } from "../families/mixed_asymmetric_laplace.js";
import { LANDMARKS, WeightedComponents } from "../families/weighted_components.js";
import { orComplement } from "../numerics/numerics.js";

/** With probability `weights` the time follows each of the components. */
export class Mixture extends WeightedComponents {
  /** Components, and weights that are divided by their sum; equal ones by default. */
  constructor(components, weights = components.map(() => 1)) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    super(components, weights.map((weight) => weight / total));
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
      ...LANDMARKS.map((level) => part.inverseLogSurvival(level)),
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

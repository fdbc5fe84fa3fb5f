// Mixtures of asymmetric Laplace distributions of one support.

import { orComplement } from "../numerics/numerics.js";
import { AsymmetricLaplace, PositiveAsymmetricLaplace } from "./asymmetric_laplace.js";
import { LogAsymmetricLaplace } from "./log_asymmetric_laplace.js";
import { LANDMARKS, WeightedComponents } from "./weighted_components.js";

/** Where the times of an asymmetric Laplace distribution lie: its family, and whether none is below 0. */
export const SUPPORTS = {
  real: { family: AsymmetricLaplace, fromZero: false },
  positive: { family: PositiveAsymmetricLaplace, fromZero: true },
  log: { family: LogAsymmetricLaplace, fromZero: true },
};

// Sums of probabilities below this are taken of their logarithms.
const MIXED_UNDERFLOW = 1e-290;

/** With probability `weights` the time follows each of several asymmetric Laplace distributions of one support. */
export class MixedAsymmetricLaplace extends WeightedComponents {
  constructor(components, weights, support) {
    super(components, weights);
    this.support = support;
  }

  /** The mixture of asymmetric Laplace distributions, or of mixtures of them, of one support; null of others. */
  static ofComponents(parts, weights) {
    const supports = parts.map(supportOf);
    if (supports[0] === null || supports.some((support) => support !== supports[0])) {
      return null;
    }
    const components = [];
    const shares = [];
    parts.forEach((part, k) => {
      const mixed = part instanceof MixedAsymmetricLaplace;
      components.push(...(mixed ? part.components : [part]));
      shares.push(...(mixed ? part.weights : [1]).map((share) => weights[k] * share));
    });
    return new MixedAsymmetricLaplace(components, shares, supports[0]);
  }

  logSurvival(t) {
    return this.logTailOf(t, true);
  }

  logCdf(t) {
    return this.logTailOf(t, false);
  }

  logTailOf(t, above) {
    const [survival, cdf] = [this.survival(t), this.cdf(t)];
    const [wanted, other] = above ? [survival, cdf] : [cdf, survival];
    // Sums of probabilities keep all digits unless they underflow.
    if (wanted > MIXED_UNDERFLOW) {
      return other < 0.5 ? Math.log1p(-other) : Math.log(wanted);
    }
    const logSurvival = this.logWeightedSum((part) => part.logSurvival(t));
    const logCdf = this.logWeightedSum((part) => part.logCdf(t));
    return above ? orComplement(logSurvival, logCdf) : orComplement(logCdf, logSurvival);
  }

  around(logSurvival) {
    // The mixture's quantile lies between those of its components.
    const times = this.counted.map(({ part }) => part.inverseLogSurvival(logSurvival));
    return [Math.min(...times), Math.max(...times)];
  }

  mode() {
    const places = this.components.flatMap((part) => part.kinks());
    return highestPlace(this, SUPPORTS[this.support].fromZero ? [this.lower(), ...places] : places);
  }

  lower() {
    return this.components[0].lower();
  }

  kinks() {
    // Beside the components' own kinks: where most of each has passed, since a narrow component is a sharp feature
    // on the scale of a wide one.
    const kinks = this.components.flatMap((part) => [
      ...part.kinks(),
      ...LANDMARKS.map((level) => part.inverseLogSurvival(level)),
    ]);
    return kinks.map((kink) => (Number.isFinite(kink) ? kink : 0));
  }

  scaled(factor) {
    const parts = this.components.map((part) => part.scaled(factor));
    return new MixedAsymmetricLaplace(parts, this.weights, this.support);
  }

  shifted(offset) {
    if (SUPPORTS[this.support].fromZero) {
      return super.shifted(offset);
    }
    const parts = this.components.map((part) => part.shifted(offset));
    return new MixedAsymmetricLaplace(parts, this.weights, this.support);
  }
}

/** The first of the places with the highest density. */
function highestPlace(distribution, places) {
  const heights = places.map((place) => distribution.logDensity(place));
  return places[heights.indexOf(Math.max(...heights))];
}

/** Support of an asymmetric Laplace distribution or of a mixture of such; null of anything else. */
function supportOf(part) {
  if (part instanceof MixedAsymmetricLaplace) {
    return part.support;
  }
  const found = Object.keys(SUPPORTS).find((name) => part instanceof SUPPORTS[name].family);
  return found === undefined ? null : found;
}

// Mixtures of asymmetric Laplace distributions of one support.

import { Distribution, residualAnywhere } from "../distribution.js";
import { logSumExp, orComplement } from "../numerics/numerics.js";
import { AsymmetricLaplace, PositiveAsymmetricLaplace } from "./asymmetric_laplace.js";
import { LogAsymmetricLaplace } from "./log_asymmetric_laplace.js";

/** Where the times of an asymmetric Laplace distribution lie: its family, and whether none is below 0. */
export const SUPPORTS = {
  real: { family: AsymmetricLaplace, fromZero: false },
  positive: { family: PositiveAsymmetricLaplace, fromZero: true },
  log: { family: LogAsymmetricLaplace, fromZero: true },
};

// Log survivals at which integrals over a mixture take a new start, in each component.
const MIXED_LANDMARKS = [Math.log(0.5), Math.log(1e-4)];
// Sums of probabilities below this are taken of their logarithms.
const MIXED_UNDERFLOW = 1e-290;

/** With probability `weights` the time follows each of several asymmetric Laplace distributions of one support. */
export class MixedAsymmetricLaplace extends Distribution {
  constructor(components, weights, support) {
    super();
    this.components = components;
    this.weights = weights;
    this.support = support;
    // A component of weight 0 does not count, even if infinite.
    this.counted = components.map((part, k) => ({ part, weight: weights[k] })).filter(({ weight }) => weight > 0);
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

  logDensity(t) {
    return this.logWeightedSum((part) => part.logDensity(t));
  }

  logProbability(lower, upper) {
    return this.logWeightedSum((part) => part.logProbability(lower, upper));
  }

  bracket(logSurvival) {
    return this.around(logSurvival);
  }

  around(logSurvival) {
    // The mixture's quantile lies between those of its components.
    const times = this.counted.map(({ part }) => part.inverseLogSurvival(logSurvival));
    return [Math.min(...times), Math.max(...times)];
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
      ...MIXED_LANDMARKS.map((level) => part.inverseLogSurvival(level)),
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

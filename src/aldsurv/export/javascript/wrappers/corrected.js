// Asymmetric Laplace distributions whose parameters are multiplied, as a network that puts a prediction right does.

import { MixedAsymmetricLaplace, SUPPORTS } from "../families/mixed_asymmetric_laplace.js";
import { Mixture } from "./mixture.js";

/** A distribution of asymmetric Laplace parts as one flat mixture of them; null if it has other parts. */
export function flatMixture(distribution) {
  if (!(distribution instanceof Mixture)) {
    return MixedAsymmetricLaplace.ofComponents([distribution], [1]);
  }
  const parts = distribution.components.map(flatMixture);
  return parts.includes(null) ? null : MixedAsymmetricLaplace.ofComponents(parts, distribution.weights);
}

/** An asymmetric Laplace distribution with its parameters multiplied, by logarithms of factors of θ, σ and κ. */
export function corrected(part, support, [byTheta, bySigma, byKappa]) {
  // With support log, where θ is the logarithm of a time, that time is multiplied.
  const theta = support === "log" ? part.theta + byTheta : part.theta * Math.exp(byTheta);
  return new SUPPORTS[support].family(theta, part.sigma * Math.exp(bySigma), part.kappa * Math.exp(byKappa));
}

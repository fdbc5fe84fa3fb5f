// What the outputs of a network or of trees stand for: asymmetric Laplace distributions, or mixtures of some.

import { clip, softmax } from "../numerics/numerics.js";
import { MixedAsymmetricLaplace, SUPPORTS } from "./mixed_asymmetric_laplace.js";

// This share of the probability is always divided evenly between the components.
const SHARED_OUT = 0.01;
// Beyond e^80 nothing is known any more.
const LARGEST_LOG = 80;

/** The exponential of an output, which is finite. */
export function boundedExp(raw) {
  return Math.exp(clip(raw, -LARGEST_LOG, LARGEST_LOG));
}

/** One asymmetric Laplace distribution of θ, log σ and log κ; with expTheta the first is log θ. */
export function asymmetricLaplaceOf([theta, logSigma, logKappa], support, expTheta) {
  const { family } = SUPPORTS[support];
  return new family(expTheta ? boundedExp(theta) : theta, boundedExp(logSigma), boundedExp(logKappa));
}

/** The outputs of several components: which is what, and the mixture that they make. */
export class MixtureOutputs {
  /** Shapes "free", "tied" or "skewed"; expTheta: whether θ is the exponential of its output. */
  constructor({ components, shapes, expTheta, support, leastScale }) {
    this.components = components;
    this.tied = shapes !== "free";
    this.skewed = shapes === "skewed";
    this.expTheta = expTheta;
    this.support = support;
    this.leastScale = leastScale;
    this.places = Array.from({ length: components }, (_, k) => -1 + (2 * k) / (components - 1));
  }

  /** How many outputs, the first ones, all components of tied shapes share. */
  get shared() {
    return this.tied ? 2 + (this.skewed ? 1 : 0) : 0;
  }

  /** How many outputs there are. */
  get outputs() {
    return 4 * this.components + this.shared;
  }

  /** How many of them, the last ones, are the same for every row. */
  get constants() {
    return this.tied ? 3 * this.components : 0;
  }

  /** Location, log scale and log κ of each component, and the logits of their weights. */
  split(raw) {
    const count = this.components;
    const group = (i) => raw.slice(this.shared + i * count, this.shared + (i + 1) * count);
    if (!this.tied) {
      const locations = group(0).map((location, k) => location + this.places[k]);
      return [locations, group(1), group(2), group(3)];
    }
    const [shift, logSpread] = raw;
    const spread = this.expTheta ? 1 : boundedExp(logSpread);
    const locations = group(1).map((relative, k) => shift + spread * (relative + this.places[k]));
    const logScales = group(2).map((logScale) => logSpread + logScale);
    const logKappas = this.skewed ? group(3).map((logKappa) => logKappa + raw[2]) : group(3);
    return [locations, logScales, logKappas, group(0)];
  }

  /** The mixture that outputs stand for. */
  distribution(raw) {
    const [locations, logScales, logKappas, logits] = this.split(Array.from(raw));
    const { family } = SUPPORTS[this.support];
    const parts = locations.map((location, k) => {
      const theta = this.expTheta ? boundedExp(location) : location;
      return new family(theta, boundedExp(logScales[k]) + this.leastScale, boundedExp(logKappas[k]));
    });
    const weights = softmax(logits).map((share) => SHARED_OUT / this.components + (1 - SHARED_OUT) * share);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return new MixedAsymmetricLaplace(
      parts,
      weights.map((weight) => weight / total),
      this.support,
    );
  }
}

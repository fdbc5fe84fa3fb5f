// A model of asymmetric Laplace distributions, whose parameters a small network corrects at random levels.

import { readFeatures } from "../../columns.js";
import { MixedAsymmetricLaplace } from "../../families/mixed_asymmetric_laplace.js";
import { arraysUnder, requireEntry } from "../../file_entries.js";
import { levelNodes } from "../../curves/level_nodes.js";
import { Network } from "../../network.js";
import { clip } from "../../numerics/numerics.js";
import { corrected, flatMixture } from "../../wrappers/corrected.js";
import { WrappedEstimator, readInner } from "./wrapped.js";

// No factor beyond e^20: such rows are unlike any training rows.
const LARGEST_LOG_CORRECTION = 20;

/** A trained model with individually calibrated levels, as far as its own parameters allow. */
export class CalibratedSurvival extends WrappedEstimator {
  /** The model within, how columns become numbers for the small network, that network, and levels with shares. */
  constructor(inner, features, network, nodes) {
    super(inner);
    this.ownFeatures = features;
    this.network = network;
    this.nodes = nodes;
  }

  predictDistribution(row) {
    return this.correctedMixture(this.inner.predictDistribution(row), this.logFactors(row));
  }

  predictMembers(row) {
    const factors = this.logFactors(row);
    return this.inner.predictMembers(row).map((member) => this.correctedMixture(member, factors));
  }

  /** Logarithms of the factors of θ, σ and κ: [member of the small network][level]. */
  logFactors(row) {
    const levels = this.nodes.map(({ level }) => level);
    const raw = this.network.forwardAtLevels(this.ownFeatures.inputs(row), levels);
    return raw.map((member) => member.map((outputs) => outputs.map(limitedLog)));
  }

  /** The mixture of the corrected distributions over levels and members of the small network. */
  correctedMixture(predicted, factors) {
    const base = flatMixture(predicted);
    if (base === null) {
      throw new Error("the model within must predict asymmetric Laplace distributions.");
    }
    const { support } = base;
    const components = [];
    const weights = [];
    for (const member of factors) {
      member.forEach((logFactors, node) => {
        base.components.forEach((part, k) => {
          components.push(corrected(part, support, logFactors));
          weights.push((base.weights[k] * this.nodes[node].share) / factors.length);
        });
      });
    }
    return new MixedAsymmetricLaplace(components, weights, support);
  }
}

function limitedLog(value) {
  return clip(value, -LARGEST_LOG_CORRECTION, LARGEST_LOG_CORRECTION);
}

/** The model of a file of kind icald_calibrated. */
export function readCalibrated(document, arrays) {
  const { nodes, members } = document.parameters;
  const features = readFeatures(document.features);
  const network = new Network(document.correction, arraysUnder(arrays, "correction."), members);
  const fits = network.inputs === features.width + 1 && network.outputs === 3;
  requireEntry(fits, "columns and network do not fit together");
  return new CalibratedSurvival(readInner(document, arrays), features, network, levelNodes(nodes));
}

// The individually calibrated model: a forecaster at random levels, and as its prediction the mixture over these.

import { levelNodes } from "../../curves/level_nodes.js";
import { MixedAsymmetricLaplace, SUPPORTS } from "../../families/mixed_asymmetric_laplace.js";
import { asymmetricLaplaceOf } from "../../families/mixture_outputs.js";
import { requireEntry } from "../../file_entries.js";
import { NeuralSurvival } from "./neural_survival.js";

/** Individual survival distributions by an asymmetric Laplace distribution that a random level moves. */
export class ICALDSurvival extends NeuralSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    const { nodes, support, theta_link: link } = this.settings;
    requireEntry(this.network.outputs === 3 && support in SUPPORTS, "the network must have three outputs at a level");
    this.nodes = levelNodes(nodes);
    this.support = support;
    this.expTheta = link === "exp";
  }

  get levels() {
    return this.nodes.map(({ level }) => level);
  }

  memberDistribution(raw) {
    const parts = raw.map((outputs) => asymmetricLaplaceOf(outputs, this.support, this.expTheta));
    const shares = this.nodes.map(({ share }) => share);
    return new MixedAsymmetricLaplace(parts, shares, this.support);
  }

  combine(parts) {
    return MixedAsymmetricLaplace.ofComponents(parts, parts.map(() => 1 / parts.length));
  }
}

/** The model of a file of kind icald. */
export function readICALD(document, arrays) {
  return new ICALDSurvival(document, arrays);
}

// Models whose network gives the parameters of a family, cause by cause: asymmetric Laplace and log-normal.

import { AveragedIncidence } from "../../competing/averaged.js";
import { CauseHazards } from "../../competing/cause_hazards.js";
import { CauseMixture } from "../../competing/cause_mixture.js";
import { CauseOutputs } from "../../competing/cause_outputs.js";
import { MixedAsymmetricLaplace, SUPPORTS } from "../../families/mixed_asymmetric_laplace.js";
import { asymmetricLaplaceOf, MixtureOutputs } from "../../families/mixture_outputs.js";
import { LogNormal } from "../../families/normal.js";
import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { clip, softplus } from "../../numerics/numerics.js";
import { NeuralSurvival } from "./neural_survival.js";

const LARGEST_RAW = 80;

/** Which outputs belong to which cause; null: they are those of one distribution. */
export function causeLayout({ names, kind, cure, partOutputs, partConstants }) {
  const causes = names === null ? 1 : names.length;
  if (causes === 1 && !cure) {
    return null;
  }
  const mixture = cure || kind !== "hazards" || causes === 1;
  return new CauseOutputs({ causes, partOutputs, partConstants, mixture, cure });
}

/** What the outputs of a member stand for with causes, by a function from the outputs of a cause to its distribution. */
export function causeIncidence(layout, names, raw, distribution) {
  const causes = names === null ? ["1"] : names;
  const parts = causes.map((_, cause) => distribution(layout.part(raw, cause)));
  if (!layout.mixture) {
    return new CauseHazards(parts, causes);
  }
  const [chances, cure] = layout.probabilities(raw);
  return new CauseMixture(parts, chances, cure, causes);
}

/** The prediction of several members with causes: closed forms where there are any. */
export function combinedIncidence(members) {
  return members[0] instanceof CauseMixture ? CauseMixture.meanOf(members) : new AveragedIncidence(members);
}

/** A network for the parameters of a family; with competing causes, of the family for each of them. */
export class ParametricSurvival extends NeuralSurvival {
  /** partOutputs, partConstants: outputs of one distribution, and how many of them, the last ones, are constants. */
  readCauses(partOutputs, partConstants) {
    const names = this.extras.causes === undefined ? null : this.extras.causes;
    const { causes: kind, cure } = this.settings;
    this.causeNames = names;
    this.layout = causeLayout({ names, kind, cure: cure === true, partOutputs, partConstants });
    const outputs = this.layout === null ? partOutputs : this.layout.outputs;
    requireEntry(this.network.outputs === outputs, "the outputs of its network are not those of its distributions");
  }

  get causes() {
    return this.causeNames;
  }

  /** The distribution that the outputs of one part stand for. */
  partDistribution() {
    throw new Error("a model must provide partDistribution.");
  }

  memberIncidence(raw) {
    if (this.layout === null) {
      return null;
    }
    return causeIncidence(this.layout, this.causeNames, raw, (part) => this.partDistribution(part));
  }

  combineIncidences(members) {
    return combinedIncidence(members);
  }

  memberDistribution(raw) {
    const incidence = this.memberIncidence(raw);
    return incidence === null ? this.partDistribution(raw) : incidence.overall();
  }
}

/** A network gives every individual an asymmetric Laplace distribution, or a mixture of some. */
export class ALDSurvival extends ParametricSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    const { support, shapes, theta_link: link, components = 1 } = this.settings;
    requireEntry(support in SUPPORTS, "its support is unknown");
    this.support = support;
    this.expTheta = link === "exp";
    this.mixture = null;
    if (components > 1) {
      const [leastScale] = finiteNumbers(this.learned, "least_scale", 1);
      this.mixture = new MixtureOutputs({ components, shapes, expTheta: this.expTheta, support, leastScale });
    }
    this.readCauses(
      this.mixture === null ? 3 : this.mixture.outputs,
      this.mixture === null ? 0 : this.mixture.constants,
    );
  }

  partDistribution(raw) {
    return this.mixture === null
      ? asymmetricLaplaceOf(raw, this.support, this.expTheta)
      : this.mixture.distribution(raw);
  }

  combine(parts) {
    if (this.mixture === null) {
      return super.combine(parts);
    }
    return MixedAsymmetricLaplace.ofComponents(
      parts,
      parts.map(() => 1 / parts.length),
    );
  }
}

/** A network gives every individual a log-normal distribution: its outputs are μ and, through softplus, σ. */
export class LogNormalSurvival extends ParametricSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    this.readCauses(2, 0);
  }

  partDistribution([mu, raw]) {
    return new LogNormal(mu, softplus(clip(raw, -LARGEST_RAW, LARGEST_RAW)));
  }
}

/** The model of the entries and arrays of a file. */
export function readALDSurvival(document, arrays) {
  return new ALDSurvival(document, arrays);
}

/** The model of the entries and arrays of a file. */
export function readLogNormalSurvival(document, arrays) {
  return new LogNormalSurvival(document, arrays);
}

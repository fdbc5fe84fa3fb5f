// Asymmetric Laplace distributions from boosted trees.

import { readFeatures } from "../../columns.js";
import { Estimator } from "../../estimator.js";
import { SUPPORTS, MixedAsymmetricLaplace } from "../../families/mixed_asymmetric_laplace.js";
import { asymmetricLaplaceOf, MixtureOutputs } from "../../families/mixture_outputs.js";
import { arraysUnder, finiteNumbers, requireEntry, rowsOf } from "../../file_entries.js";
import { Trees } from "../../trees.js";
import { readTrainedOn, timePoint } from "../neural/neural_survival.js";
import { causeIncidence, causeLayout, combinedIncidence } from "../neural/parametric.js";

/** The sums of trees, one set per member, are the parameters of a distribution. */
export class BoostedALD extends Estimator {
  constructor(document, arrays) {
    const { parameters } = document;
    super({
      features: readFeatures(document.features),
      unit: parameters.unit,
      times: finiteNumbers(arrays, "times", 1),
      trainedOn: readTrainedOn(document.trained_on),
      errorPoint: timePoint(parameters.point),
      rankingPoint: parameters.point,
    });
    requireEntry(parameters.support in SUPPORTS, "its support is unknown");
    this.support = parameters.support;
    this.expTheta = this.support === "positive";
    this.validation = parameters.validation;
    this.heldOut = document.held_out;
    this.timeScale = document.time_scale;
    this.readOutputs(parameters.components, document.least_scale, document.causes);
    finiteNumbers(arrays, "start", 2);
    finiteNumbers(arrays, "units", 2);
    this.start = rowsOf(arrays.start);
    this.units = rowsOf(arrays.units);
    const [members, boosted] = arrays.units.shape;
    requireEntry(arrays.start.shape[0] === members && members === parameters.members, "its members are unclear");
    this.trees = new Trees(arraysUnder(arrays, "trees."), this.features.width, members * boosted);
  }

  /** What the outputs of a member are: of one distribution, or of one for each cause. */
  readOutputs(components, leastScale, entry) {
    const { support, expTheta } = this;
    this.mixture =
      components === 1 ? null : new MixtureOutputs({ components, shapes: "tied", expTheta, support, leastScale });
    const { names = null, mixture = true, cure = false } = entry === undefined ? {} : entry;
    this.causeNames = names;
    this.layout = causeLayout({
      names,
      kind: mixture ? "mixture" : "hazards",
      cure,
      partOutputs: this.mixture === null ? 3 : this.mixture.outputs,
      partConstants: this.mixture === null ? 0 : this.mixture.constants,
    });
  }

  get causes() {
    return this.causeNames;
  }

  get nMembers() {
    return this.start.length;
  }

  bandStretch() {
    if (!this.heldOut) {
      return super.bandStretch();
    }
    // Each member leaves a share of the rows out: a delete-d jackknife, as for networks.
    const share = this.validation;
    return Math.sqrt((((1 - share) / share) * (this.nMembers - 1)) / this.nMembers);
  }

  /** Outputs of each member. */
  predictOutputs(row) {
    const sums = this.trees.sums(this.features.inputs(row));
    return this.start.map((start, member) => {
      const units = this.units[member];
      return Array.from(start, (value, k) => (k < units.length ? value + units[k] * sums[member * units.length + k] : value));
    });
  }

  partDistribution(raw) {
    return this.mixture === null
      ? asymmetricLaplaceOf(raw, this.support, this.expTheta)
      : this.mixture.distribution(raw);
  }

  /** The distribution of the first event, members in equal parts, in the unit of the training times. */
  jointDistribution(outputs) {
    if (this.layout !== null) {
      return this.jointIncidence(outputs).overall().scaled(this.timeScale);
    }
    const parts = outputs.map((raw) => this.partDistribution(raw));
    const joint =
      parts.length === 1
        ? parts[0]
        : MixedAsymmetricLaplace.ofComponents(
            parts,
            parts.map(() => 1 / parts.length),
          );
    return joint.scaled(this.timeScale);
  }

  jointIncidence(outputs) {
    const members = outputs.map((raw) =>
      causeIncidence(this.layout, this.causeNames, raw, (part) => this.partDistribution(part)),
    );
    return members.length === 1 ? members[0] : combinedIncidence(members);
  }

  predictDistribution(row) {
    return this.jointDistribution(this.predictOutputs(row));
  }

  predictMembers(row) {
    return this.predictOutputs(row).map((raw) => this.jointDistribution([raw]));
  }

  predictIncidence(row) {
    if (this.layout === null) {
      return super.predictIncidence(row);
    }
    return this.jointIncidence(this.predictOutputs(row)).scaled(this.timeScale);
  }
}

/** The model of the entries and arrays of a file. */
export function readBoostedALD(document, arrays) {
  return new BoostedALD(document, arrays);
}

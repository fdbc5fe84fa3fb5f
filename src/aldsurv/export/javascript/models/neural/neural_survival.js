// What models with networks share: columns, members, the unit of time, the summaries of a prediction.

import { AveragedIncidence } from "../../competing/averaged.js";
import { readFeatures } from "../../columns.js";
import { Estimator } from "../../estimator.js";
import { arraysUnder, finiteNumbers, requireEntry } from "../../file_entries.js";
import { Network } from "../../network.js";
import { clip } from "../../numerics/numerics.js";
import { Mixture } from "../../wrappers/mixture.js";

// Beyond it nothing is known any more.
const LARGEST_OUTPUT = 1e30;

/** The summary that is the predicted time where rows are ranked by a point. */
export function timePoint(point) {
  return point === "follow_up" ? "median" : point;
}

/** Facts about the training rows, or null. */
export function readTrainedOn(entry) {
  requireEntry(entry === undefined || (entry !== null && typeof entry === "object"), "trained_on is unclear");
  return entry === undefined ? null : entry;
}

/** A model whose networks, one per member, give the parameters of a distribution. */
export class NeuralSurvival extends Estimator {
  constructor(document, arrays) {
    requireEntry(Array.isArray(document.encoders), "its encoders are unclear");
    if (document.encoders.length > 0) {
      throw new Error(`the model was trained with an encoder (${document.encoders[0]}), whose code is not in the file.`);
    }
    const { settings } = document;
    const chosen = settings.point === "auto" ? document.choices : null;
    super({
      features: readFeatures(document.features),
      unit: document.parameters.unit,
      times: finiteNumbers(arrays, "times", 1),
      trainedOn: readTrainedOn(document.trained_on),
      errorPoint: chosen === null ? timePoint(settings.point) : chosen.error_point,
      rankingPoint: chosen === null ? settings.point : chosen.ranking_point,
    });
    requireEntry(document.time_scale > 0 && Number.isFinite(document.time_scale), "time_scale must be positive");
    this.settings = settings;
    this.timeScale = document.time_scale;
    this.learned = arraysUnder(arrays, "learned.");
    this.extras = document.extras === undefined ? {} : document.extras;
    this.heldOut = document.history.validation_loss !== null && settings.validation > 0;
    this.network = new Network(document.network, arraysUnder(arrays, "network."), document.members);
  }

  get nMembers() {
    return this.network.members;
  }

  bandStretch() {
    if (!this.heldOut) {
      return super.bandStretch();
    }
    // Each member leaves a share of the rows out: a delete-d jackknife, whose variance is that of its parts times
    // (n - d)/d, and with folds as many as members the grouped one.
    const share = this.settings.validation;
    return Math.sqrt((((1 - share) / share) * (this.nMembers - 1)) / this.nMembers);
  }

  // ---- what a model provides

  /** Levels at which the network is evaluated, if it takes one. */
  get levels() {
    return null;
  }

  /** What the outputs of a member's network stand for, in the unit inside. */
  memberDistribution() {
    throw new Error("a model with networks must provide memberDistribution.");
  }

  /** The same cause by cause; null without causes or a cure. */
  memberIncidence() {
    return null;
  }

  /** The prediction of several members. */
  combine(parts) {
    return new Mixture(parts);
  }

  /** The prediction of several members with causes. */
  combineIncidences(members) {
    return new AveragedIncidence(members);
  }

  // ---- what follows

  /** Outputs of each member: a list, or of networks that take a level a list for each. */
  predictOutputs(row) {
    const x = this.features.inputs(row);
    const raw = this.levels === null ? this.network.forward(x) : this.network.forwardAtLevels(x, this.levels);
    return boundedOutputs(raw);
  }

  predictMembers(row) {
    return this.memberPredictions(this.predictOutputs(row), row);
  }

  /** What each member predicts, in the unit of the training times. */
  memberPredictions(outputs, row) {
    return outputs.map((raw, member) => this.memberDistribution(raw, member, row).scaled(this.timeScale));
  }

  predictDistribution(row) {
    const outputs = this.predictOutputs(row);
    const incidence = this.jointIncidence(outputs);
    if (incidence !== null) {
      return incidence.overall();
    }
    const parts = this.memberPredictions(outputs, row);
    return parts.length === 1 ? parts[0] : this.combine(parts);
  }

  predictIncidence(row) {
    return this.jointIncidence(this.predictOutputs(row)) || super.predictIncidence(row);
  }

  /** What all members predict cause by cause; null without causes or a cure. */
  jointIncidence(outputs) {
    const members = outputs.map((raw, member) => this.memberIncidence(raw, member));
    if (members[0] === null) {
      return null;
    }
    const scaled = members.map((member) => member.scaled(this.timeScale));
    return scaled.length === 1 ? scaled[0] : this.combineIncidences(scaled);
  }
}

/** Outputs that are finite; those that are not numbers are refused. */
function boundedOutputs(raw) {
  if (Array.isArray(raw)) {
    return raw.map(boundedOutputs);
  }
  if (Number.isNaN(raw)) {
    throw new Error("the outputs of the network are not numbers. Look for extreme values; the model may be damaged.");
  }
  return Number.isFinite(raw) ? raw : clip(raw, -LARGEST_OUTPUT, LARGEST_OUTPUT);
}

// A model of aldsurv in the browser: the very file that Python writes, and its predictions.

import { readModelFile } from "./model_file.js";
import { modelTitle, readModel } from "./models.js";
import { registerModels } from "./readers.js";

registerModels();

const KIND = "fitted model";

/** A fitted model that predicts one row, an object of values by column name, at a time. */
export class Model {
  constructor(estimator, { name, version, digest }) {
    this.estimator = estimator;
    this.name = name;
    this.version = version;
    this.digest = digest;
    this.title = modelTitle(name);
    this.unit = estimator.unit;
    this.columns = estimator.columns;
    this.causes = estimator.causes;
    this.followUp = estimator.followUp;
    this.lastTime = estimator.lastTime;
    this.members = estimator.nMembers;
  }

  /** The distribution of the time to the event. */
  predict(row) {
    return this.estimator.predictDistribution(row);
  }

  /** What each member of an ensemble predicts. */
  predictMembers(row) {
    return this.estimator.predictMembers(row);
  }

  /** Which cause the first event has and when it comes. */
  predictIncidence(row) {
    return this.estimator.predictIncidence(row);
  }

  /** Limits that the members leave the survival at times: {lower: [], upper: []}. */
  survivalBand(row, times, level = 0.9) {
    return this.estimator.survivalBand(row, times, level);
  }

  /** Limits that the members leave the predicted time: {lower, upper}. */
  timeBand(row, level = 0.9) {
    return this.estimator.timeBand(row, level);
  }

  /** The predicted time. */
  point(row) {
    return this.estimator.predictTime(row);
  }

  /** The risk score: the higher, the earlier the event. */
  risk(row) {
    return this.estimator.predictRisk(row);
  }

  /** Names of the columns whose value lies beyond those of training. */
  outside(row) {
    return this.estimator.outside(row);
  }

  /** What is unusual about the values of a row: [{column, kind, text}]. */
  notes(row) {
    return this.estimator.notes(row);
  }
}

/** Read a model from the bytes of its file. */
export function loadModel(bytes) {
  const { document, arrays, sha256 } = readModelFile(bytes);
  if (document.kind !== KIND) {
    throw new Error(`the file cannot be used: it is a ${document.kind}, not a ${KIND}.`);
  }
  const estimator = readModel(document.model, document, arrays);
  return new Model(estimator, { name: document.model, version: document.version, digest: sha256 });
}

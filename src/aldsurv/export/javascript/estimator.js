// What every model offers once it can answer with a distribution.

import { memberSurvivalBand, memberTimeBand } from "./member_spread.js";

const POINTS = ["mean", "median", "mode", "restricted_mean"];

/** A fitted model: a row, an object of values by column name, in, the distribution of its event time out. */
export class Estimator {
  /**
   * features: how columns become numbers, or null; unit: of time, or ""; times: some of the times of training,
   * ascending; trainedOn: facts about the rows, or null; errorPoint, rankingPoint: the summaries that are the time
   * and the rank of a row.
   */
  constructor({ features, unit, times, trainedOn, errorPoint, rankingPoint }) {
    this.features = features;
    this.unit = unit === null || unit === undefined ? "" : unit;
    this.times = times;
    this.trainedOn = trainedOn;
    this.errorPoint = errorPoint;
    this.rankingPoint = rankingPoint;
  }

  // ---- what a model provides

  /** The distribution of the time to the event of a row, in the unit of the training times. */
  predictDistribution() {
    throw new Error("a model must provide predictDistribution.");
  }

  /** What each member of an ensemble predicts; of a model that is no ensemble the only one. */
  predictMembers(row) {
    return [this.predictDistribution(row)];
  }

  /** Which cause the first event has and when it comes. */
  predictIncidence() {
    throw new Error("this model does not tell causes apart.");
  }

  /** Names of the competing causes that the model tells apart; null if it has none. */
  get causes() {
    return null;
  }

  /** Networks or other members of an ensemble. */
  get nMembers() {
    return 1;
  }

  /** Standard errors of the prediction in one standard deviation between the members. */
  bandStretch() {
    return Math.sqrt(1 + 1 / this.nMembers);
  }

  /** What a page must know of each column of a row. */
  get columns() {
    return this.features.describe();
  }

  /** Names of the columns whose value lies beyond those of training. */
  outside(row) {
    return this.features.outside(row);
  }

  /** What is unusual about the values of a row: [{column, kind, text}]. */
  notes(row) {
    return this.features.notes(row);
  }

  // ---- what follows

  /** The time within which rows are ranked; null if the file is of an earlier version. */
  get followUp() {
    const facts = this.trainedOn;
    return facts === null || facts.follow_up === undefined ? null : facts.follow_up;
  }

  /** The last of the times of training. */
  get lastTime() {
    return this.times[this.times.length - 1];
  }

  /** One time: the summary of the distribution that is the predicted time. */
  predictTime(row) {
    return this.summarised(this.predictDistribution(row), this.errorPoint);
  }

  /** Risk score: the higher, the earlier the event. */
  predictRisk(row) {
    return -this.summarised(this.predictDistribution(row), this.rankingPoint);
  }

  /** A summary of a distribution by its name. */
  summarised(distribution, point) {
    if (point === "follow_up") {
      if (this.followUp === null) {
        throw new Error("the file is of an earlier version and does not have the end of follow-up.");
      }
      return distribution.approximateRestrictedMean(this.followUp);
    }
    return point === "restricted_mean" ? distribution.restrictedMean(this.lastTime) : distribution[point]();
  }

  /** Limits that the members of an ensemble leave the survival at times: {lower: [], upper: []}. */
  survivalBand(row, times, level = 0.9) {
    const members = this.severalMembers(row);
    return memberSurvivalBand(members, this.predictDistribution(row), times, level, this.bandStretch());
  }

  /** Limits that the members of an ensemble leave a predicted time: {lower, upper}. */
  timeBand(row, level = 0.9, point = this.errorPoint) {
    if (!POINTS.includes(point)) {
      throw new Error(`point must be one of ${POINTS.join(", ")}, but is ${point}.`);
    }
    const values = this.severalMembers(row).map((member) => this.summarised(member, point));
    const joint = this.summarised(this.predictDistribution(row), point);
    const most = point === "restricted_mean" ? this.lastTime : Infinity;
    return memberTimeBand(values, joint, level, this.bandStretch(), most);
  }

  /** What each of at least two members predicts. */
  severalMembers(row) {
    if (this.nMembers < 2) {
      throw new Error("the model has one member: there is no spread between members.");
    }
    return this.predictMembers(row);
  }
}

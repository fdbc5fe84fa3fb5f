// Which of several causes ends the waiting, and when: what every prediction with causes offers.

import { Distribution } from "../distribution.js";
import { GAUSS_64 } from "../numerics/gauss_legendre.js";

/** The joint distribution of the time to the first event and of its cause. */
export class CompetingDistribution {
  /** Names of the causes, numbered from 1. */
  constructor(causes) {
    this.causes = causes;
  }

  // ---- what a kind of prediction provides

  /** The distribution of the time to the first event, whatever its cause. */
  overall() {
    throw new Error("a prediction with causes must provide overall.");
  }

  /** The incidence of every cause at a time, which may be infinite. */
  incidences() {
    throw new Error("a prediction with causes must provide incidences.");
  }

  /** The logarithm of the slope of each incidence. */
  logDensities() {
    throw new Error("a prediction with causes must provide logDensities.");
  }

  /** The same with times multiplied by a positive number. */
  scaled() {
    throw new Error("a prediction with causes must provide scaled.");
  }

  // ---- what follows

  /** Number of a cause, from 1, by that number or by its name. */
  causeNumber(cause) {
    const number = typeof cause === "number" ? cause : this.causes.indexOf(cause) + 1;
    if (!(Number.isInteger(number) && number >= 1 && number <= this.causes.length)) {
      throw new Error(`cause must be one of ${this.causes.join(", ")}, but is ${cause}.`);
    }
    return number;
  }

  /** Probability that the first event comes by a time and is of a cause. */
  incidence(cause, t) {
    return this.incidences(t)[this.causeNumber(cause) - 1];
  }

  /** The slope of the incidence. */
  density(cause, t) {
    return Math.exp(this.logDensities(t)[this.causeNumber(cause) - 1]);
  }

  /** Rate of events of a cause among those without any event. */
  causeSpecificHazard(cause, t) {
    return Math.exp(this.logDensities(t)[this.causeNumber(cause) - 1] - this.overall().logSurvival(t));
  }

  /** Probability of no event of any cause by a time. */
  survival(t) {
    return this.overall().survival(t);
  }

  /** Probability that the event ever comes and is of a cause. */
  causeProbability(cause) {
    return this.incidence(cause, Infinity);
  }

  /** Probability that no event of any cause ever comes. */
  cureProbability() {
    return this.survival(Infinity);
  }

  /** The time to an event of one cause, infinite for those who never have it: its cdf is the incidence. */
  subdistribution(cause) {
    return new Subdistribution(this, this.causeNumber(cause));
  }

  /** Time by which a share of those who ever have the event of a cause have had it. */
  quantile(level, cause) {
    if (!(level >= 0 && level <= 1)) {
      throw new Error("levels must lie between 0 and 1: quantile(0.9, cause), not quantile(90, cause).");
    }
    const ever = this.causeProbability(cause);
    // Who never has the event has no time of it.
    return ever > 0 ? this.subdistribution(cause).quantile(level * ever) : Infinity;
  }

  /** Time by which half of those who ever have the event of a cause have had it. */
  median(cause) {
    return this.quantile(0.5, cause);
  }

  /** The prediction for those known to be without any event at a time. */
  conditional(since) {
    if (Number.isNaN(since) || since === Infinity) {
      throw new Error("since must be a time before infinity.");
    }
    return this.conditionalSince(since);
  }

  /** What a kind of prediction overrides of conditional. */
  conditionalSince(since) {
    return new ConditionalIncidence(this, since);
  }
}

/** (F_k(t) - F_k(since))/S(since) for each cause. */
export class ConditionalIncidence extends CompetingDistribution {
  constructor(base, since) {
    super(base.causes);
    if (!(base.overall().survival(since) > 0)) {
      throw new Error(`a person cannot be event-free until ${since}: the survival is 0 there. Give earlier times.`);
    }
    this.base = base;
    this.since = since;
  }

  overall() {
    return this.base.overall().conditional(this.since);
  }

  incidences(t) {
    const after = Math.max(t, this.since);
    const before = this.base.incidences(this.since);
    const gains = this.base.incidences(after).map((value, k) => Math.max(value - before[k], 0));
    // Differences of small numbers have lost digits: together they are what the survival has lost.
    const whole = gains.reduce((sum, gain) => sum + gain, 0);
    const cdf = this.overall().cdf(after);
    return gains.map((gain) => (gain / (whole > 0 ? whole : 1)) * cdf);
  }

  logDensities(t) {
    const before = this.base.overall().logSurvival(this.since);
    const slopes = this.base.logDensities(Math.max(t, this.since));
    return slopes.map((slope) => (t >= this.since ? slope - before : -Infinity));
  }

  conditionalSince(since) {
    return this.base.conditionalSince(Math.max(since, this.since));
  }

  scaled(factor) {
    return new ConditionalIncidence(this.base.scaled(factor), factor * this.since);
  }
}

/** A distribution whose cdf is the incidence of one cause; what is missing to one lies at infinity. */
export class Subdistribution extends Distribution {
  constructor(competing, cause) {
    super();
    this.competing = competing;
    this.cause = cause;
  }

  cdf(t) {
    return this.competing.incidences(t)[this.cause - 1];
  }

  survival(t) {
    return 1 - this.cdf(t);
  }

  logSurvival(t) {
    return Math.log1p(-this.cdf(t));
  }

  logCdf(t) {
    return Math.log(this.cdf(t));
  }

  logDensity(t) {
    return this.competing.logDensities(t)[this.cause - 1];
  }

  /** The mean survival at Gauss's nodes: a quadrature to all digits would take many more incidences. */
  approximateRestrictedMean(horizon) {
    const total = GAUSS_64.reduce((sum, [node, weight]) => sum + weight * this.survival((horizon * (node + 1)) / 2), 0);
    return (horizon / 2) * total;
  }

  mean() {
    return this.cdf(Infinity) < 1 ? Infinity : super.mean();
  }

  lower() {
    return this.competing.overall().lower();
  }

  kinks() {
    return this.competing.overall().kinks();
  }

  scaled(factor) {
    return new Subdistribution(this.competing.scaled(factor), this.cause);
  }
}

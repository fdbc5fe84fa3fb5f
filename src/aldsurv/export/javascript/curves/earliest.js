// The earliest of several independent times: the first event, from hazards of several causes.

import { Distribution } from "../distribution.js";
import { log1mexp, logSumExp } from "../numerics.js";
import { sumOf } from "./sorted.js";

/** The distribution of the minimum of independent times: hazards add up, survivals multiply. */
export class Earliest extends Distribution {
  constructor(parts) {
    super();
    this.parts = parts;
  }

  logSurvival(t) {
    return sumOf(this.parts.map((part) => part.logSurvival(t)));
  }

  logCdf(t) {
    return log1mexp(this.logSurvival(t));
  }

  logDensity(t) {
    return logSumExp(this.logPartDensities(t));
  }

  /** log f at a time of each part being the earliest: its density times the others' survival. */
  logPartDensities(t) {
    const survivals = this.parts.map((part) => part.logSurvival(t));
    return this.parts.map((part, k) => part.logDensity(t) + sumOf(survivals.filter((_, j) => j !== k)));
  }

  logHazard(t) {
    return logSumExp(this.parts.map((part) => part.logHazard(t)));
  }

  logSurvivalRatio(t, since) {
    return sumOf(this.parts.map((part) => part.logSurvivalRatio(t, since)));
  }

  bracket(logSurvival) {
    return this.around(logSurvival);
  }

  around(logSurvival) {
    // Not after the first of the parts' quantiles; and one part at least has fallen by its share of the fall.
    const share = logSurvival / this.parts.length;
    const low = Math.min(...this.parts.map((part) => part.around(share)[0]));
    return [low, Math.min(...this.parts.map((part) => part.around(logSurvival)[1]))];
  }

  lower() {
    return Math.min(...this.parts.map((part) => part.lower()));
  }

  kinks() {
    const kinks = this.parts.flatMap((part) => [...part.kinks(), part.lower()]);
    return kinks.map((kink) => (Number.isFinite(kink) ? kink : 0));
  }

  scaled(factor) {
    return new Earliest(this.parts.map((part) => part.scaled(factor)));
  }

  shifted(offset) {
    return new Earliest(this.parts.map((part) => part.shifted(offset)));
  }
}

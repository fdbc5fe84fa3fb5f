// The earliest of several independent times: the first event, from hazards of several causes.

import { Distribution } from "../distribution.js";
import { log1mexp, logSumExp } from "../numerics/numerics.js";

/** The distribution of the minimum of independent times: hazards add up, survivals multiply. */
export class Earliest extends Distribution {
  constructor(parts) {
    super();
    this.parts = parts;
  }

  logSurvival(t) {
    return this.parts.reduce((sum, part) => sum + part.logSurvival(t), 0);
  }

  logCdf(t) {
    return log1mexp(this.logSurvival(t));
  }

  logDensity(t) {
    return logSumExp(this.logPartDensities(t));
  }

  /** log f of each part being the earliest: its density times the others' survival. */
  logPartDensities(t) {
    const survivals = this.parts.map((part) => part.logSurvival(t));
    return this.parts.map((part, k) =>
      survivals.reduce((sum, survival, j) => (j === k ? sum : sum + survival), part.logDensity(t)),
    );
  }

  logHazard(t) {
    return logSumExp(this.parts.map((part) => part.logHazard(t)));
  }

  logSurvivalRatio(t, since) {
    return this.parts.reduce((sum, part) => sum + part.logSurvivalRatio(t, since), 0);
  }

  bracket(logSurvival) {
    return this.around(logSurvival);
  }

  around(logSurvival) {
    // Not after the first of the parts' quantiles; and one part at least has fallen by its share of the fall.
    const count = this.parts.length;
    return [
      Math.min(...this.parts.map((part) => part.around(logSurvival / count)[0])),
      Math.min(...this.parts.map((part) => part.around(logSurvival)[1])),
    ];
  }

  lower() {
    return Math.min(...this.parts.map((part) => part.lower()));
  }

  kinks() {
    const kinks = this.parts.flatMap((part) => [...part.kinks(), part.lower()]);
    return kinks.map((kink) => (Number.isFinite(kink) ? kink : 0));
  }

  places() {
    return [...super.places(), ...this.parts.flatMap((part) => part.places())];
  }

  scaled(factor) {
    return new Earliest(this.parts.map((part) => part.scaled(factor)));
  }

  shifted(offset) {
    return new Earliest(this.parts.map((part) => part.shifted(offset)));
  }
}

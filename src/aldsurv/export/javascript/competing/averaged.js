// The mixture of what several members predict with causes.

import { Mixture } from "../wrappers/mixture.js";
import { CompetingDistribution } from "./competing_distribution.js";

/** The mean of incidences, weighted equally or as given: any of the members may be right. */
export class AveragedIncidence extends CompetingDistribution {
  constructor(members, weights = members.map(() => 1)) {
    super(members[0].causes);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    this.members = members;
    this.weights = weights.map((weight) => weight / total);
  }

  overall() {
    return new Mixture(
      this.members.map((member) => member.overall()),
      this.weights,
    );
  }

  incidences(t) {
    const each = this.members.map((member) => member.incidences(t));
    return this.causes.map((_, cause) => each.reduce((sum, values, k) => sum + this.weights[k] * values[cause], 0));
  }

  logDensities(t) {
    const each = this.members.map((member) => member.logDensities(t));
    return this.causes.map((_, cause) =>
      Math.log(each.reduce((sum, values, k) => sum + this.weights[k] * Math.exp(values[cause]), 0)),
    );
  }

  scaled(factor) {
    return new AveragedIncidence(
      this.members.map((member) => member.scaled(factor)),
      this.weights,
    );
  }
}

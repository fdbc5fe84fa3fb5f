// Competing causes by a probability for each cause and a distribution of the time given that cause.

import { Cured } from "../wrappers/cured.js";
import { Mixture } from "../wrappers/mixture.js";
import { CompetingDistribution } from "./competing_distribution.js";

/** A cause is drawn first, and then the time of its event: F_k(t) = π_k·G_k(t). */
export class CauseMixture extends CompetingDistribution {
  /** For each cause the distribution of its time and its probability; `cure` is that of no event at all. */
  constructor(parts, probabilities, cure, causes) {
    super(causes);
    this.parts = parts;
    this.probabilities = probabilities;
    this.cure = cure;
  }

  /** The mixture, in equal parts, of what several members predict. */
  static meanOf(members) {
    if (members.length === 1) {
      return members[0];
    }
    const count = members.length;
    const parts = [];
    const probabilities = [];
    members[0].parts.forEach((_, k) => {
      const shares = members.map((member) => member.probabilities[k] / count);
      const total = shares.reduce((sum, share) => sum + share, 0);
      // A cause that no member gives a chance has a time all the same.
      const mixed = new Mixture(
        members.map((member) => member.parts[k]),
        total > 0 ? shares : shares.map(() => 1),
      );
      parts.push(mixed.flat() || mixed);
      probabilities.push(total);
    });
    const cure = members.reduce((sum, member) => sum + member.cure, 0) / count;
    return new CauseMixture(parts, probabilities, cure, members[0].causes);
  }

  overall() {
    let first = this.parts[0];
    if (this.parts.length > 1) {
      const total = this.probabilities.reduce((sum, chance) => sum + chance, 0);
      const mixed = new Mixture(this.parts, total > 0 ? this.probabilities : this.parts.map(() => 1));
      first = mixed.flat() || mixed;
    }
    return this.cure > 0 ? new Cured(first, this.cure) : first;
  }

  incidences(t) {
    return this.parts.map((part, k) => (this.probabilities[k] > 0 ? this.probabilities[k] * part.cdf(t) : 0));
  }

  logDensities(t) {
    return this.parts.map((part, k) =>
      this.probabilities[k] > 0 ? Math.log(this.probabilities[k]) + part.logDensity(t) : -Infinity,
    );
  }

  subdistribution(cause) {
    const number = this.causeNumber(cause) - 1;
    const others = this.probabilities.filter((_, k) => k !== number);
    const never = others.reduce((sum, chance) => sum + chance, this.cure);
    return new Cured(this.parts[number], Math.min(never, 1));
  }

  quantile(level, cause) {
    return this.parts[this.causeNumber(cause) - 1].quantile(level);
  }

  conditionalSince(since) {
    const left = this.parts.map((part) => part.logSurvival(since));
    if (left.includes(-Infinity)) {
      return super.conditionalSince(since);
    }
    const whole = this.overall().logSurvival(since);
    return new CauseMixture(
      this.parts.map((part) => part.conditionalSince(since)),
      this.probabilities.map((chance, k) => chance * Math.exp(left[k] - whole)),
      this.cure * Math.exp(-whole),
      this.causes,
    );
  }

  scaled(factor) {
    const parts = this.parts.map((part) => part.scaled(factor));
    return new CauseMixture(parts, this.probabilities, this.cure, this.causes);
  }
}

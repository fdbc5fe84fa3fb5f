// What every prediction is: the distribution of one person's time to an event.
// A family provides logSurvival, logCdf and logDensity; the rest is computed from these, and a closed form overrides it.

import { log1mexp } from "./numerics/numerics.js";
import { lowerIntegral, searchInverseLogSurvival, searchMode, upperIntegral } from "./numerics/fallbacks.js";

// Distributions made of another one are in files that need this one: they register how they are made.
const WRAPPERS = {};

/** Let the base class make a wrapper: "conditional" of (base, since), "shifted" of (base, offset), and others. */
export function registerWrapper(name, make) {
  WRAPPERS[name] = make;
}

/** Make a registered wrapper of a distribution. */
export function wrapDistribution(name, ...values) {
  if (!(name in WRAPPERS)) {
    throw new Error(`this runtime has no distribution "${name}".`);
  }
  return WRAPPERS[name](...values);
}

/** The distribution of the time to an event. */
export class Distribution {
  // ---- what a family provides

  /** log S(t) at any time: 0 below the support, -Infinity at infinity unless some never have the event. */
  logSurvival() {
    throw new Error("a distribution must provide logSurvival.");
  }

  /** log F(t), not from the survival where that is near 1. */
  logCdf() {
    throw new Error("a distribution must provide logCdf.");
  }

  /** log f(t). */
  logDensity() {
    throw new Error("a distribution must provide logDensity.");
  }

  /** The distribution of factor · T, for a positive number. */
  scaled() {
    throw new Error("a distribution must provide scaled.");
  }

  // ---- what a family may know in a closed form

  /** Lower end of the support. */
  lower() {
    return -Infinity;
  }

  /** Times that integrals must not step across: where the density is not smooth. */
  kinks() {
    return [];
  }

  /** Probability to be event-free after a time: S(t) = P(T > t). */
  survival(t) {
    return Math.exp(this.logSurvival(t));
  }

  /** Probability of the event by a time: F(t) = P(T ≤ t). */
  cdf(t) {
    return Math.exp(this.logCdf(t));
  }

  /** Probability density f(t). */
  density(t) {
    return Math.exp(this.logDensity(t));
  }

  /** Logarithm of the hazard. */
  logHazard(t) {
    return this.logDensity(t) - this.logSurvival(t);
  }

  /** Event rate among those still event-free: f(t)/S(t). */
  hazard(t) {
    return Math.exp(this.logHazard(t));
  }

  /** -log S(t). */
  cumulativeHazard(t) {
    return -this.logSurvival(t);
  }

  /** log S(t) - log S(since); a family may know it without the cancellation. */
  logSurvivalRatio(t, since) {
    return this.logSurvival(t) - this.logSurvival(since);
  }

  /** log P(lower < T ≤ upper): a difference of survivals or of cdfs, whichever cancels less. */
  logProbability(lower, upper) {
    const logSurvival = this.logSurvival(lower);
    const logCdf = this.logCdf(upper);
    const fromAbove = logSurvival < logCdf;
    const outer = fromAbove ? logSurvival : logCdf;
    if (outer === -Infinity) {
      return outer;
    }
    const inner = fromAbove ? this.logSurvival(upper) : this.logCdf(lower);
    return outer + log1mexp(Math.min(inner - outer, 0));
  }

  /** P(lower < T ≤ upper). */
  probability(lower, upper) {
    return Math.exp(this.logProbability(lower, upper));
  }

  /** The time at which the log survival falls to a value. */
  inverseLogSurvival(logSurvival) {
    return searchInverseLogSurvival(this, logSurvival);
  }

  /** Times between which the survival passes through exp(logSurvival). */
  bracket() {
    return [this.lower(), Infinity];
  }

  /** Times close before and after a quantile, or twice the quantile itself where that is cheap. */
  around(logSurvival) {
    const time = this.inverseLogSurvival(logSurvival);
    return [time, time];
  }

  /** ∫ S(t)/S(start) dt from start to stop ≥ start, start inside the support; stop may be infinite. */
  residual(start, stop) {
    return this.residualByQuadrature(start, stop);
  }

  /** The same by quadrature, also for families whose closed form cancels. */
  residualByQuadrature(start, stop) {
    const logStart = this.logSurvival(start);
    return upperIntegral(
      this,
      (_, logSurvival) => Math.exp(logSurvival - logStart),
      (t) => this.logSurvival(t),
      start,
      stop,
    );
  }

  /** Expected time; infinite where the expectation does not exist. */
  mean() {
    const centre = this.inverseLogSurvival(Math.log(0.5));
    const above = upperIntegral(
      this,
      (_, survival) => survival,
      (t) => this.survival(t),
      centre,
    );
    const below = lowerIntegral(
      this,
      (_, cdf) => cdf,
      (t) => this.cdf(t),
      centre,
    );
    return centre + (above - below);
  }

  /** Time at which the density is highest. */
  mode() {
    return searchMode(this);
  }

  /** Times spread over the distribution, near one of which its density is highest. */
  places() {
    const within = Array.from({ length: 128 }, (_, k) => this.inverseLogSurvival(Math.log1p(-(k + 1) / 129)));
    const lower = this.lower();
    return [Number.isFinite(lower) ? lower : within[0], ...within, ...this.kinks()];
  }

  // ---- what follows

  /** Probability that the event never comes: the survival at infinity. */
  cureProbability() {
    return this.survival(Infinity);
  }

  /** Smallest time by which the event has happened with a probability from 0 to 1. */
  quantile(level) {
    if (!(level >= 0 && level <= 1)) {
      throw new Error("levels must lie between 0 and 1: quantile(0.9), not quantile(90).");
    }
    return this.inverseLogSurvival(Math.log1p(-level));
  }

  /** Time by which half of the probability has passed. */
  median() {
    return this.quantile(0.5);
  }

  /** Central interval that holds the event time with a probability: [low, high]. */
  interval(level = 0.9) {
    if (!(level > 0 && level < 1)) {
      throw new Error(`level must lie between 0 and 1, but is ${level}.`);
    }
    return [this.quantile((1 - level) / 2), this.quantile((1 + level) / 2)];
  }

  /** Expected event-free time within a horizon: ∫ S(t) dt from 0 to the horizon. */
  restrictedMean(horizon) {
    if (!(horizon >= 0)) {
      throw new Error("horizon must not be negative: it is the time up to which survival is counted.");
    }
    return this.survival(0) * residualAnywhere(this, 0, horizon);
  }

  /** The restricted mean where more digits would take a quadrature of each row; see the curves. */
  approximateRestrictedMean(horizon) {
    return this.restrictedMean(horizon);
  }

  /** Expected further time for those event-free at a time: E[T - t | T > t]. */
  meanResidualLife(t) {
    return residualAnywhere(this, t, Infinity);
  }

  /** The distribution of the event time (on the same clock) of those known to be event-free at a time. */
  conditional(since) {
    if (Number.isNaN(since) || since === Infinity) {
      throw new Error("since must be a time before infinity.");
    }
    return this.conditionalSince(since);
  }

  /** What a family overrides of conditional. */
  conditionalSince(since) {
    return wrapDistribution("conditional", this, since);
  }

  /** The distribution of T + offset. */
  shifted(offset) {
    return wrapDistribution("shifted", this, offset);
  }

  /** The distribution after a map of its levels. */
  recalibrated(levelMap) {
    return wrapDistribution("recalibrated", this, levelMap);
  }

  /** The distribution with its hazard multiplied by a positive number. */
  withScaledHazard(factor) {
    return wrapDistribution("scaledHazard", this, factor);
  }
}

/** The residual from a start that may lie below the support, where survival is one. */
export function residualAnywhere(distribution, start, stop) {
  if (start === -Infinity) {
    return Infinity;
  }
  const lower = distribution.lower();
  const inside = Math.max(start, lower);
  const waiting = Math.min(inside, stop) - start;
  const residual = distribution.residual(inside, Math.max(stop, inside));
  // Probability may sit at the very start of the support: then not all who wait get past it.
  return waiting + (start < lower ? distribution.survival(inside) : 1) * residual;
}

/** A closed form of the residual, but by quadrature where it is doubtful since nearly equal numbers cancel. */
export function orByQuadrature(distribution, value, doubtful, start, stop) {
  return doubtful ? distribution.residualByQuadrature(start, stop) : value;
}


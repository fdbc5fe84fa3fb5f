// Curves of hazards that rise at the times of a grid, computed at the times asked for.

import { Distribution } from "../distribution.js";
import { log1mexp } from "../numerics/numerics.js";
import { mappedSurvival } from "../wrappers/level_map.js";
import { countBelow, firstTrue } from "./sorted.js";
import { Step, edgeBefore, reachedLevel } from "./step.js";

/**
 * Survival that falls at the times of a grid; after the last time it is held. The same distribution as a Step of these
 * curves, of which each value is computed when it is asked for. The density is that of the linear interpolation.
 */
export class HazardCurves extends Distribution {
  /**
   * The ascending grid of the person's stratum; for each member or cause the logarithms of its cumulative hazard from
   * each time on; the log risk for each of them; maps by which survival was recalibrated, one after the other.
   */
  constructor(times, logCumulative, logRisk, levelMaps = []) {
    super();
    this.times = times;
    this.logCumulative = logCumulative;
    this.logRisk = logRisk;
    this.levelMaps = levelMaps;
  }

  /** Survival after so many times of the grid, before any recalibration. */
  curveAfter() {
    throw new Error("curves of hazards must provide curveAfter.");
  }

  /** The same kind of curves with other fields. */
  changed() {
    throw new Error("curves of hazards must provide changed.");
  }

  /** How many times of the grid lie before t; `inclusive` counts an equal one too. */
  count(t, inclusive) {
    return countBelow(this.times, t, inclusive);
  }

  /** Log survival under each hazard after so many times of the grid. */
  logSurvivals(count) {
    // No time has passed: no hazard yet.
    return this.logCumulative.map((heights, k) =>
      count > 0 ? -Math.exp(heights[count - 1] + this.logRisk[k]) : 0,
    );
  }

  /** Survival after so many times of the grid. */
  after(count) {
    return this.levelMaps.reduce(mappedSurvival, this.curveAfter(count));
  }

  survival(t) {
    return this.after(this.count(t, true));
  }

  cdf(t) {
    return 1 - this.survival(t);
  }

  logSurvival(t) {
    return Math.log(this.survival(t));
  }

  logCdf(t) {
    return Math.log1p(-this.survival(t));
  }

  logDensity(t) {
    const { count, width } = this.stretch(t);
    return width > 0 ? this.logMass(count) - Math.log(width) : -Infinity;
  }

  /** In which stretch between times of the grid t lies, counted from 1, and its width; 0 outside all. */
  stretch(t) {
    const size = this.times.length;
    const edge = edgeBefore(this.times);
    const count = Math.min(this.count(t, false) + 1, size);
    const start = count > 1 ? this.times[count - 2] : edge;
    const inside = t > edge && t <= this.times[size - 1];
    return { count, width: inside ? this.times[count - 1] - start : 0 };
  }

  /** Logarithm of the probability at the time of that number, counted from 1. */
  logMass(count) {
    return Math.log(this.after(count - 1) - this.after(count));
  }

  inverseLogSurvival(logSurvival) {
    const reached = reachedLevel(logSurvival);
    const count = firstTrue((position) => this.after(position) <= reached, this.times.length);
    return count <= this.times.length ? this.times[count - 1] : Infinity;
  }

  kinks() {
    return Array.from(this.times);
  }

  /** The same as a table of the times. */
  toStep() {
    if (this.knownStep === undefined) {
      const values = Float64Array.from(this.times, (_, k) => this.after(k + 1));
      this.knownStep = new Step(this.times, values);
    }
    return this.knownStep;
  }

  /** Linear interpolation of the cdf between the times; after the last, an exponential tail. */
  smoothed() {
    return this.toStep().smoothed();
  }

  residual(start, stop) {
    return this.toStep().residual(start, stop);
  }

  mean() {
    return this.toStep().mean();
  }

  mode() {
    return this.toStep().mode();
  }

  recalibrated(levelMap) {
    return this.changed({ levelMaps: [...this.levelMaps, levelMap] });
  }

  withScaledHazard(factor) {
    return this.toStep().withScaledHazard(factor);
  }

  /** The hazards of all members or causes multiplied, as a change of the log risks. */
  withRisksTimes(factor) {
    return this.changed({ logRisk: this.logRisk.map((risk) => risk + Math.log(factor)) });
  }

  scaled(factor) {
    return this.changed({ times: this.times.map((time) => factor * time) });
  }

  shifted(offset) {
    return this.changed({ times: this.times.map((time) => time + offset) });
  }
}

/** Logarithm of exp(before) - exp(after), of two log survivals. */
export function logFall(before, after) {
  return before > -Infinity ? before + log1mexp(after - before) : before;
}

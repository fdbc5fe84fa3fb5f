// Predicted distributions whose levels were put right: F*(t|x) = G(F(t|x)) with one monotone G for all rows.

import { Distribution } from "../distribution.js";
import { softplus } from "../numerics/numerics.js";
import { restrictedMeanAtNodes } from "../curves/early_nodes.js";
import { logOddsOfSurvival } from "./level_map.js";

/** Any continuous distribution after a monotone map of its levels. */
export class Recalibrated extends Distribution {
  constructor(base, levelMap) {
    super();
    this.base = base;
    this.levelMap = levelMap;
  }

  /** Log odds of the level of the base, infinite outside of its support. */
  odds(t) {
    if (this.base instanceof Recalibrated) {
      return this.base.moved(t);
    }
    return this.base.logCdf(t) - this.base.logSurvival(t);
  }

  /** Log odds after the map. */
  moved(t) {
    const odds = this.odds(t);
    return odds + this.levelMap.shift(odds);
  }

  logSurvival(t) {
    return -softplus(this.moved(t));
  }

  logCdf(t) {
    return -softplus(-this.moved(t));
  }

  logDensity(t) {
    // With z the log odds, f = F·S·dz/dt: the product F·S is exchanged for that after the map.
    const odds = this.odds(t);
    const shift = this.levelMap.shift(odds);
    const moved = odds + shift;
    const closeness = Math.log1p(Math.exp(-Math.abs(odds))) - Math.log1p(Math.exp(-Math.abs(moved)));
    return this.base.logDensity(t) + this.levelMap.logSlope(odds) + distanceFromZero(odds, shift) + 2 * closeness;
  }

  inverseLogSurvival(logSurvival) {
    return this.base.inverseLogSurvival(this.baseLogSurvival(logSurvival));
  }

  around(logSurvival) {
    return this.base.around(this.baseLogSurvival(logSurvival));
  }

  /** Log survival of the base where that of this distribution is as given. */
  baseLogSurvival(logSurvival) {
    const odds = logOddsOfSurvival(logSurvival);
    return -softplus(odds + this.levelMap.inverseShift(odds));
  }

  approximateRestrictedMean(horizon) {
    return restrictedMeanAtNodes(this, horizon);
  }

  lower() {
    return this.base.lower();
  }

  kinks() {
    const times = Array.from(this.levelMap.knots, (knot) => this.base.inverseLogSurvival(-softplus(knot)));
    return [...this.base.kinks(), ...times.map((time) => (Number.isFinite(time) ? time : 0))];
  }

  places() {
    return [...this.base.places(), ...this.kinks()];
  }

  scaled(factor) {
    return new Recalibrated(this.base.scaled(factor), this.levelMap);
  }

  shifted(offset) {
    return new Recalibrated(this.base.shifted(offset), this.levelMap);
  }
}

/** |z| - |z + shift|, also where both are infinite. */
function distanceFromZero(odds, shift) {
  const moved = odds + shift;
  if (odds * moved < 0) {
    return Math.abs(odds) - Math.abs(moved);
  }
  if (odds >= 0 && moved >= 0) {
    return -shift;
  }
  return odds <= 0 && moved <= 0 ? shift : 0;
}

// Competing causes of proportional hazards: incidences that rise at the times of a grid.

import { SummedHazards, SummedIncidences } from "../curves/cause_curves.js";
import { ProportionalHazards } from "../curves/proportional_hazards.js";
import { sumOf } from "../curves/sorted.js";
import { Step } from "../curves/step.js";
import { clip } from "../numerics/numerics.js";
import { Cured } from "../wrappers/cured.js";
import { CompetingDistribution } from "./competing_distribution.js";

/** Incidences that rise with the survival of curves, at the times of their grid. */
class GridIncidences extends CompetingDistribution {
  constructor(curves, causes) {
    super(causes);
    this.curves = curves;
  }

  /** Incidence of each cause after so many times of the grid. */
  incidencesAfter() {
    throw new Error("incidences on a grid must provide incidencesAfter.");
  }

  overall() {
    return this.curves;
  }

  incidences(t) {
    return this.incidencesAfter(this.curves.count(t, true));
  }

  logDensities(t) {
    // As of the time to the first event: that of the linear interpolation.
    const { count, width } = this.curves.stretch(t);
    if (!(width > 0)) {
      return this.causes.map(() => -Infinity);
    }
    const before = this.incidencesAfter(count - 1);
    return this.incidencesAfter(count).map((value, k) => Math.log(Math.max(value - before[k], 0) / width));
  }
}

/**
 * Each cause has a hazard, H_k(t)·exp(log risk_k), that rises at the times of a grid. What the survival loses at a time
 * goes to the causes in the proportion of their rises there.
 */
export class CauseSpecificHazards extends GridIncidences {
  /** The grid of the person's stratum, log cumulative hazards of the causes at its times, and their log risks. */
  static of(times, logCumulative, logRisk, causes) {
    return new CauseSpecificHazards(new SummedHazards(times, logCumulative, logRisk), causes);
  }

  incidencesAfter(count) {
    return this.table().map((own) => own[count]);
  }

  /** Incidence of each cause after 0, 1, 2, … times of the grid. */
  table() {
    if (this.knownTable === undefined) {
      this.knownTable = incidenceTable(this.curves);
    }
    return this.knownTable;
  }

  subdistribution(cause) {
    const own = this.table()[this.causeNumber(cause) - 1];
    return new Step(this.curves.times, own.subarray(1).map((value) => clip(1 - value, 0, 1)));
  }

  scaled(factor) {
    return new CauseSpecificHazards(this.curves.scaled(factor), this.causes);
  }
}

/** The incidence of each cause is share_k·(1 - exp(-H_k(t)·exp(log risk_k))), as of Fine & Gray's regression. */
export class SubdistributionHazards extends GridIncidences {
  /** Grid, log cumulative hazards and log risks of the causes, and what each incidence is multiplied by. */
  static of(times, logCumulative, logRisk, shares, causes) {
    return new SubdistributionHazards(new SummedIncidences(times, logCumulative, logRisk, shares), causes);
  }

  incidencesAfter(count) {
    return this.curves.incidencesAfter(count);
  }

  subdistribution(cause) {
    const k = this.causeNumber(cause) - 1;
    const { times, logCumulative, logRisk, shares, levelMaps } = this.curves;
    const hazards = new ProportionalHazards(times, [logCumulative[k]], [logRisk[k]], levelMaps);
    return shares[k] === 1 ? hazards : new Cured(hazards, 1 - shares[k]);
  }

  scaled(factor) {
    return new SubdistributionHazards(this.curves.scaled(factor), this.causes);
  }
}

/** Incidence of each cause after 0, 1, 2, … times of the grid of summed hazards. */
function incidenceTable(curves) {
  const size = curves.times.length;
  const factors = curves.hazardFactors();
  const table = factors.map(() => new Float64Array(size + 1));
  let before = 1;
  for (let k = 0; k < size; k += 1) {
    const after = curves.curveAfter(k + 1);
    const rises = factors.map(({ baseline, risk }) => ({ rise: baseline[k] - (k > 0 ? baseline[k - 1] : 0), risk }));
    const shares = sharesOfFall(rises);
    table.forEach((own, cause) => {
      own[k + 1] = own[k] + (before - after) * shares[cause];
    });
    before = after;
  }
  // Sums of many small numbers lose digits: together they are what the survival has lost.
  for (let k = 1; k <= size; k += 1) {
    const whole = sumOf(table.map((own) => own[k]));
    if (whole > 0) {
      const factor = (1 - curves.curveAfter(k)) / whole;
      table.forEach((own) => {
        own[k] *= factor;
      });
    }
  }
  return table;
}

/** What each cause has of a fall of the survival; where hazards of several rise at once, in proportion. */
function sharesOfFall(rises) {
  const rising = rises.filter(({ rise }) => rise > 0).length;
  if (rising < 2) {
    return rises.map(({ rise }) => (rise > 0 ? 1 : 0));
  }
  const total = sumOf(rises.map(({ rise, risk }) => rise * risk));
  return rises.map(({ rise, risk }) => {
    if (!(rise > 0)) {
      return 0;
    }
    return total > 0 ? (rise * risk) / total : 1 / rises.length;
  });
}

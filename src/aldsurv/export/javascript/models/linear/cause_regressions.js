// Models with one regression of proportional hazards for each competing cause, all of the same columns.

import { CauseSpecificHazards, SubdistributionHazards } from "../../competing/proportional_causes.js";
import { countBelow, sumOf } from "../../curves/sorted.js";
import { arraysUnder, requireEntry } from "../../file_entries.js";
import { DesignEstimator, HazardRegression } from "./hazard_regression.js";

/** A regression for each cause. */
class CauseRegressions extends DesignEstimator {
  constructor(document, arrays) {
    super(document, arrays, "follow_up");
    const { causes, regressions } = document;
    const fits = Array.isArray(regressions) && regressions.length === (causes === null ? 1 : causes.length);
    requireEntry(fits, "it must have a regression per cause");
    this.causeNames = causes;
    this.regressions = regressions.map((_, k) => new HazardRegression(this.design, arraysUnder(arrays, `${k}.`)));
    this.grids = new Map();
  }

  get causes() {
    return this.causeNames;
  }

  /** Names of the causes, also where the data had events of one kind. */
  get namesOfCauses() {
    return this.causeNames === null ? ["1"] : this.causeNames;
  }

  predictDistribution(row) {
    return this.predictIncidence(row).overall();
  }

  /** The log risk of each cause, measured from an average row. */
  logRisks(row) {
    const numbers = this.design.numbers(row);
    return this.regressions.map((regression) => regression.logRisk(numbers));
  }

  /** The baselines of all causes in a row's stratum at the times of all of them. */
  grid(row) {
    const stratum = this.design.stratum(row);
    if (!this.grids.has(stratum)) {
      this.grids.set(stratum, sharedGrid(this.regressions.map((regression) => regression.baseline(stratum))));
    }
    return this.grids.get(stratum);
  }
}

/** Proportional hazards of each cause, events of the others as censored. */
export class CauseSpecificCox extends CauseRegressions {
  predictIncidence(row) {
    const { times, logCumulative } = this.grid(row);
    return CauseSpecificHazards.of(times, logCumulative, this.logRisks(row), this.namesOfCauses);
  }
}

/** Proportional hazards of the subdistribution of each cause: F_k(t | x) = 1 - exp(-H_k0(t)·exp(β_k·x)). */
export class FineGray extends CauseRegressions {
  /** `cause`: the cause of interest, by number or name, or null. */
  constructor(document, arrays) {
    super(document, arrays);
    const { cause } = document.parameters;
    const given = cause !== null && cause !== undefined && this.causeNames !== null;
    this.first = null;
    if (given) {
      this.first = typeof cause === "number" ? cause - 1 : this.causeNames.indexOf(cause);
    }
  }

  predictIncidence(row) {
    const { times, logCumulative } = this.grid(row);
    const risks = this.logRisks(row);
    const last = risks.map((risk, k) => -Math.expm1(-Math.exp(risk + logCumulative[k][times.length - 1])));
    const shares = incidenceShares(last, this.first);
    return SubdistributionHazards.of(times, logCumulative, risks, shares, this.namesOfCauses);
  }
}

/** What incidences at the end are multiplied by, so that together they are not more than one. */
function incidenceShares(last, first) {
  if (first === null) {
    return last.map(() => 1 / Math.max(sumOf(last), 1));
  }
  const total = sumOf(last.filter((_, k) => k !== first));
  const left = 1 - last[first];
  return last.map((_, k) => (k === first || total <= left ? 1 : left / total));
}

/** Times of all baselines, and the logarithm of each cumulative hazard there: -Infinity before its first event. */
function sharedGrid(baselines) {
  const every = baselines.flatMap(({ times }) => Array.from(times));
  const times = Float64Array.from(new Set(every)).sort();
  const logCumulative = baselines.map((baseline) =>
    times.map((time) => {
      const count = countBelow(baseline.times, time, true);
      return count > 0 ? baseline.logCumulative[count - 1] : -Infinity;
    }),
  );
  return { times, logCumulative };
}

/** The model of a file of kind cause_specific_cox. */
export function readCauseSpecificCox(document, arrays) {
  return new CauseSpecificCox(document, arrays);
}

/** The model of a file of kind fine_gray. */
export function readFineGray(document, arrays) {
  return new FineGray(document, arrays);
}

// Proportional hazards with a network for the log risk.

import { ProportionalHazards } from "../../curves/proportional_hazards.js";
import { sumOf } from "../../curves/sorted.js";
import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { NeuralSurvival } from "./neural_survival.js";
import { Strata } from "../linear/strata.js";

/** Individual survival curves by proportional hazards: a network gives each row's log risk. */
export class DeepSurv extends NeuralSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    const { log_hazard: hazard } = this.learned;
    requireEntry(this.network.outputs === 1 && hazard !== undefined, "it must have one output and a baseline hazard");
    this.baselineTimes = finiteNumbers(this.learned, "times", 1);
    this.centers = finiteNumbers(this.learned, "center", 1);
    this.hazard = hazard;
    this.strataColumns = this.settings.strata;
    this.strata = this.strataColumns.length > 0 ? new Strata(this.strataNames(), this.readStrata()) : null;
    const strata = this.strata === null ? 1 : this.strata.strata.length;
    const wanted = [this.nMembers, strata, this.baselineTimes.length];
    const fits = JSON.stringify(hazard.shape) === JSON.stringify(wanted);
    requireEntry(fits, "the baseline hazard must have its members, strata and times");
  }

  /** Levels of each stratum; files of version 0.1 have them as an array of letters. */
  readStrata() {
    if (this.learned.strata === undefined) {
      return this.extras.strata;
    }
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(this.learned.strata.data, Number)));
  }

  /** Names of the columns of strata; those without names have that of their position in the whole table. */
  strataNames() {
    return this.strataColumns.map((column) => (typeof column === "number" ? `x${column}` : column));
  }

  /** For columns without names: the covariates under the positions that they have beside the strata. */
  covariateNames() {
    const { plans, named } = this.features;
    if (named || this.strata === null) {
      return plans.map((plan) => plan.name);
    }
    const every = Array.from({ length: plans.length + this.strataColumns.length }, (_, k) => `x${k}`);
    return every.filter((name) => !this.strata.names.includes(name));
  }

  /** A row with the covariates under the names that training had for them. */
  covariates(row) {
    const names = this.covariateNames();
    return Object.fromEntries(this.features.plans.map((plan, k) => [plan.name, row[names[k]]]));
  }

  get columns() {
    const names = this.covariateNames();
    const covariates = this.features.describe().map((column, k) => ({ ...column, name: names[k] }));
    const columns = [...covariates, ...(this.strata === null ? [] : this.strata.describe())];
    if (!this.features.named) {
      columns.sort((first, second) => Number(first.name.slice(1)) - Number(second.name.slice(1)));
    }
    return columns;
  }

  outside(row) {
    const names = this.covariateNames();
    const found = super.outside(this.covariates(row));
    return names.filter((_, k) => found.includes(this.features.plans[k].name));
  }

  notes(row) {
    const names = this.covariateNames();
    const places = this.features.plans.map((plan) => plan.name);
    const notes = super.notes(this.covariates(row));
    return notes.map((note) => ({ ...note, column: names[places.indexOf(note.column)] }));
  }

  predictOutputs(row) {
    return super.predictOutputs(this.covariates(row));
  }

  /** The log cumulative baseline hazard of a member in a row's stratum. */
  baseline(member, row) {
    const stratum = this.strata === null ? 0 : this.strata.numberOf(row);
    const [, strata, size] = this.hazard.shape;
    const start = (member * strata + stratum) * size;
    return this.hazard.data.slice(start, start + size);
  }

  memberDistribution([risk], member, row) {
    return new ProportionalHazards(this.baselineTimes, [this.baseline(member, row)], [risk]);
  }

  /** The mean of the members' curves, in one object. */
  predictDistribution(row) {
    const risks = this.predictOutputs(row).map(([risk]) => risk);
    const baselines = risks.map((_, member) => this.baseline(member, row));
    return new ProportionalHazards(this.baselineTimes, baselines, risks).scaled(this.timeScale);
  }

  /** The log risk, measured from the mean of the training rows and averaged over the members. */
  predictRisk(row) {
    const risks = this.predictOutputs(row).map(([risk], member) => risk - this.centers[member]);
    return sumOf(risks) / risks.length;
  }
}

/** The model of a file of kind deepsurv. */
export function readDeepSurv(document, arrays) {
  return new DeepSurv(document, arrays);
}

// DeepHit: a network gives every individual a probability for each bin of time, and for each of competing causes.

import { CumulativeIncidence, linearSurvival } from "../../competing/cumulative_incidence.js";
import { sumOf } from "../../curves/sorted.js";
import { Step } from "../../curves/step.js";
import { finiteNumbers, requireEntry } from "../../file_entries.js";
import { clip } from "../../numerics/numerics.js";
import { NeuralSurvival } from "./neural_survival.js";

/** Individual survival distributions by probabilities of bins of time that a network gives. */
export class DeepHit extends NeuralSurvival {
  constructor(document, arrays) {
    super(document, arrays);
    this.binEnds = finiteNumbers(this.learned, "bin_ends", 1);
    this.causeNames = this.readCauseNames();
    this.linear = this.settings.interpolation === "linear";
    const rising = this.binEnds.every((end, k) => end > (k === 0 ? 0 : this.binEnds[k - 1]));
    requireEntry(rising, "bin_ends must be above 0 and ascending");
    const outputs = this.binEnds.length * (this.causeNames === null ? 1 : this.causeNames.length);
    requireEntry(this.network.outputs === outputs, "the network must have an output for each cause and bin");
  }

  get causes() {
    return this.causeNames;
  }

  /** Names of the causes; files of version 0.1 have them as the numbers of their letters, a 0 after each. */
  readCauseNames() {
    if (this.learned.causes !== undefined) {
      const letters = Array.from(this.learned.causes.data, (number) => String.fromCodePoint(Number(number)));
      return letters.join("").split("\0").slice(0, -1);
    }
    return this.extras.causes === undefined ? null : this.extras.causes;
  }

  /** The distribution with this survival at the ends of bins. */
  ofSurvival(ends, survival) {
    const inside = survival.map((value) => clip(value, 0, 1));
    return this.linear ? linearSurvival(ends, inside) : new Step(ends, inside);
  }

  memberDistribution(raw) {
    const incidences = binIncidences(raw, this.binEnds.length);
    return this.ofSurvival(this.binEnds, this.binEnds.map((_, k) => 1 - sumOf(incidences.map((own) => own[k]))));
  }

  /** Ends of the bins in the unit of the data. */
  userEnds() {
    return this.binEnds.map((end) => end * this.timeScale);
  }

  /** The mean of the curves; all have the same grid. */
  combine(parts) {
    const ends = this.userEnds();
    const curves = parts.map((part) =>
      this.linear ? part.cdfValues.subarray(1).map((value) => 1 - value) : part.values,
    );
    return this.ofSurvival(ends, ends.map((_, k) => sumOf(curves.map((curve) => curve[k])) / curves.length));
  }

  predictIncidence(row) {
    const ends = this.userEnds();
    const members = this.predictOutputs(row).map((raw) => binIncidences(raw, ends.length));
    const values = members[0].map((_, cause) =>
      ends.map((_end, k) => sumOf(members.map((own) => own[cause][k])) / members.length),
    );
    return new CumulativeIncidence(ends, values, this.causeNames === null ? ["1"] : this.causeNames, this.linear);
  }
}

/** Probability of each cause up to the end of each bin, from the outputs of a member. */
function binIncidences(raw, bins) {
  // The output for what comes after the last bin is always 0.
  const top = Math.max(...raw, 0);
  const grown = raw.map((value) => Math.exp(value - top));
  const total = sumOf(grown) + Math.exp(-top);
  const incidences = [];
  for (let first = 0; first < raw.length; first += bins) {
    const own = new Float64Array(bins);
    let sum = 0;
    for (let k = 0; k < bins; k += 1) {
      sum += grown[first + k] / total;
      own[k] = sum;
    }
    incidences.push(own);
  }
  return incidences;
}

/** The model of a file of kind deephit. */
export function readDeepHit(document, arrays) {
  return new DeepHit(document, arrays);
}

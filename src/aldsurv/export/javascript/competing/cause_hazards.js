// Competing causes by a hazard for each cause: incidences by quadrature.

import { clip } from "../numerics/numerics.js";
import { Earliest } from "../wrappers/earliest.js";
import { CompetingDistribution } from "./competing_distribution.js";
import { integratePanels } from "./panels.js";

// Levels of the first event around which the first panels end: where probability is, and far into both tails.
const EARLY_LEVELS = [1e-12, 1e-9, 1e-6, 1e-4, 1e-3];
const LATE_LEVELS = [0.98, 0.999, 1 - 1e-5, 1 - 1e-8, 1 - 1e-12];
const PANEL_LEVELS = [...EARLY_LEVELS, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, ...LATE_LEVELS].map((level) => Math.log1p(-level));

/** Each cause has a hazard of its own, and the first event is that of the earliest: dF_k = h_k·S dt. */
export class CauseHazards extends CompetingDistribution {
  /** For each cause a distribution with its hazard. */
  constructor(parts, causes) {
    super(causes);
    this.parts = parts;
    this.computed = null;
  }

  overall() {
    return new Earliest(this.parts);
  }

  incidences(t) {
    const panels = this.panels();
    const values = panels.incidences(clip(t, panels.edges[0], panels.edges[panels.edges.length - 1]));
    // Together they are what the survival has lost: rounding, and what lies beyond the last panel, is shared out.
    const whole = values.reduce((sum, value) => sum + value, 0);
    const cdf = this.overall().cdf(t);
    return values.map((value) => (whole > 0 ? value / whole : 1 / this.parts.length) * cdf);
  }

  panels() {
    if (this.computed === null) {
      const first = this.overall();
      const around = PANEL_LEVELS.map((level) => first.around(level));
      const marks = [around[0][0], ...around.map(([, high]) => high), ...first.kinks()];
      const lower = first.lower();
      const finite = marks.filter(Number.isFinite);
      const earliest = Math.min(...finite);
      let start = Number.isFinite(earliest) ? earliest : 0;
      start = Number.isFinite(lower) ? lower : start;
      const last = finite.length > 0 ? Math.max(...marks.map((mark) => (Number.isFinite(mark) ? mark : start))) : start;
      const inside = marks.map((mark) => clip(Number.isFinite(mark) ? mark : last, start, last));
      this.computed = integratePanels(
        this.parts,
        [start, ...inside].sort((a, b) => a - b),
        lower,
      );
    }
    return this.computed;
  }

  logDensities(t) {
    return this.overall().logPartDensities(t);
  }

  scaled(factor) {
    return new CauseHazards(
      this.parts.map((part) => part.scaled(factor)),
      this.causes,
    );
  }
}

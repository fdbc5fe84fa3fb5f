// Integrals of the densities of several causes up to any time, by polynomials on panels that are halved as needed.

import { GAUSS_10, legendreValues } from "../numerics/gauss_legendre.js";
import { clip } from "../numerics/numerics.js";

const PANEL_TOLERANCE = 1e-9;
const MOST_HALVINGS = 60;
const PANEL_PLACES = GAUSS_10.map(([node]) => (node + 1) / 2);
// From values at the nodes to the coefficients of Legendre's polynomials: TO_COEFFICIENTS[degree][node].
const TO_COEFFICIENTS = GAUSS_10.map((_, degree) =>
  GAUSS_10.map(([node, weight]) => ((2 * degree + 1) / 2) * weight * legendreValues(node, 9)[degree]),
);
const UP_TO_NODES = PANEL_PLACES.map(polynomialIntegrals);

/** Integrals of Legendre's polynomials on (0, 1) up to a share. */
function polynomialIntegrals(share) {
  const values = legendreValues(2 * share - 1, 10);
  return [share, ...values.slice(2).map((value, k) => (value - values[k]) / (4 * (k + 1) + 2))];
}

/** Incidences between the ends of panels. */
export class Panels {
  /** Ends of panels, and for each cause the incidence at each end and the coefficients of each panel. */
  constructor(edges, ends, coefficients) {
    this.edges = edges;
    this.ends = ends;
    this.coefficients = coefficients;
  }

  /** The incidence of each cause at a finite time from the first end to the last. */
  incidences(t) {
    let panel = 0;
    while (panel + 1 < this.edges.length - 1 && this.edges[panel + 1] <= t) {
      panel += 1;
    }
    const width = this.edges[panel + 1] - this.edges[panel];
    const share = clip((t - this.edges[panel]) / (width > 0 ? width : 1), 0, 1);
    const integrals = polynomialIntegrals(share);
    return this.ends.map((ends, cause) => {
      const own = this.coefficients[cause][panel];
      return Math.max(ends[panel] + own.reduce((sum, value, j) => sum + value * integrals[j], 0), 0);
    });
  }
}

/** Incidences of causes with the hazards of `parts`, on panels that begin with those between ascending edges. */
export function integratePanels(parts, edges, lower) {
  const finished = [];
  const waiting = [];
  for (let k = edges.length - 2; k >= 0; k -= 1) {
    waiting.push({ start: edges[k], stop: edges[k + 1], halvings: 0 });
  }
  while (waiting.length > 0) {
    const { start, stop, halvings } = waiting.pop();
    if (!(stop > start)) {
      continue;
    }
    const panel = fittedPanel(parts, start, stop);
    const centre = panelMiddle(start, stop, lower);
    if (panel.error > PANEL_TOLERANCE && start < centre && centre < stop && halvings < MOST_HALVINGS) {
      waiting.push({ start: centre, stop, halvings: halvings + 1 }, { start, stop: centre, halvings: halvings + 1 });
    } else {
      finished.push({ stop, ...panel });
    }
  }
  return joinedPanels(finished, edges, parts.length);
}

/** Coefficients of the density of each cause, times the width, and how far their integrals are from the survival. */
function fittedPanel(parts, start, stop) {
  const width = stop - start;
  const survivalAt = (t) => parts.reduce((product, part) => product * part.survival(t), 1);
  const nodes = PANEL_PLACES.map((place) => start + width * place);
  const each = parts.map((part) => nodes.map((t) => part.survival(t)));
  const coefficients = parts.map((part, k) => {
    const densities = nodes.map((t, node) => {
      const density = each.reduce((product, own, j) => (j === k ? product : product * own[node]), part.density(t));
      return Number.isFinite(density) ? density * width : 0;
    });
    return TO_COEFFICIENTS.map((row) => row.reduce((sum, value, node) => sum + value * densities[node], 0));
  });
  const together = PANEL_PLACES.map((_, degree) => coefficients.reduce((sum, own) => sum + own[degree], 0));
  const [first, last] = [survivalAt(start), survivalAt(stop)];
  // Up to each node, and up to the end: a spike may lie between it and the last node.
  let error = Math.abs(together[0] - (first - last));
  UP_TO_NODES.forEach((integrals, node) => {
    const gained = integrals.reduce((sum, value, degree) => sum + value * together[degree], 0);
    const survival = each.reduce((product, own) => product * own[node], 1);
    error = Math.max(error, Math.abs(gained - (first - survival)));
  });
  return { coefficients, mass: Math.max(first - last, 0), total: together[0], error };
}

/** Where a panel is halved: geometrically if it spans orders of magnitude of the distance from the support's start. */
function panelMiddle(start, stop, lower) {
  const low = start - lower;
  const high = stop - lower;
  if (low > 0 && high > 4 * low && Number.isFinite(low)) {
    return lower + Math.sqrt(low) * Math.sqrt(high);
  }
  return start + (stop - start) / 2;
}

function joinedPanels(finished, edges, causes) {
  const ends = [edges[0]];
  const grown = Array.from({ length: causes }, () => [0]);
  const coefficients = Array.from({ length: causes }, () => []);
  for (const panel of finished) {
    ends.push(panel.stop);
    // All causes together gain what the survival loses, however well the polynomials do.
    const factor = panel.total > 0 ? panel.mass / panel.total : 0;
    panel.coefficients.forEach((own, cause) => {
      const scaled = own.map((value) => value * factor);
      const gain = panel.total > 0 ? scaled[0] : panel.mass / causes;
      coefficients[cause].push(scaled);
      grown[cause].push(grown[cause][grown[cause].length - 1] + gain);
    });
  }
  if (finished.length === 0) {
    ends.push(edges[edges.length - 1]);
    grown.forEach((own) => own.push(0));
    coefficients.forEach((own) => own.push(PANEL_PLACES.map(() => 0)));
  }
  return new Panels(ends, grown, coefficients);
}

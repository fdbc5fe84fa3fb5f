// Numerical answers for families that have no closed form: one root search and two integrals.
// They need nothing of a distribution but its log survival, log cdf and log density, and where those are not smooth.

import { log1mexp, clip } from "./numerics.js";

const MOST_STEPS = 300;
const PRECISION = 2 * Number.EPSILON;
// A time as good as infinite whose square root, and whose difference with another, can still be computed.
const FURTHEST = Number.MAX_VALUE / 1e8;
// Panels end where survival (or the cdf) has fallen by these many e-folds since the start.
const FOLDS = [1, 4, 16, 64, 350];
// Further places where panels meet, by log survival: the body of the distribution is a sharp feature on the scale of a
// start or stop far away from it.
const BODY = [Math.log1p(-Math.exp(-12)), Math.log1p(-Math.exp(-3)), -0.7, -3, -12];
// An integral whose last panel still holds this share of the whole has no finite value.
const DIVERGENT_SHARE = 1e-3;
const NODES = tanhSinh(0.125, 3.75);

/** Distances from the left and the right end of the unit interval, and weights: nodes crowd towards both ends. */
function tanhSinh(step, reach) {
  const nodes = [];
  const count = Math.round(reach / step);
  for (let k = -count; k <= count; k += 1) {
    const s = k * step;
    const left = 1 / (1 + Math.exp(-Math.PI * Math.sinh(s)));
    const right = 1 / (1 + Math.exp(Math.PI * Math.sinh(s)));
    nodes.push({ left, right, weight: step * Math.PI * Math.cosh(s) * left * right });
  }
  return nodes;
}

/** Halfway between: arithmetically when close; when orders of magnitude apart, by sign first, then geometrically. */
export function middle(low, high) {
  const small = Math.min(Math.abs(low), Math.abs(high));
  const large = Math.max(Math.abs(low), Math.abs(high));
  if (large > 1e3 * small) {
    const geometric = Math.sqrt(Math.max(small, 1 / FURTHEST)) * Math.sqrt(large);
    if (low >= 0) {
      return geometric;
    }
    return high <= 0 ? -geometric : 0;
  }
  return low + (high - low) / 2;
}

/**
 * The time at which the log survival falls to a value: Newton steps kept inside a shrinking bracket.
 * The equation solved is log H(t) = log H* (H the cumulative hazard): close to linear in both tails.
 */
export function searchInverseLogSurvival(distribution, logSurvival) {
  const [lowest, highest] = distribution.bracket(logSurvival);
  if (logSurvival === 0) {
    return lowest;
  }
  if (logSurvival === -Infinity) {
    return highest;
  }
  const target = Math.log(-logSurvival);
  let low = clip(lowest, -FURTHEST, FURTHEST);
  let high = clip(highest, -FURTHEST, FURTHEST);
  let time = middle(low, high);
  let moved = high - low;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const reached = distribution.logSurvival(time);
    const value = Math.log(-reached) - target;
    const slope = Math.exp(distribution.logDensity(time) - reached) / -reached;
    if (value < 0) {
      low = time;
    } else {
      high = time;
    }
    const newton = time - value / slope;
    const inside = newton > low && newton < high;
    if (high - low <= PRECISION * Math.abs(high)) {
      time = high;
      break;
    }
    // Where the equation holds to rounding, or Newton stands still, nothing more is gained.
    const solved = Math.abs(value) <= 2 * PRECISION * (1 + Math.abs(target));
    if (solved || (inside && Math.abs(newton - time) <= PRECISION * Math.abs(time))) {
      time = inside ? newton : time;
      break;
    }
    // A Newton step must be at most half the step before it, or else the bracket is halved: jumps and flat
    // stretches come to an end too.
    const following = inside && Math.abs(newton - time) <= moved / 2 ? newton : middle(low, high);
    moved = Math.abs(following - time);
    time = following;
  }
  return time >= FURTHEST / 2 ? Infinity : time;
}

/** ∫ integrand(t, of(t)) dt from start to stop (Infinity: for ever), decaying at least like the survival. */
export function upperIntegral(distribution, integrand, of, start, stop = Infinity) {
  const logStart = Number.isFinite(start) ? distribution.logSurvival(start) : -Infinity;
  if (logStart === -Infinity) {
    return 0;
  }
  let ends = FOLDS.map((fold) => distribution.around(logStart - fold)[1]);
  const endless = !Number.isFinite(ends[ends.length - 1]);
  if (stop !== Infinity) {
    // Where survival never falls that far, the stop is the end.
    ends = ends.map((end) => (Number.isFinite(end) ? end : stop));
  }
  const panels = panelIntegrals(distribution, integrand, of, start, ends, stop, ends[0]);
  const total = panels.reduce((sum, panel) => sum + panel, 0);
  if (stop === Infinity) {
    const last = Math.abs(panels[panels.length - 1]);
    if (endless || last > DIVERGENT_SHARE * Math.abs(total)) {
      return Infinity;
    }
  }
  return total;
}

/** ∫ integrand(t, of(t)) dt from minus infinity to stop, decaying at least like the cdf. */
export function lowerIntegral(distribution, integrand, of, stop) {
  const logStop = Number.isFinite(stop) ? distribution.logCdf(stop) : -Infinity;
  if (logStop === -Infinity) {
    return 0;
  }
  const starts = FOLDS.map((fold) => {
    const start = distribution.around(log1mexp(logStop - fold))[0];
    // Probabilities too small for a float have no quantile: what lies below them counts for nothing.
    return Number.isFinite(start) ? start : stop;
  });
  const lowest = Math.max(Math.min(...starts), distribution.lower());
  const panels = panelIntegrals(distribution, integrand, of, lowest, [...starts, stop], Infinity, null);
  return panels.reduce((sum, panel) => sum + panel, 0);
}

/** The integral over each panel between the edges, those of the body and the kinks. */
function panelIntegrals(distribution, integrand, of, begin, ends, stop, stretchedFrom) {
  let edges = [begin, ...ends.map((end) => (Number.isFinite(end) ? end : begin))];
  const last = Math.max(...edges);
  const body = BODY.map((level) => distribution.around(level)[1]).map((time) => (Number.isFinite(time) ? time : 0));
  edges.push(...[...distribution.kinks(), ...body].map((time) => clip(time, begin, last)));
  edges.sort((a, b) => a - b);
  edges = edges.map((edge) => Math.min(edge, Math.max(stop, begin)));
  const panels = [];
  for (let k = 0; k + 1 < edges.length; k += 1) {
    panels.push(panelIntegral(integrand, of, edges[k], edges[k + 1], begin, stretchedFrom));
  }
  return panels;
}

function panelIntegral(integrand, of, left, right, origin, stretchedFrom) {
  const width = right - left;
  if (width === 0) {
    return 0;
  }
  // Far out, panels that span orders of magnitude are walked at constant ratio: power laws become exponentials.
  const far = stretchedFrom !== null && left >= stretchedFrom && left > origin;
  const wide = far && right - origin > 8 * (left - origin);
  const step = left - origin;
  const magnitude = wide ? Math.log((right - origin) / step) : 0;
  let total = 0;
  for (const node of NODES) {
    let time = node.left < 0.5 ? left + width * node.left : right - width * node.right;
    let speed = width;
    if (wide) {
      const byRatio = step * Math.exp(magnitude * node.left);
      time = origin + byRatio;
      speed = byRatio * magnitude;
    }
    total += integrand(time, of(time)) * speed * node.weight;
  }
  return total;
}

/** Time of the highest density: the best of many places, then a golden-section search around it. */
export function searchMode(distribution) {
  const places = distribution.places().sort((a, b) => a - b);
  const heights = places.map((place) => distribution.logDensity(place));
  const top = Math.max(...heights);
  const start = places[heights.indexOf(top)];
  // The next different places on either side: several may coincide.
  let low = Math.max(places[0], ...places.filter((place) => place < start));
  let high = Math.min(places[places.length - 1], ...places.filter((place) => place > start));
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let step = 0; step < 60; step += 1) {
    const inner = high - golden * (high - low);
    const outer = low + golden * (high - low);
    if (distribution.logDensity(inner) > distribution.logDensity(outer)) {
      high = outer;
    } else {
      low = inner;
    }
  }
  const refined = low + (high - low) / 2;
  return distribution.logDensity(refined) > top ? refined : start;
}

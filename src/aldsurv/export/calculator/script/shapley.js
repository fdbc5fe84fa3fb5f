// How much each input adds to the difference between two persons: Shapley values over the inputs that differ.

import { finished } from "./steps.js";

/** Up to so many inputs that differ, all subsets of them are predicted. */
export const MOST_EXACT_INPUTS = 10;
/** With more of them than that, orders would take too long on a phone. */
export const MOST_SAMPLED_INPUTS = 60;
const ORDERS = 40;

/**
 * Inputs that differ between two rows, as lists of names that change together.
 *
 * Columns of strata change together, for only some combinations of their levels have a baseline.
 */
export function differingInputs(model, row, reference) {
  const differs = (name) => (row[name] ?? null) !== (reference[name] ?? null);
  const used = model.columns.filter((column) => column.kind !== "left out");
  const strata = used.filter((column) => column.kind === "stratum").map((column) => column.name);
  const single = used.filter((column) => column.kind !== "stratum" && differs(column.name));
  return [...single.map((column) => [column.name]), ...(strata.some(differs) ? [strata] : [])];
}

/** The row with the values of another one for some of the inputs. */
function mixedRow(row, reference, inputs, chosen) {
  const mixed = { ...reference };
  inputs.forEach((names, place) => {
    if (chosen(place)) {
      names.forEach((name) => { mixed[name] = row[name] ?? null; });
    }
  });
  return mixed;
}

/** All subsets: sum over subsets without the input of |S|! (d - |S| - 1)! / d! times what it adds. */
function* exactValues(value, row, reference, inputs) {
  const d = inputs.length;
  const worth = [];
  for (let subset = 0; subset < 1 << d; subset += 1) {
    worth.push(value(mixedRow(row, reference, inputs, (place) => (subset >> place) & 1)));
    yield;
  }
  const factorial = [1];
  for (let k = 1; k <= d; k += 1) {
    factorial.push(factorial[k - 1] * k);
  }
  const sizes = worth.map((_, subset) => inputs.filter((_names, place) => (subset >> place) & 1).length);
  return inputs.map((_, place) => {
    let total = 0;
    for (let subset = 0; subset < worth.length; subset += 1) {
      if (!((subset >> place) & 1)) {
        const weight = (factorial[sizes[subset]] * factorial[d - sizes[subset] - 1]) / factorial[d];
        total += weight * (worth[subset | (1 << place)] - worth[subset]);
      }
    }
    return total;
  });
}

/** Numbers from 0 to 1 that are the same on every machine (mulberry32). */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Random orders of the inputs, each also backwards: the mean of what an input adds where its turn comes. */
function* sampledValues(value, row, reference, inputs) {
  const d = inputs.length;
  const random = seededRandom(1);
  const start = value(reference);
  const end = value(row);
  const total = new Array(d).fill(0);
  for (let k = 0; k < ORDERS; k += 1) {
    const order = Array.from({ length: d }, (_, place) => place);
    for (let last = d - 1; last > 0; last -= 1) {
      const other = Math.floor(random() * (last + 1));
      [order[last], order[other]] = [order[other], order[last]];
    }
    for (const places of [order, [...order].reverse()]) {
      const there = new Set();
      let before = start;
      for (let turn = 0; turn < d; turn += 1) {
        there.add(places[turn]);
        const now = turn === d - 1 ? end : value(mixedRow(row, reference, inputs, (place) => there.has(place)));
        total[places[turn]] += now - before;
        before = now;
        yield;
      }
    }
  }
  return total.map((sum) => sum / (2 * ORDERS));
}

/**
 * The contributions of the inputs to value(row) - value(reference), which they add up to.
 *
 * A generator that pauses after each prediction, so that a page can go on answering; it returns
 * {inputs: [[name, …]], values, exact, from, to}.
 */
export function* shapleySteps(model, value, row, reference) {
  const inputs = differingInputs(model, row, reference);
  if (inputs.length > MOST_SAMPLED_INPUTS) {
    throw new Error(`${inputs.length} inputs differ, more than ${MOST_SAMPLED_INPUTS}.`);
  }
  const exact = inputs.length <= MOST_EXACT_INPUTS;
  const values = yield* (exact ? exactValues : sampledValues)(value, row, reference, inputs);
  return { inputs, values, exact, from: value(reference), to: value(row) };
}

/** The same at once. */
export function shapleyValues(model, value, row, reference) {
  return finished(shapleySteps(model, value, row, reference));
}

// What is asked of the model about one person, and its answers as plain numbers.

import { memberSurvivalBand, memberTimeBand } from "../../javascript/member_spread.js";
import { finished } from "./steps.js";

const GRID = 41;
const MOST_SWEEPS = 3;

/** The row of a typical person: medians, and the first level of each column of levels. */
export function typicalRow(model) {
  const row = {};
  const strata = [];
  for (const column of model.columns) {
    if (column.kind === "number") {
      row[column.name] = shortNumber(column.median);
    } else if (column.kind === "levels") {
      row[column.name] = column.levels.length ? column.levels[0].value : null;
    } else if (column.kind === "stratum") {
      strata.push(column);
    }
  }
  // Not every combination of levels is a stratum of training.
  const tries = strata.reduce((rows, column) => rows.flatMap(
    (each) => column.levels.map((level) => ({ ...each, [column.name]: level.value })),
  ), [row]);
  return tries.find((each) => isPredictable(model, each)) ?? row;
}

/** A number that was rounded to float32 as it was written before: 4.7 for 4.699999809. */
function shortNumber(value) {
  const short = Number(value.toPrecision(6));
  return Math.fround(short) === Math.fround(value) ? short : value;
}

function isPredictable(model, row) {
  try {
    model.predict(row);
    return true;
  } catch {
    return false;
  }
}

/** The distribution of someone who is known to be event-free at a time. */
export function predictedSince(model, row, since) {
  const predicted = model.predict(row);
  return since > 0 ? predicted.conditional(since) : predicted;
}

/** Incidence of a cause by a time, of someone without any event at another: (F(t) - F(s)) / S(s). */
function incidenceSince(predicted, cause, t, since) {
  if (!(since > 0)) {
    return predicted.incidence(cause, t);
  }
  if (t <= since) {
    return 0;
  }
  return predicted.conditional(since).incidence(cause, t);
}

/**
 * The probability that is looked at in detail, as a function of a row.
 *
 * question: {time, since, cause}; cause null for the probability to be event-free.
 */
export function detailValue(model, { time, since, cause }) {
  if (cause === null || cause === undefined) {
    return (row) => predictedSince(model, row, since).survival(time);
  }
  return (row) => incidenceSince(model.predictIncidence(row), cause, time, since);
}

/** What each member predicts for someone who is known to be event-free at a time. */
function membersSince(model, row, since) {
  const members = model.predictMembers(row);
  return since > 0 ? members.map((member) => member.conditional(since)) : members;
}

/** Survival and its spread between members at many times, for a curve. */
export function survivalCurve(model, row, times, { level, since }) {
  const predicted = predictedSince(model, row, since);
  const band = model.members > 1
    ? memberSurvivalBand(membersSince(model, row, since), predicted, times, level, model.estimator.bandStretch())
    : null;
  return { survival: times.map((t) => predicted.survival(t)), band };
}

/** Limits that the members leave the median. */
function medianBand(model, row, { level, since }) {
  const medians = membersSince(model, row, since).map((member) => member.median());
  const joint = predictedSince(model, row, since).median();
  return memberTimeBand(medians, joint, level, model.estimator.bandStretch(), Infinity);
}

/** Incidence of each cause at many times. */
export function incidenceCurves(model, row, times, { since }) {
  const predicted = model.predictIncidence(row);
  return model.causes.map((cause) => times.map((t) => incidenceSince(predicted, cause, t, since)));
}

/**
 * Everything that the page says about a row.
 *
 * question: {times, level, since, horizon}.
 */
export function answersFor(model, row, question) {
  const { times, level, since, horizon } = question;
  const predicted = predictedSince(model, row, since);
  const curve = survivalCurve(model, row, times, question);
  const cure = predicted.cureProbability();
  // A curve that falls no more after the last time of training says nothing about later, and of no cure.
  const held = cure > 0 && Math.abs(predicted.survival(Math.max(model.lastTime, since)) - cure) < 1e-12;
  return {
    ...curve,
    median: predicted.median(),
    interval: predicted.interval(level),
    medianBand: model.members > 1 ? medianBand(model, row, question) : null,
    restrictedMean: predicted.restrictedMean(horizon),
    cure,
    curveEnd: held ? model.lastTime : null,
    incidence: model.causes === null ? null : incidenceCurves(model, row, times, question),
    outside: model.outside(row),
    notes: model.notes(row),
  };
}

/** Values of an input that training had: all levels, or numbers from the lowest to the highest. */
export function trainingValues(column) {
  if (column.kind !== "number") {
    return column.levels.map((level) => level.value);
  }
  const { low, high } = column;
  if (column.whole && high - low < GRID) {
    return Array.from({ length: Math.round(high - low) + 1 }, (_, k) => low + k);
  }
  const even = Array.from({ length: GRID }, (_, k) => (k === GRID - 1 ? high : low + ((high - low) * k) / (GRID - 1)));
  return column.whole ? even.map(Math.round) : even;
}

/** Inputs that a row has no value for, of those that the model uses. */
export function missingInputs(model, row) {
  return model.columns.filter((column) => column.kind !== "left out" && (row[column.name] ?? null) === null);
}

/** The lowest and the highest probability over the values of an input that training had. */
function* reachSteps(value, row, column) {
  let low = null;
  let high = null;
  for (const entry of trainingValues(column)) {
    const probability = value({ ...row, [column.name]: entry });
    if (low === null || probability < low.probability) {
      low = { probability, value: entry };
    }
    if (high === null || probability > high.probability) {
      high = { probability, value: entry };
    }
    yield;
  }
  return { low, high };
}

/** At least how far inputs that are not known can move it together: one after the other, until nothing moves. */
function* jointEnd(value, row, columns, end) {
  const sign = end === "low" ? -1 : 1;
  let best = { ...row };
  let reached = null;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep += 1) {
    const before = reached;
    for (const column of columns) {
      const found = (yield* reachSteps(value, best, column))[end];
      // The first time round every input gets a value: to be unknown may itself count for something.
      if (sweep === 0 || sign * (found.probability - reached) > 0) {
        reached = found.probability;
        best = { ...best, [column.name]: found.value };
      }
    }
    if (reached === before) {
      break;
    }
  }
  return reached;
}

/**
 * Between which probabilities inputs that are not known leave the prediction: a generator.
 *
 * It returns {now, ranges: [{column, low, high}], joint}: each input with the others as they are, and all together.
 */
export function* gapSteps(model, value, row) {
  const columns = missingInputs(model, row);
  const ranges = [];
  for (const column of columns) {
    ranges.push({ column: column.name, ...(yield* reachSteps(value, row, column)) });
  }
  const joint = columns.length > 1
    ? [yield* jointEnd(value, row, columns, "low"), yield* jointEnd(value, row, columns, "high")] : null;
  return { now: value(row), ranges, joint };
}

/** The same at once. */
export function gapRanges(model, value, row) {
  return finished(gapSteps(model, value, row));
}

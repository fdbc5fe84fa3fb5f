// Loads models by the JavaScript runtime and answers what a test asks: JSON on stdin, JSON on stdout.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { runtime, cases } = JSON.parse(readFileSync(0, "utf8"));
const { loadModel } = await import(pathToFileURL(`${runtime}/model.js`).href);

function facts(model) {
  const { name, title, unit, columns, causes, followUp, lastTime, members, digest, version } = model;
  return { name, title, unit, columns, causes, followUp, lastTime, members, digest, version };
}

function predictions(model, row, asked) {
  const times = (asked.times || []).map(Number);
  const levels = asked.levels || [];
  const distribution = model.predict(row);
  const at = (method) => times.map((t) => distribution[method](t));
  const answers = {
    survival: () => at("survival"),
    log_survival: () => at("logSurvival"),
    cdf: () => at("cdf"),
    density: () => at("density"),
    hazard: () => at("hazard"),
    cumulative_hazard: () => at("cumulativeHazard"),
    quantile: () => levels.map((level) => distribution.quantile(level)),
    median: () => distribution.median(),
    mean: () => distribution.mean(),
    mode: () => distribution.mode(),
    interval: () => distribution.interval(0.8),
    restricted_mean: () => times.map((t) => distribution.restrictedMean(t)),
    mean_residual_life: () => times.map((t) => distribution.meanResidualLife(t)),
    cure_probability: () => distribution.cureProbability(),
    conditional_survival: () => times.map((t) => distribution.conditional(asked.since).survival(t)),
    conditional_quantile: () => levels.map((level) => distribution.conditional(asked.since).quantile(level)),
    conditional_restricted_mean: () => distribution.conditional(asked.since).restrictedMean(times[times.length - 1]),
    time: () => model.point(row),
    risk: () => model.risk(row),
    member_survival: () => model.predictMembers(row).map((member) => times.map((t) => member.survival(t))),
    survival_band: () => Object.values(model.survivalBand(row, times, 0.9)),
    time_band: () => Object.values(model.timeBand(row, 0.8)),
    outside: () => model.outside(row),
    notes: () => model.notes(row),
    incidence: () => byCause(model, (predicted, cause) => times.map((t) => predicted.incidence(cause, t)), row),
    cause_density: () => byCause(model, (predicted, cause) => times.map((t) => predicted.density(cause, t)), row),
    cause_hazard: () =>
      byCause(model, (predicted, cause) => times.map((t) => predicted.causeSpecificHazard(cause, t)), row),
    cause_probability: () => byCause(model, (predicted, cause) => predicted.causeProbability(cause), row),
    cause_median: () => byCause(model, (predicted, cause) => predicted.median(cause), row),
    conditional_incidence: () =>
      byCause(model, (predicted, cause) => times.map((t) => predicted.incidence(cause, t)), row, asked.since),
  };
  return Object.fromEntries(asked.what.map((name) => [name, orComplaint(answers[name])]));
}

function orComplaint(answer) {
  try {
    return answer();
  } catch (error) {
    return { error: error.message };
  }
}

function byCause(model, value, row, since = null) {
  const whole = model.predictIncidence(row);
  const predicted = since === null ? whole : whole.conditional(since);
  return predicted.causes.map((cause) => value(predicted, cause));
}

function answered(oneCase) {
  try {
    const bytes = oneCase.bytes === undefined ? readFileSync(oneCase.path) : Buffer.from(oneCase.bytes, "base64");
    const model = loadModel(new Uint8Array(bytes));
    const rows = oneCase.rows.map((row, k) => {
      try {
        return predictions(model, row, { what: oneCase.what, ...oneCase.asked[k] });
      } catch (error) {
        return { error: error.message };
      }
    });
    return { facts: facts(model), rows };
  } catch (error) {
    return { error: error.message };
  }
}

// JSON has no infinities.
const plain = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
process.stdout.write(JSON.stringify(cases.map(answered), plain));

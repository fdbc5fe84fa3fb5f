// What the page says about one person or two: sentence, figures, curves, tables.

import { drawCurves, drawSample } from "./chart.js";
import { make, makeTable } from "./elements.js";
import { numberText, percentText, pointsText, rangeText, timeText } from "./number_text.js";
import { incidenceCurves, survivalCurve } from "./questions.js";

const CURVE_POINTS = 240;
export const PERSONS = ["A", "B"];

/** Words of the page that depend on the event and the unit. */
export class PageWords {
  constructor({ event, unit, lastTime, latest }) {
    this.event = event || "the event";
    this.free = event ? `free of ${event}` : "event-free";
    this.without = event ? `without ${event}` : "event-free";
    this.unit = unit;
    this.lastTime = lastTime;
    this.latest = latest;
  }

  time(value, digits) {
    return timeText(value, this.unit, digits);
  }

  at(time) {
    return this.time(time, 6);
  }

  /** A median or a limit, which may lie beyond the end of a curve that is held there, far beyond training, or never come. */
  late(value, curveEnd) {
    if (!Number.isFinite(value)) {
      return curveEnd === null ? "never" : `beyond ${this.time(curveEnd)}`;
    }
    return value > this.latest ? `beyond ${this.time(this.latest)}` : this.time(value);
  }

  /** What a predicted time rests on, if that is not training. */
  extrapolated(value) {
    return Number.isFinite(value) && value > this.lastTime
      ? `extrapolated: no one was observed after ${this.time(this.lastTime, 4)}` : "";
  }
}

function given(words, since) {
  return since > 0 ? `, given no event by ${words.at(since)}` : "";
}

/** One sentence for each person, read out when it changes. */
export function summaryText(words, persons, question) {
  const { since, level } = question;
  return persons.map(({ name, answers }) => {
    const place = question.times.indexOf(question.time);
    const who = persons.length > 1 ? `Person ${name}: ` : "";
    const spread = answers.band
      ? ` (members of the model: ${rangeText(answers.band.lower[place], answers.band.upper[place], percentText)})` : "";
    const [low, high] = answers.interval;
    const { curveEnd } = answers;
    const without = curveEnd === null ? "ever have the event, by this model" : `have had the event by ${words.time(curveEnd)}, where the curve ends`;
    const median = Number.isFinite(answers.median)
      ? `Half of such persons have had the event by ${words.time(answers.median)}; ${percentText(level)} of the times lie `
        + `from ${words.late(low, curveEnd)} to ${words.late(high, curveEnd)}.`
      : `Fewer than half of such persons ${without}.`;
    return `${who}${percentText(answers.survival[place])}${spread} of such persons are still ${words.free} after `
      + `${words.at(question.time)}${given(words, since)}. ${median}`;
  }).join(" ");
}

/** The main figures of each person. */
export function figureTiles(words, persons, question) {
  const { level, since, horizon } = question;
  const place = question.times.indexOf(question.time);
  const tile = (label, value, detail) => make("li", {},
    make("span", { class: "label" }, label), make("span", { class: "value" }, value), make("span", { class: "detail" }, detail));
  return persons.map(({ name, mark, answers }) => {
    const { band, medianBand, curveEnd } = answers;
    const [low, high] = answers.interval;
    const spreadTime = (t) => (t > words.latest ? words.late(t, curveEnd) : numberText(t));
    const tiles = [
      tile(`Still ${words.free} after ${words.at(question.time)}`, percentText(answers.survival[place]),
        band ? `spread between members ${rangeText(band.lower[place], band.upper[place], percentText)}` : ""),
      tile("Median time", words.late(answers.median, curveEnd),
        [medianBand ? `spread between members ${rangeText(medianBand.lower, medianBand.upper, spreadTime)}` : "",
          words.extrapolated(answers.median)].filter(Boolean).join("; ")),
      tile(`${percentText(level)} interval of the time`,
        low <= words.latest ? `${numberText(low)} to ${words.late(high, curveEnd)}` : words.late(low, curveEnd),
        words.extrapolated(high) || "where the event of one such person lies"),
      tile(`Mean time ${words.without} within ${words.at(horizon)}`, words.time(answers.restrictedMean),
        since > 0 ? `counted from the start; ${words.time(answers.restrictedMean - Math.min(since, horizon))} of it is still to come` : "restricted mean"),
    ];
    if (answers.cure > 0.001 && curveEnd === null) {
      tiles.push(tile("Never", percentText(answers.cure), "share that the model leaves without any event"));
    }
    return make("div", { class: `figures ${mark}` },
      persons.length > 1 ? make("h3", {}, `Person ${name}`) : null,
      make("ul", { class: "tiles" }, ...tiles));
  });
}

/** Times from 0 to the end of a curve; a bit after each start of a step. */
function curveTimes(last, since) {
  const times = Array.from({ length: CURVE_POINTS + 1 }, (_, k) => (last * k) / CURVE_POINTS);
  return since > 0 && since < last ? [...new Set([...times, since])].sort((a, b) => a - b) : times;
}

function curveEnd(model, question) {
  return Math.max(model.lastTime, ...question.times, question.since);
}

function curveTable(caption, heads, times, columns, words) {
  const every = Math.max(1, Math.floor((times.length - 1) / 24));
  const rows = times.map((t, k) => [words.at(Number(t.toPrecision(4))), ...columns.map((column) => column(k))])
    .filter((_, k) => k % every === 0);
  return make("details", {}, make("summary", {}, "The curve as a table"),
    makeTable("curve", caption, ["Time", ...heads], rows));
}

function legend(entries) {
  return make("ul", { class: "legend" },
    ...entries.map(({ name, mark, place }) => make("li", {}, drawSample(mark, place), name)));
}

function marksOf(words, question) {
  return [
    ...(question.since > 0 ? [{ time: question.since, text: "no event so far" }] : []),
    { time: question.time, text: words.at(question.time) },
  ];
}

/** Survival of the persons over time, with the spread between members. */
export function survivalSection(model, words, persons, question, width) {
  const last = curveEnd(model, question);
  const times = curveTimes(last, question.since);
  const lines = persons.map(({ name, mark, row }, place) => {
    const { survival, band } = survivalCurve(model, row, times, question);
    return { name: `Person ${name}`, mark, place, times, values: survival, band };
  });
  const place = question.times.indexOf(question.time);
  const ends = persons.map(({ name, answers }) => `person ${name} ${percentText(answers.survival[place])}`).join(", ");
  const description = `Probability of being ${words.free} from 0 to ${words.at(last)}. After ${words.at(question.time)}: ${ends}. `
    + "The same numbers are in the table below.";
  const heads = lines.flatMap(({ name, band }) => [
    persons.length > 1 ? name : "Probability", ...(band ? ["Spread between members"] : []),
  ]);
  const columns = lines.flatMap(({ values, band }) => [
    (k) => percentText(values[k]), ...(band ? [(k) => rangeText(band.lower[k], band.upper[k], percentText)] : []),
  ]);
  const title = `Probability of being ${words.free}`;
  const spread = lines[0].band ? `The band is the spread between the ${model.members} members of the model, at ${percentText(question.level)}: how far the curve would move with other training rows. It is not the spread of the times of single persons.` : "";
  const beyond = model.lastTime < last ? ` Shaded: beyond ${words.time(model.lastTime, 4)} no one was observed in training.` : "";
  return [
    drawCurves({
      id: "survival-chart", width, last, unit: words.unit, yLabel: `probability ${words.without}`, title, description, lines,
      marks: marksOf(words, question), falling: true, beyond: model.lastTime,
    }),
    persons.length > 1 ? legend(lines) : null,
    spread || beyond ? make("p", { class: "about" }, spread + beyond) : null,
    curveTable(title, heads, times, columns, words),
  ];
}

/** Probabilities at the times that were chosen. */
export function timesSection(words, persons, question) {
  const both = persons.length > 1;
  const spread = persons[0].answers.band ? ", and the spread between members" : "";
  const heads = ["After", ...persons.map(({ name }) => (both ? `Person ${name}` : `Still ${words.free}`)),
    both ? "A − B, percentage points" : "Event by then"];
  const rows = question.times.map((t, k) => [
    words.at(t),
    ...persons.map(({ answers: { survival, band } }) => [
      percentText(survival[k]),
      band ? make("span", { class: "spread" }, rangeText(band.lower[k], band.upper[k], percentText)) : null,
    ]),
    both ? pointsText(persons[0].answers.survival[k] - persons[1].answers.survival[k])
      : percentText(1 - persons[0].answers.survival[k]),
  ]);
  return [
    make("p", { class: "about" }, `Probability of being still ${words.free}${given(words, question.since)}${spread}.`),
    makeTable("times", `Probabilities at the chosen times${given(words, question.since)}`, heads, rows),
  ];
}

/** Incidence of each cause: curves, and a table. */
export function causesSection(model, words, persons, question, width) {
  const last = curveEnd(model, question);
  const times = curveTimes(last, question.since);
  const nodes = persons.map(({ name, row }) => {
    const curves = incidenceCurves(model, row, times, question);
    const lines = curves.map((values, k) => ({ name: model.causes[k], mark: `cause-${k % 6}`, place: k % 4, times, values, band: null }));
    const who = persons.length > 1 ? ` of person ${name}` : "";
    return make("div", { class: "causes" },
      persons.length > 1 ? make("h3", {}, `Person ${name}`) : null,
      drawCurves({
        id: `incidence-${name}`, width, last, unit: words.unit, yLabel: "probability by then",
        title: `Probability of an event of each cause${who}`,
        description: `Incidence of ${model.causes.join(", ")} from 0 to ${words.at(last)}. The numbers at the chosen times are in the table.`,
        lines, marks: marksOf(words, question), falling: false, beyond: model.lastTime,
      }),
      legend(lines));
  });
  const both = persons.length > 1;
  const heads = ["By", ...persons.flatMap(({ name }) => model.causes.map((cause) => (both ? `${name}: ${cause}` : cause))),
    ...persons.map(({ name }) => (both ? `${name}: no event` : "No event"))];
  const rows = question.times.map((t, k) => [words.at(t),
    ...persons.flatMap(({ answers }) => answers.incidence.map((values) => percentText(values[k]))),
    ...persons.map(({ answers }) => percentText(answers.survival[k]))]);
  return [...nodes, makeTable("by-cause", `Probability by cause${given(words, question.since)}`, heads, rows)];
}

/** What the inputs are that a prediction cannot rely on. */
export function notesSection(titles, persons) {
  const items = persons.flatMap(({ name, answers }) => answers.notes.map(({ column, text }) => make("li", {},
    make("strong", {}, `${persons.length > 1 ? `Person ${name}, ` : ""}${titles.column(column)}: `),
    text)));
  return items.length ? [make("ul", { class: "notes" }, ...items)] : [make("p", {}, "All inputs are within what training had shown.")];
}

/** What each input of a person that is not known could change; `whose` is empty if there is one person. */
export function gapsSection(titles, { now, ranges, joint }, what, whose) {
  if (!ranges.length) {
    return [make("p", {}, `All inputs${whose ? ` of ${whose}` : ""} are known.`)];
  }
  const rows = ranges.map(({ column, low, high }) => [
    titles.column(column),
    `${percentText(low.probability)} with ${titles.value(column, low.value)}`,
    `${percentText(high.probability)} with ${titles.value(column, high.value)}`,
    pointsText(high.probability - low.probability).replace("+", ""),
  ]);
  if (ranges.length > 1) {
    rows.push(["All of them", `${percentText(joint[0])} or less`, `${percentText(joint[1])} or more`,
      pointsText(joint[1] - joint[0]).replace("+", "")]);
  }
  return [
    make("p", {}, `${what}${whose ? `, ${whose}` : ""}: ${percentText(now)} with the gaps filled as in training. Over the values that training had, it could be:`),
    makeTable("gaps", `What inputs${whose ? ` of ${whose}` : ""} that are not known could change`, ["Input", "Lowest", "Highest", "Range, points"], rows),
  ];
}

/** How much each input adds to the difference from the person it is compared with. */
export function contributionsSection(titles, { inputs, values, exact, from, to }, { row, name }, reference, what) {
  const facts = make("p", {}, `${what}: ${percentText(from)} for ${reference.name}, ${percentText(to)} for ${name}. `
    + (inputs.length ? "The inputs that differ add, in percentage points:" : "No input differs."));
  if (!inputs.length) {
    return [facts];
  }
  // Half a percentage point fills a bar at least: what is shown as 0.0 has none to be seen.
  const most = Math.max(...values.map(Math.abs), 0.005);
  const order = values.map((_, k) => k).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
  const rows = order.map((k) => {
    const names = inputs[k];
    const bar = make("span", { class: `bar ${values[k] < 0 ? "less" : "more"}` });
    bar.style.width = `${(50 * Math.abs(values[k])) / most}%`;
    return [
      names.map((name) => titles.column(name)).join(", "),
      names.map((name) => titles.value(name, reference.row[name])).join(", "),
      names.map((name) => titles.value(name, row[name])).join(", "),
      [make("span", {}, pointsText(values[k])), make("span", { class: "bars", "aria-hidden": "true" }, bar)],
    ];
  });
  const headOf = (text) => `${text[0].toUpperCase()}${text.slice(1)}`.replace(/^The t/, "T");
  const how = exact ? "Shapley values over all subsets of the inputs that differ."
    : "Shapley values from 80 orders of the inputs, the same every time: single numbers are approximate, their sum is exact.";
  return [
    facts,
    makeTable("contributions", "Contributions of the inputs", ["Input", headOf(reference.name), headOf(name), "Points"], rows),
    make("p", { class: "about" }, `${how} They say what the model uses, not what would happen if an input were changed.`),
  ];
}

// The page: reads the model and the settings that are in it, and answers whenever an input changes.

import { loadModel } from "../../javascript/model.js";
import { make, refill } from "./elements.js";
import { InputForm, InputTitles } from "./form.js";
import { bytesOfBase64, inflateBytes } from "./inflate.js";
import { readTimes } from "./number_text.js";
import { answersFor, detailValue, gapRanges, gapSteps, typicalRow } from "./questions.js";
import {
  PERSONS, PageWords, causesSection, contributionsSection, figureTiles, gapsSection, notesSection, summaryText,
  survivalSection, timesSection,
} from "./results.js";
import { shapleySteps, shapleyValues } from "./shapley.js";
import { runInSlices } from "./steps.js";

const WAIT = 150;

/** What was typed cannot be used; `control` is the field that it stands in. */
class InputError extends Error {
  constructor(message, control) {
    super(message);
    this.control = control;
  }
}

function byId(id) {
  return document.getElementById(id);
}

/** The model of the page. */
function embeddedModel() {
  const data = byId("model-data");
  return loadModel(inflateBytes(bytesOfBase64(data.textContent), Number(data.dataset.size)));
}

/** Show an error where the results would be, and at the field that it is about: on a phone the results are far below. */
function showError(message, control) {
  const box = byId("error");
  box.hidden = message === "";
  byId("results").hidden = message !== "";
  refill(box, message);
  byId("field-error")?.remove();
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-errormessage");
  }
  if (control) {
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-errormessage", "field-error");
    control.closest(".line").append(make("span", { class: "note", id: "field-error" }, message));
  }
}

/** What gaps leave open for each person, one after the other. */
function* gapStepsOf(persons, model, value) {
  const ranges = [];
  for (const { row } of persons) {
    ranges.push(yield* gapSteps(model, value, row));
  }
  return ranges;
}

class CalculatorPage {
  constructor(settings, model) {
    this.settings = settings;
    this.model = model;
    this.words = new PageWords({
      event: settings.event, unit: settings.unit ?? model.unit, lastTime: model.lastTime, latest: settings.latest,
    });
    this.titles = new InputTitles(settings.labels);
    this.form = new InputForm(model, this.titles, byId("inputs"));
    this.typical = typicalRow(model);
    this.timer = 0;
    this.run = 0;
    this.prepareQuestions();
    this.listen();
    this.form.set(0, this.typical);
    this.form.set(1, this.typical);
    this.update();
  }

  get comparing() {
    return byId("compare").checked;
  }

  prepareQuestions() {
    const { settings, model, words } = this;
    byId("times").value = settings.times.map((t) => String(t)).join(", ");
    byId("horizon").value = String(settings.horizon);
    byId("since").value = "0";
    for (const node of document.querySelectorAll(".time-unit")) {
      refill(node, words.unit ? ` (${words.unit})` : "");
    }
    for (const node of document.querySelectorAll(".event-words")) {
      refill(node, words.free);
    }
    this.fillDetailTimes(settings.times, settings.main);
    const targets = [`still ${words.free}`, ...(model.causes ?? [])];
    refill(byId("target"), ...targets.map((name, k) => make("option", { value: k }, name)));
    byId("target-line").hidden = model.causes === null;
    byId("causes-section").hidden = model.causes === null;
    byId("digest").textContent = model.digest;
  }

  /** The times to choose one from, in the list of those that are shown. */
  fillDetailTimes(times, chosen) {
    const select = byId("main-time");
    const before = chosen ?? Number(select.value);
    refill(select, ...times.map((t) => make("option", { value: t }, this.words.at(t))));
    select.value = String(times.includes(before) ? before : times[Math.floor(times.length / 2)]);
  }

  listen() {
    const later = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.update(), WAIT);
    };
    byId("calculator").addEventListener("input", later);
    byId("calculator").addEventListener("submit", (event) => event.preventDefault());
    byId("compare").addEventListener("change", () => {
      document.body.classList.toggle("comparing", this.comparing);
      this.form.nameFirst(this.comparing);
      if (this.comparing) {
        this.form.set(1, this.form.row(0));
      }
      this.update();
    });
    byId("typical").addEventListener("click", () => this.fill(this.typical));
    byId("clear").addEventListener("click", () => this.fill(this.emptyRow()));
    byId("print").addEventListener("click", () => window.print());
    let width = 0;
    new ResizeObserver(() => {
      const now = byId("results").clientWidth;
      // A phone that only scrolls changes heights, not widths.
      if (Math.abs(now - width) > 8) {
        width = now;
        later();
      }
    }).observe(byId("results"));
  }

  /** A row without any value except those of strata, which have none that stands for the others. */
  emptyRow() {
    const strata = this.model.columns.filter((column) => column.kind === "stratum");
    return Object.fromEntries(strata.map((column) => [column.name, this.typical[column.name]]));
  }

  fill(row) {
    this.form.set(0, row);
    if (this.comparing) {
      this.form.set(1, row);
    }
    this.update();
  }

  /** What is asked beside the inputs; throws an Error that says which field is wrong. */
  question() {
    const { latest } = this.settings;
    const checkLatest = (value, text, control) => {
      if (value > latest) {
        throw new InputError(`${text} must be at most ${this.words.at(latest)}: no one was observed after `
          + `${this.words.time(this.model.lastTime, 4)}.`, control);
      }
    };
    const times = readTimes(byId("times").value);
    if (times === null) {
      throw new InputError(
        "Times must be up to 12 positive numbers, separated by commas, such as 12, 36, 60.", byId("times"),
      );
    }
    checkLatest(times[times.length - 1], "Times", byId("times"));
    const number = (id, text) => {
      const control = byId(id);
      const value = control.validity.badInput ? NaN : Number(control.value);
      if (!(Number.isFinite(value) && value >= 0)) {
        throw new InputError(`${text} must be a number from 0 on.`, control);
      }
      checkLatest(value, text, control);
      return value;
    };
    const since = number("since", "The time without event so far");
    const horizon = number("horizon", "The end of the restricted mean") || this.settings.horizon;
    this.fillDetailTimes(times);
    const target = Number(byId("target").value || 0);
    return {
      times, since, horizon,
      time: Number(byId("main-time").value),
      level: Number(byId("level").value),
      cause: target === 0 ? null : this.model.causes[target - 1],
    };
  }

  /** The persons that are looked at, with everything that is said of them. */
  persons(question) {
    const wanted = this.comparing ? [0, 1] : [0];
    return wanted.map((person) => {
      const wrong = this.form.wrong(person);
      if (wrong) {
        throw new InputError(`${wrong.title} is not a number.`, wrong.control);
      }
      const row = this.form.row(person);
      return { name: PERSONS[person], mark: `person-${person}`, row, answers: answersFor(this.model, row, question) };
    });
  }

  update() {
    clearTimeout(this.timer);
    this.run += 1;
    try {
      const question = this.question();
      const persons = this.persons(question);
      showError("");
      this.render(persons, question);
      this.explain(persons, question, this.run);
    } catch (error) {
      showError(error.message, error.control);
      document.body.dataset.state = "error";
    }
  }

  render(persons, question) {
    const { model, words, titles } = this;
    const width = Math.max(300, byId("survival").clientWidth || 640);
    refill(byId("summary"), summaryText(words, persons, question));
    refill(byId("figures"), ...figureTiles(words, persons, question));
    refill(byId("survival"), ...survivalSection(model, words, persons, question, width));
    refill(byId("at-times"), ...timesSection(words, persons, question));
    if (model.causes !== null) {
      refill(byId("causes"), ...causesSection(model, words, persons, question, width));
    }
    refill(byId("notes"), ...notesSection(titles, persons));
    const remarks = new Map();
    for (const { name, answers } of persons) {
      for (const { column, kind } of answers.notes.filter((note) => note.kind !== "gap")) {
        const who = persons.length > 1 ? `person ${name}: ` : "";
        const text = `${who}${kind === "outside" ? "outside the range of training" : "not known from training"}`;
        remarks.set(column, remarks.has(column) ? `${remarks.get(column)}; ${text}` : text);
      }
    }
    this.form.remark(remarks);
    const same = this.form.lines.filter(({ column }) => persons[0].row[column.name] === this.typical[column.name]).length;
    const all = this.form.lines.length;
    refill(byId("typical-note"), same === all ? "All inputs are those of a typical person: enter those of the person."
      : `${same} of ${all} inputs are those of a typical person.`);
  }

  /** Gaps and contributions, which take many predictions: in slices of time, and ended when an input changes. */
  explain(persons, question, run) {
    const { model, titles, words } = this;
    document.body.dataset.state = "working";
    const value = detailValue(model, question);
    const target = question.cause === null ? `Still ${words.free} after` : `Probability of ${question.cause} by`;
    const what = `${target} ${words.at(question.time)}`;
    const { row } = persons[0];
    const person = { row, name: persons.length > 1 ? "person A" : "this person" };
    const reference = persons.length > 1 ? { row: persons[1].row, name: "person B" } : { row: this.typical, name: "the typical person" };
    const wanted = () => run === this.run;
    const fail = (id, text) => (error) => refill(byId(id), make("p", {}, `${text}: ${error.message}`));
    const ready = () => { document.body.dataset.state = "ready"; };
    const contribute = () => runInSlices(shapleySteps(model, value, row, reference.row), {
      wanted,
      done: (values) => {
        refill(byId("contributions"), ...contributionsSection(titles, values, person, reference, what));
        ready();
      },
      failed: (error) => {
        fail("contributions", "There are no contributions")(error);
        ready();
      },
    });
    runInSlices(gapStepsOf(persons, model, value), {
      wanted,
      done: (ranges) => {
        refill(byId("gaps"), ...persons.flatMap(
          ({ name }, place) => gapsSection(titles, ranges[place], what, persons.length > 1 ? `person ${name}` : ""),
        ));
        contribute();
      },
      failed: (error) => {
        fail("gaps", "Ranges cannot be computed")(error);
        contribute();
      },
    });
  }
}

/** Build the page; what a program may ask of it is in window.aldsurv. */
function startPage() {
  const settings = JSON.parse(byId("settings-data").textContent);
  try {
    const model = embeddedModel();
    window.aldsurv = {
      model,
      answers: (row, question) => answersFor(model, row, question),
      gaps: (row, question) => gapRanges(model, detailValue(model, question), row),
      contributions: (row, reference, question) => shapleyValues(model, detailValue(model, question), row, reference),
      typical: () => typicalRow(model),
    };
    window.aldsurv.page = new CalculatorPage(settings, model);
  } catch (error) {
    showError(`This page cannot compute: ${error.message}`);
    document.body.dataset.state = "error";
    throw error;
  }
}

startPage();

// The form: one line for each input of the model, with a field for each person, and what is asked.

import { breakable, make, refill } from "./elements.js";
import { numberText } from "./number_text.js";

const UNKNOWN = "";

/** How a value is written in a file of labels: 1.0 as 1, True as true. */
export function writtenValue(value) {
  return String(value).trim();
}

/** Titles of columns and values, out of the labels that the page was made with. */
export class InputTitles {
  constructor(labels) {
    const entries = Object.entries(labels).map(
      ([name, entry]) => [name, { ...entry, levels: new Map(Object.entries(entry.levels)) }],
    );
    this.labels = new Map(entries);
  }

  entry(name) {
    return this.labels.get(name) ?? { label: "", unit: "", levels: new Map() };
  }

  column(name) {
    return this.entry(name).label || name;
  }

  unit(name) {
    return this.entry(name).unit;
  }

  /** A value as it is shown: by its label, a number with its unit, a gap as such. */
  value(name, value) {
    if (value === null || value === undefined) {
      return "not known";
    }
    const { levels } = this.entry(name);
    const written = writtenValue(value);
    if (levels.has(written)) {
      return levels.get(written);
    }
    if (typeof value === "number") {
      return this.unit(name) ? `${numberText(value, 6)} ${this.unit(name)}` : numberText(value, 6);
    }
    return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  }
}

/** Values to choose from: the levels of a column, or the values of a column of numbers that all have labels. */
function choicesOf(column, titles) {
  if (column.kind !== "number") {
    return column.levels.map((level) => level.value);
  }
  const labelled = [...titles.entry(column.name).levels.keys()].map(Number);
  const whole = labelled.length > 1 && labelled.every(Number.isFinite);
  const all = whole && labelled.includes(column.low) && labelled.includes(column.high)
    && labelled.includes(column.median);
  return all ? labelled.sort((a, b) => a - b) : null;
}

/** The field of one input of one person. */
class InputField {
  constructor(column, choices, titles, id) {
    this.column = column;
    this.choices = choices;
    this.control = choices === null
      ? make("input", { type: "number", step: "any", inputmode: "decimal", id, autocomplete: "off" })
      : make("select", { id },
        ...this.unknownOption(),
        ...choices.map((value, place) => make("option", { value: place }, titles.value(column.name, value))));
  }

  /** A stratum must be known: each has a baseline of its own. */
  unknownOption() {
    return this.column.kind === "stratum" ? [] : [make("option", { value: UNKNOWN }, "not known")];
  }

  set(value) {
    if (this.choices === null) {
      this.control.value = value === null || value === undefined ? "" : String(value);
      return;
    }
    const place = value === null || value === undefined ? -1 : this.choices.indexOf(value);
    this.control.value = place < 0 ? UNKNOWN : String(place);
  }

  /** The value; null for a gap, NaN for what is not a number. */
  get() {
    if (this.choices === null) {
      if (this.control.validity && this.control.validity.badInput) {
        return NaN;
      }
      const text = this.control.value.trim();
      return text === "" ? null : Number(text);
    }
    return this.control.value === UNKNOWN ? null : this.choices[Number(this.control.value)];
  }
}

/** The inputs of both persons. */
export class InputForm {
  constructor(model, titles, parent) {
    this.lines = model.columns.filter((column) => column.kind !== "left out").map((column, place) => {
      const choices = choicesOf(column, titles);
      const fields = ["a", "b"].map((person) => new InputField(column, choices, titles, `input-${place}-${person}`));
      const hint = make("span", { class: "hint", id: `hint-${place}` }, this.hintText(column, choices, titles));
      const note = make("span", { class: "note", id: `note-${place}`, hidden: true });
      const unit = titles.unit(column.name);
      fields.forEach((field, person) => {
        field.control.setAttribute("aria-describedby", `hint-${place} note-${place}`);
        if (person) {
          field.control.setAttribute("aria-label", `${titles.column(column.name)}, person B`);
        }
      });
      const label = make("label", { for: fields[0].control.id },
        ...breakable(titles.column(column.name)), unit ? make("span", { class: "unit" }, ` (${unit})`) : "");
      const second = make("div", { class: "second" }, fields[1].control);
      parent.append(make("div", { class: "line" },
        label, make("div", { class: "pair" }, fields[0].control, second), hint, note));
      return { column, title: titles.column(column.name), fields, note };
    });
  }

  hintText(column, choices, titles) {
    if (column.kind === "stratum") {
      return "each has a curve of its own";
    }
    if (choices !== null) {
      return "";
    }
    const text = (value) => numberText(value, 4);
    const { low, high, median } = column;
    return `training: ${text(low)} to ${text(high)}, median ${text(median)}`;
  }

  /** Say in the names of the fields whose they are, once there are two persons. */
  nameFirst(several) {
    for (const { title, fields } of this.lines) {
      if (several) {
        fields[0].control.setAttribute("aria-label", `${title}, person A`);
      } else {
        fields[0].control.removeAttribute("aria-label");
      }
    }
  }

  set(person, row) {
    this.lines.forEach(({ column, fields }) => fields[person].set(row[column.name]));
  }

  /** The row of a person, with NaN where something is not a number. */
  row(person) {
    const row = {};
    for (const { column, fields } of this.lines) {
      row[column.name] = fields[person].get();
    }
    return row;
  }

  /** The title and the field of the first input that holds something that is not a number, if there is one. */
  wrong(person) {
    const line = this.lines.find(({ fields }) => Number.isNaN(fields[person].get()));
    return line && { title: line.title, control: line.fields[person].control };
  }

  /** Show a remark at each of some inputs: texts by name. */
  remark(texts) {
    for (const { column, note } of this.lines) {
      const text = texts.get(column.name);
      note.hidden = text === undefined;
      refill(note, text ?? "");
    }
  }
}

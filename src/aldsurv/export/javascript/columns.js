// Columns of a row turned into numbers, by what was learned from the training rows.

import { requireEntry } from "./file_entries.js";
import { clip } from "./numerics/numerics.js";

const LARGEST_SINGLE = 3.4028234663852886e38;
// Numbers from here on have all digits in float32, which must be enough for their distances: the largest number is at
// most so many times their range.
const LEAST_SINGLE = 1e-30;
const MOST_DISTANT = 1024;

/** A value as messages and names show it: short, and whole numbers without a decimal point. */
export function formatValue(value) {
  let text = String(value);
  if (typeof value === "boolean") {
    text = value ? "True" : "False";
  }
  const letters = Array.from(text);
  return letters.length <= 60 ? text : `${letters.slice(0, 59).join("")}…`;
}

/** A number with at most six significant digits, as people write it. */
export function plainNumber(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : String(value);
}

/** The value of a column in a row; null if the row has no such column. */
export function columnValue(row, name) {
  // A column may be called as what every object has, such as "constructor".
  return Object.prototype.hasOwnProperty.call(row, name) ? row[name] : null;
}

/** Whether there is no value. */
export function isGap(value) {
  return value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));
}

/** A level by which equal values are found: true is 1, as in Python; text is only text. */
export function levelKey(value) {
  return typeof value === "string" ? `text ${value}` : `number ${Number(value)}`;
}

/** An Error about the value of a column. */
export function columnError(name, problem, advice) {
  return new Error(`column "${name}": ${problem}. ${advice}`);
}

/** A value that is plain: text, a finite number or a bool; null for a gap. */
export function plainValue(value, name) {
  if (isGap(value)) {
    return null;
  }
  if (!["string", "number", "boolean"].includes(typeof value)) {
    throw columnError(name, `covariates must be numbers or text, but this is of type ${typeof value}`, "Give one plain value.");
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw columnError(name, `covariates must be finite, but this is ${value}`, "Leave it empty where it is not known.");
  }
  return value;
}

/** Whether values between the lowest and the highest keep their digits in float32. */
function fitsSingle(low, high) {
  const largest = Math.max(Math.abs(low), Math.abs(high));
  return LEAST_SINGLE < largest && largest < LARGEST_SINGLE && largest / 2 <= MOST_DISTANT * (high / 2 - low / 2);
}

/** A column of numbers: (value - mean) / scale, gaps filled with the median, and perhaps pieces between knots. */
export class NumberColumn {
  constructor(entry, where) {
    const numbers = ["mean", "scale", "median", "low", "high"];
    for (const name of numbers) {
      requireEntry(Number.isFinite(entry[name]), `${where}: ${name} must be a finite number`);
      this[name] = entry[name];
    }
    requireEntry(this.scale > 0, `${where}: scale must be positive`);
    const ordered = this.low < this.high && this.low <= this.median && this.median <= this.high;
    requireEntry(ordered, `${where}: low < high with the median between them is required`);
    requireEntry(typeof entry.gaps === "boolean", `${where}: gaps must be true or false`);
    this.name = entry.name;
    this.gaps = entry.gaps;
    this.knots = entry.knots === undefined ? [] : entry.knots;
    requireEntry(Array.isArray(this.knots) && this.knots.every(Number.isFinite), `${where}: knots must be numbers`);
    const rising = this.knots.every((knot, k) => k === 0 || knot / 2 - this.knots[k - 1] / 2 > 0);
    requireEntry(rising, `${where}: knots must increase`);
  }

  get width() {
    return 1 + (this.gaps ? 1 : 0) + Math.max(this.knots.length - 1, 0);
  }

  /** The value as a number, null for a gap; text and infinite values are refused. */
  read(value) {
    const plain = plainValue(value, this.name);
    if (typeof plain === "string") {
      const problem = `the column held numbers in training, but now holds the text "${formatValue(plain)}"`;
      throw columnError(this.name, problem, "Give a number, or leave it empty.");
    }
    return plain === null ? null : Number(plain);
  }

  /** The numbers of a value: in float32 for networks, or exactly. */
  numbers(value, { exact, bound }) {
    const given = this.read(value);
    const rounded = exact ? (x) => x : Math.fround;
    let x = this.median;
    if (given !== null) {
      x = !exact && fitsSingle(this.low, this.high) ? Math.fround(given) : given;
    }
    const limit = bound === null ? LARGEST_SINGLE : Math.min(bound, LARGEST_SINGLE);
    const numbers = [rounded(clip((x - this.mean) / this.scale, -limit, limit))];
    if (this.gaps) {
      numbers.push(given === null ? 1 : 0);
    }
    for (let k = 0; k + 1 < this.knots.length; k += 1) {
      const [start, end] = [this.knots[k], this.knots[k + 1]];
      // Halves, for the difference of two far ends may be beyond what a float can hold.
      numbers.push(rounded(clip((x / 2 - start / 2) / (end / 2 - start / 2), 0, 1)));
    }
    return numbers;
  }

  /** Whether a value lies below the smallest or above the largest of training; a gap does not. */
  outside(value) {
    const given = this.read(value);
    return given !== null && (given < this.low || given > this.high);
  }

  /** What is unusual about a value, or null. */
  note(value) {
    const given = this.read(value);
    if (given === null) {
      const rule = `filled with ${plainNumber(this.median)}${this.gaps ? ", with an indicator" : ""}`;
      return { column: this.name, kind: "gap", text: `no value: ${rule}` };
    }
    if (this.outside(value)) {
      const range = `${plainNumber(this.low)} to ${plainNumber(this.high)}`;
      return { column: this.name, kind: "outside", text: `${plainNumber(given)} is outside of the training range ${range}` };
    }
    return null;
  }

  describe() {
    const { name, low, high, median, gaps } = this;
    const whole = [low, high, median].every(Number.isInteger);
    return { name, kind: "number", low, high, median, levels: [], gaps, whole };
  }
}

/** A column of categories: one 0/1 number per level, for levels too rare to keep, and for gaps seen in training. */
export class LevelsColumn {
  constructor(entry, where) {
    const pairs = entry.levels;
    requireEntry(Array.isArray(pairs) && pairs.length > 0, `${where}: levels must be a list that is not empty`);
    const types = { text: "string", bool: "boolean", integer: "number", number: "number" };
    this.levels = pairs.map((pair) => {
      const sound = Array.isArray(pair) && pair.length === 2 && typeof pair[1] === types[pair[0]];
      requireEntry(sound, `${where}: a level must be a pair of a type and a value`);
      return pair[1];
    });
    for (const name of ["gaps", "other"]) {
      requireEntry(typeof entry[name] === "boolean", `${where}: ${name} must be true or false`);
      this[name] = entry[name];
    }
    this.name = entry.name;
    this.codes = new Map(this.levels.map((level, code) => [levelKey(level), code]));
    requireEntry(this.codes.size === this.levels.length, `${where}: levels must differ`);
    this.texts = new Set(this.levels.map((level) => typeof level === "string"));
  }

  get width() {
    return this.levels.length + (this.other ? 1 : 0) + (this.gaps ? 1 : 0);
  }

  /** The number of the level of a value: "gap" and "unknown" if none is. */
  code(value) {
    const level = plainValue(value, this.name);
    if (level === null) {
      return this.gaps ? this.levels.length + (this.other ? 1 : 0) : "gap";
    }
    if (this.texts.size === 1 && !this.texts.has(typeof level === "string")) {
      const [before, now] = this.texts.has(true) ? ["text", "number"] : ["numbers", "text"];
      const problem = `the column held ${before} in training, but now holds the ${now} ${formatValue(level)}`;
      throw columnError(this.name, problem, "Give the column as it was in training.");
    }
    const code = this.codes.get(levelKey(level));
    if (code !== undefined) {
      return code;
    }
    return this.other ? this.levels.length : "unknown";
  }

  /** A 1 where the level is; all 0 with no known level. */
  numbers(value) {
    const numbers = new Array(this.width).fill(0);
    const code = this.code(value);
    if (typeof code === "number") {
      numbers[code] = 1;
    }
    return numbers;
  }

  /** Whether training had not shown the level; where the rest is one level, none is. */
  outside(value) {
    return this.code(value) === "unknown";
  }

  note(value) {
    const code = this.code(value);
    if (isGap(value)) {
      const rule = this.gaps ? "a level of its own" : "none of the levels";
      return { column: this.name, kind: "gap", text: `no value: ${rule}` };
    }
    if (code === "unknown") {
      const text = `${formatValue(value)} is a level that training had not shown, read as none of the levels`;
      return { column: this.name, kind: "unknown level", text };
    }
    return null;
  }

  describe() {
    const levels = this.levels.map((level) => ({ value: level, label: formatValue(level) }));
    const { name, gaps } = this;
    return { name, kind: "levels", low: null, high: null, median: null, levels, gaps, whole: false };
  }
}

/** A column that is not used, whatever it holds. */
export class LeftOutColumn {
  constructor(entry) {
    this.name = entry.name;
    this.reason = entry.reason;
    this.width = 0;
  }

  numbers() {
    return [];
  }

  outside() {
    return false;
  }

  note() {
    return null;
  }

  describe() {
    const { name } = this;
    return { name, kind: "left out", low: null, high: null, median: null, levels: [], gaps: false, whole: false };
  }
}

const COLUMN_KINDS = { number: NumberColumn, levels: LevelsColumn, "left out": LeftOutColumn };

/** What was learned of a table of covariates: one plan per column. */
export class Features {
  constructor(plans, named, bound) {
    this.plans = plans;
    this.named = named;
    this.bound = bound;
  }

  /** How many numbers the columns become. */
  get width() {
    return this.plans.reduce((sum, plan) => sum + plan.width, 0);
  }

  /**
   * The numbers for a row: in float32 for networks and trees, or exactly for models with coefficients.
   * Columns named in `without` are not read, and 0.
   */
  inputs(row, { exact = false, without = [] } = {}) {
    const numbers = [];
    for (const plan of this.plans) {
      const unread = without.includes(plan.name);
      const own = unread ? new Array(plan.width).fill(0) : plan.numbers(columnValue(row, plan.name), { exact, bound: this.bound });
      own.forEach((number) => numbers.push(number));
    }
    return Float64Array.from(numbers);
  }

  /** Names of the columns whose value lies beyond those of training. */
  outside(row) {
    return this.plans.filter((plan) => plan.outside(columnValue(row, plan.name))).map((plan) => plan.name);
  }

  /** What is unusual about the values of a row. */
  notes(row) {
    return this.plans.map((plan) => plan.note(columnValue(row, plan.name))).filter((note) => note !== null);
  }

  /** What a page must know of each column. */
  describe() {
    return this.plans.map((plan) => plan.describe());
  }
}

/** Read what was learned of the columns from the entry of a file. */
export function readFeatures(entry) {
  requireEntry(entry !== null && typeof entry === "object", "features must be an object");
  const entries = entry.columns;
  requireEntry(Array.isArray(entries) && entries.length > 0, "columns must be a list that is not empty");
  requireEntry(entry.clip === null || entry.clip > 0, "clip must be positive");
  const plans = entries.map((column, j) => {
    const where = `features: column ${j}`;
    const kind = column !== null && typeof column === "object" ? COLUMN_KINDS[column.kind] : undefined;
    requireEntry(kind !== undefined, `${where} must have a kind out of ${Object.keys(COLUMN_KINDS).join(", ")}`);
    requireEntry(typeof column.name === "string", `${where}: name must be text`);
    return new kind(column, where);
  });
  requireEntry(new Set(plans.map((plan) => plan.name)).size === plans.length, "names of columns must differ");
  return new Features(plans, entry.named, entry.clip);
}

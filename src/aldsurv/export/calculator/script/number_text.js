// Numbers as people read them.

const MINUS = "\u2212";
const NO_BREAK = "\u00a0";

/** A number with at most so many significant digits, without exponent where that is readable. */
export function numberText(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return "–";
  }
  if (!Number.isFinite(value)) {
    return value > 0 ? "∞" : `${MINUS}∞`;
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-5 || size >= 1e12)) {
    return String(Number(value.toPrecision(digits))).replaceAll("-", MINUS);
  }
  const text = size >= 10 ** digits ? String(Math.round(value)) : String(Number(value.toPrecision(digits)));
  return text.replace("-", MINUS);
}

/** A share in percent: a decimal only below 10 and above 99. */
export function percentText(share) {
  if (share === null || Number.isNaN(share)) {
    return "–";
  }
  const value = 100 * share;
  if (value > 0 && value < 0.1) {
    return `below${NO_BREAK}0.1${NO_BREAK}%`;
  }
  if (value > 99.9 && value < 100 - 1e-9) {
    return `above${NO_BREAK}99.9${NO_BREAK}%`;
  }
  const decimals = value < 9.95 || (value > 99 && value < 100 - 1e-9) ? 1 : 0;
  return `${Number(value.toFixed(decimals))}${NO_BREAK}%`;
}

/** A difference of shares in percentage points, with its sign. */
export function pointsText(difference) {
  const rounded = Number((100 * difference).toFixed(1));
  if (rounded === 0) {
    return "0.0";
  }
  return `${rounded > 0 ? "+" : MINUS}${Math.abs(rounded).toFixed(1)}`;
}

/** A time with its unit. */
export function timeText(value, unit, digits = 3) {
  const text = numberText(value, digits);
  return unit ? `${text}${NO_BREAK}${unit}` : text;
}

/** From one number to another. */
export function rangeText(low, high, text) {
  return `${text(low)} to ${text(high)}`;
}

/** Numbers typed with commas, semicolons or spaces between them; null if one is not a number above 0. */
export function readTimes(text) {
  const words = text.split(/[;,\s]+/).filter((word) => word !== "");
  const numbers = [...new Set(words.map(Number))];
  const right = numbers.length > 0 && numbers.length <= 12 && numbers.every((t) => Number.isFinite(t) && t > 0);
  return right ? numbers.sort((a, b) => a - b) : null;
}

/** Round steps of an axis from 0 to a number: 1, 2 or 5 times a power of ten; of months also 12 and its multiples. */
export function axisSteps(most, count, unit) {
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const bases = [1, 2, 5, 10].map((step) => step * power);
  const steps = /^months?$/i.test(unit) && raw > 4 && raw < 240 ? [6, 12, 24, 36, 60, 120, 240] : bases;
  const step = steps.find((each) => each >= raw) ?? bases[3];
  const ticks = [];
  for (let k = 0; k * step <= most * (1 + 1e-9); k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

// Curves over time as a drawing of its own: axes with units, bands, and a description for readers who do not see it.

import { makeSvg } from "./elements.js";
import { axisSteps, numberText } from "./number_text.js";

const LEVELS = [0, 0.25, 0.5, 0.75, 1];

function pathOf(points) {
  return points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/**
 * Draw curves of probabilities from 0 to `last`.
 *
 * lines: [{name, mark, place, times, values, band}], `mark` a class and `place` which dashes it has; marks: [{time,
 * text}] are upright lines, named where the curves are not, at the bottom if they are `falling`; `beyond` is the time after
 * which no one was observed.
 */
export function drawCurves({ width, last, unit, yLabel, title, description, lines, marks, falling, beyond, id }) {
  const height = Math.round(Math.max(230, Math.min(400, width * 0.55)));
  const frame = { left: 46, right: width - 14, top: 16, bottom: height - 46 };
  const x = (t) => frame.left + ((frame.right - frame.left) * t) / last;
  const y = (p) => frame.bottom - (frame.bottom - frame.top) * Math.min(Math.max(p, 0), 1);
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": `${id}-title ${id}-desc`, class: "chart",
  },
  makeSvg("title", { id: `${id}-title` }, title),
  makeSvg("desc", { id: `${id}-desc` }, description));
  if (beyond !== null && beyond < last) {
    svg.append(makeSvg("rect", {
      x: x(beyond), y: frame.top, width: frame.right - x(beyond), height: frame.bottom - frame.top, class: "beyond",
    }));
  }
  for (const level of LEVELS) {
    svg.append(
      makeSvg("line", { x1: frame.left, x2: frame.right, y1: y(level), y2: y(level), class: level ? "grid" : "axis" }),
      makeSvg("text", { x: frame.left - 7, y: y(level) + 4, class: "end" }, `${100 * level}${width > 420 ? " %" : ""}`),
    );
  }
  const ticks = axisSteps(last, Math.max(3, Math.floor(width / 90)), unit);
  for (const tick of ticks) {
    svg.append(
      makeSvg("line", { x1: x(tick), x2: x(tick), y1: frame.bottom, y2: frame.bottom + 5, class: "axis" }),
      makeSvg("text", { x: x(tick), y: frame.bottom + 19, class: "middle" }, numberText(tick, 6)),
    );
  }
  svg.append(
    makeSvg("text", { x: (frame.left + frame.right) / 2, y: height - 8, class: "middle label" }, unit ? `time (${unit})` : "time"),
    makeSvg("text", { x: frame.left, y: 11, class: "label" }, width > 420 ? yLabel : `${yLabel}, %`),
  );
  const shown = marks.filter((mark) => mark.time > 0 && mark.time <= last);
  for (const { time } of shown) {
    svg.append(makeSvg("line", { x1: x(time), x2: x(time), y1: frame.top, y2: frame.bottom, class: "mark" }));
  }
  for (const { mark, times, band } of lines) {
    if (band) {
      const upper = times.map((t, k) => [x(t), y(band.upper[k])]);
      const lower = times.map((t, k) => [x(t), y(band.lower[k])]);
      svg.append(makeSvg("path", { d: `${pathOf([...upper, ...lower.reverse()])}Z`, class: `band ${mark}` }));
    }
  }
  for (const { mark, place, times, values } of lines) {
    const d = pathOf(times.map((t, k) => [x(t), y(values[k])]));
    svg.append(makeSvg("path", { d, class: `curve ${mark} dash-${place}` }));
  }
  shown.forEach(({ time, text }, k) => {
    const right = x(time) > frame.right - 8 * text.length;
    const height = falling ? frame.bottom - 8 - 17 * k : frame.top + 13 + 17 * k;
    svg.append(makeSvg("text", { x: x(time) + (right ? -5 : 5), y: height, class: right ? "end label" : "label" }, text));
  });
  return svg;
}

/** The short line beside a name in the legend. */
export function drawSample(mark, place) {
  return makeSvg("svg", { viewBox: "0 0 34 10", class: "sample", "aria-hidden": "true" },
    makeSvg("path", { d: "M1 5L33 5", class: `curve ${mark} dash-${place}` }));
}

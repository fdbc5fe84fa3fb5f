// How far the members of an ensemble differ: bands around their joint prediction.

import { studentQuantile } from "./numerics/numerics.js";

/** Limits of the survival at times around that of all members together. */
export function memberSurvivalBand(members, joint, times, level, stretch) {
  checkLevel(level);
  const lower = [];
  const upper = [];
  for (const time of times) {
    // On this scale curves are never outside of 0 … 1, and spread about as far early as late.
    const [low, high] = studentLimits(
      members.map((member) => Math.log(-member.logSurvival(time))),
      level,
      stretch,
    );
    const survival = joint.survival(time);
    lower.push(Math.min(Math.exp(-Math.exp(high)), survival));
    upper.push(Math.max(Math.exp(-Math.exp(low)), survival));
  }
  return { lower, upper };
}

/** Limits of one time, of each member and of all together, that never exceeds `most`. */
export function memberTimeBand(values, joint, level, stretch, most) {
  checkLevel(level);
  let low = Math.min(...values);
  let high = Math.max(...values);
  // A time that is not positive has no logarithm, an infinite one no distance: the range remains.
  if (values.every((value) => value > 0 && Number.isFinite(value))) {
    [low, high] = studentLimits(values.map(Math.log), level, stretch).map(Math.exp);
  }
  return { lower: Math.min(low, most, joint), upper: Math.max(Math.min(high, most), joint) };
}

/** Student's limits around the mean of the members; their range where one of them is infinite. */
function studentLimits(values, level, stretch) {
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  if (!Number.isFinite(lowest) || !Number.isFinite(highest)) {
    return [lowest, highest];
  }
  const count = values.length;
  const center = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (count - 1);
  const width = studentQuantile((1 + level) / 2, count - 1) * stretch * Math.sqrt(variance);
  return [center - width, center + width];
}

function checkLevel(level) {
  if (!(level > 0 && level < 1)) {
    throw new Error(`level must lie between 0 and 1, but is ${level}.`);
  }
}

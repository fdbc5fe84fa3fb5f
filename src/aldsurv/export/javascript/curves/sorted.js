// Searching in sorted numbers, and sums along them.

/** How many of the ascending numbers lie below a value; `inclusive` counts equal ones too. */
export function countBelow(ascending, value, inclusive) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const centre = (low + high) >> 1;
    const below = inclusive ? ascending[centre] <= value : ascending[centre] < value;
    if (below) {
      low = centre + 1;
    } else {
      high = centre;
    }
  }
  return low;
}

/** The smallest number from 1 to `size` from which on a condition holds; `size` + 1 if it never does. */
export function firstTrue(holds, size) {
  let low = 1;
  let high = size + 1;
  while (low < high) {
    const centre = (low + high) >> 1;
    if (holds(centre)) {
      high = centre;
    } else {
      low = centre + 1;
    }
  }
  return low;
}

/** Sums of the first 0, 1, 2, … numbers. */
export function sumsFromStart(values) {
  const sums = new Float64Array(values.length + 1);
  for (let k = 0; k < values.length; k += 1) {
    sums[k + 1] = sums[k] + values[k];
  }
  return sums;
}

/** Sums of the numbers from each place to the end, and 0 behind the last. */
export function sumsToEnd(values) {
  const sums = new Float64Array(values.length + 1);
  for (let k = values.length - 1; k >= 0; k -= 1) {
    sums[k] = sums[k + 1] + values[k];
  }
  return sums;
}

/** The sum of numbers. */
export function sumOf(values) {
  let total = 0;
  for (const value of values) {
    total += value;
  }
  return total;
}

/** The place of the largest number, the first of several. */
export function placeOfLargest(values) {
  let best = 0;
  for (let k = 1; k < values.length; k += 1) {
    if (values[k] > values[best]) {
      best = k;
    }
  }
  return best;
}

/** Numbers with another one before them. */
export function withFirst(first, values) {
  const joined = new Float64Array(values.length + 1);
  joined[0] = first;
  joined.set(values, 1);
  return joined;
}

// Entries of a model file: checks of untrusted input, and arrays by name.

/** Throw an Error with the complaint unless it holds. */
export function requireEntry(holds, complaint) {
  if (!holds) {
    throw new Error(`the file cannot be used: ${complaint}.`);
  }
}

/** The arrays whose names begin with a prefix, without it. */
export function arraysUnder(arrays, prefix) {
  const found = Object.create(null);
  for (const name of Object.keys(arrays)) {
    if (name.startsWith(prefix)) {
      found[name.slice(prefix.length)] = arrays[name];
    }
  }
  return found;
}

/** The numbers of an array that must be there, finite and of a number of axes (null: any). */
export function finiteNumbers(arrays, name, axes = null) {
  requireEntry(name in arrays, `${name} is missing`);
  const { data, shape } = arrays[name];
  requireEntry(axes === null || shape.length === axes, `${name} must have ${axes} axes`);
  for (const value of data) {
    requireEntry(Number.isFinite(value), `${name} must be finite numbers`);
  }
  return data;
}

/** An array of two axes as a list of its rows. */
export function rowsOf(array) {
  requireEntry(array.shape.length === 2, "an array must have two axes");
  const [count, width] = array.shape;
  return Array.from({ length: count }, (_, row) => array.data.subarray(row * width, (row + 1) * width));
}

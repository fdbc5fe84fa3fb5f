// The table of models: by the name in a file, its title and the function that reads its entries and arrays.

const MODEL_READERS = new Map();

/** Let a reader of (document, arrays) give the estimator of files with this model name. */
export function registerModel(name, reader, title = name) {
  MODEL_READERS.set(name, { reader, title });
}

/** Names of all models that can be read. */
export function modelNames() {
  return [...MODEL_READERS.keys()];
}

/** The title of a model that can be read. */
export function modelTitle(name) {
  return registeredModel(name).title;
}

/** The estimator of entries and arrays of a file, or of a model within another one. */
export function readModel(name, document, arrays) {
  return registeredModel(name).reader(document, arrays);
}

function registeredModel(name) {
  const found = MODEL_READERS.get(name);
  if (found === undefined) {
    throw new Error(`the model "${name}" cannot be read here: known are ${modelNames().join(", ")}.`);
  }
  return found;
}

// Which reader each model has: one line per model.

import { registerModel } from "./models.js";

/** Fill the table of models. */
export function registerModels() {
}

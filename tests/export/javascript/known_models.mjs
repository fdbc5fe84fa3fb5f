// Names and titles of the models that the JavaScript runtime can read.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { runtime } = JSON.parse(readFileSync(0, "utf8"));
await import(pathToFileURL(`${runtime}/model.js`).href);
const { modelNames, modelTitle } = await import(pathToFileURL(`${runtime}/models.js`).href);
process.stdout.write(JSON.stringify(modelNames().map((name) => [name, modelTitle(name)])));

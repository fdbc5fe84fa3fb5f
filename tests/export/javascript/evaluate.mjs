// Evaluates functions of the JavaScript runtime: JSON on stdin, JSON on stdout.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { runtime, file, calls } = JSON.parse(readFileSync(0, "utf8"));
const module = await import(pathToFileURL(`${runtime}/${file}`).href);
const numbers = { Infinity: Infinity, "-Infinity": -Infinity };
const read = (value) => (typeof value === "string" && value in numbers ? numbers[value] : value);
const plain = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);

function answered([name, ...values]) {
  try {
    return module[name](...values.map(read));
  } catch (error) {
    return { error: error.message };
  }
}

process.stdout.write(JSON.stringify(calls.map(answered), plain));

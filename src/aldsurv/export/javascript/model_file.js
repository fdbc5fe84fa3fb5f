// One file for a trained model: a JSON document and named arrays in the safetensors format, data and never code.
// Eight bytes of header length, a JSON header and the raw tensors, all little-endian. The document is a JSON text under
// "aldsurv" in the header's "__metadata__", beside "format", "schema" and "sha256".

import { sha256 } from "./sha256.js";

const SCHEMA = 1;
const MOST_HEADER_BYTES = 10_000_000;
const DTYPES = {
  F64: { bytes: 8, read: (view, at) => view.getFloat64(at, true) },
  F32: { bytes: 4, read: (view, at) => view.getFloat32(at, true) },
  I64: { bytes: 8, read: (view, at) => Number(view.getBigInt64(at, true)) },
  I32: { bytes: 4, read: (view, at) => view.getInt32(at, true) },
  U8: { bytes: 1, read: (view, at) => view.getUint8(at) },
  BOOL: { bytes: 1, read: (view, at) => Math.min(view.getUint8(at), 1) },
};

/** Document, arrays by name ({shape, dtype, data}) and checksum of the bytes of a model file; damage is refused. */
export function readModelFile(bytes) {
  const length = headerLength(bytes);
  const header = parseObject(decodeText(bytes.subarray(8, 8 + length)), "header");
  const metadata = checkedMetadata(header.__metadata__);
  const names = Object.keys(header).filter((name) => name !== "__metadata__");
  names.sort(byCodePoints);
  const tensors = checkedTensors(header, names, bytes.subarray(8 + length));
  const digest = contentDigest(metadata, tensors);
  if (digest !== metadata.sha256) {
    throw new Error("the model file is damaged: its checksum differs. Copy or write it again.");
  }
  const arrays = Object.create(null);
  for (const { name, dtype, shape, raw } of tensors) {
    arrays[name] = { shape, dtype, data: arrayNumbers(raw, dtype) };
  }
  return { document: parseObject(metadata.aldsurv, "document"), arrays, sha256: digest };
}

function headerLength(bytes) {
  if (!(bytes instanceof Uint8Array) || bytes.length < 9) {
    throw new Error("the file is too short for a model file.");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
  if (length > MOST_HEADER_BYTES || bytes[8] !== "{".charCodeAt(0)) {
    throw new Error("the file is damaged or not a model file: its header is not a JSON object.");
  }
  if (length > bytes.length - 8) {
    throw new Error("the file is cut short or not a model file: its header is longer than the file.");
  }
  return length;
}

function decodeText(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("the file is damaged or not a model file: its header is not UTF-8.");
  }
}

function parseObject(text, part) {
  let parsed = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(`the file is damaged or not a model file: its ${part} is not JSON.`);
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) {
    throw new Error(`the file is damaged or not a model file: its ${part} is not a JSON object.`);
  }
  return parsed;
}

function checkedMetadata(metadata) {
  if (metadata === null || typeof metadata !== "object" || metadata.format !== "aldsurv") {
    throw new Error("the file is not a model file of aldsurv.");
  }
  for (const key of ["schema", "aldsurv", "sha256", ...Object.keys(metadata)]) {
    if (typeof metadata[key] !== "string") {
      throw new Error(`the model file is damaged: "${key}" in its metadata is missing or not text.`);
    }
  }
  // First of all checks of the content: a newer version may mean anything by the rest.
  if (!/^[0-9]{1,9}$/.test(metadata.schema) || Number(metadata.schema) < 1) {
    throw new Error("the model file is damaged: its schema is not a version.");
  }
  if (Number(metadata.schema) > SCHEMA) {
    throw new Error(`the model file was written by a newer aldsurv (schema ${metadata.schema}): make this page again with it.`);
  }
  return metadata;
}

/** Tensors in the order of their names; they must fill the rest of the file without gaps or overlaps. */
function checkedTensors(header, names, body) {
  const tensors = names.map((name) => checkedTensor(name, header[name], body));
  let end = 0;
  for (const { start, stop } of [...tensors].sort((a, b) => a.start - b.start || a.stop - b.stop)) {
    if (start !== end) {
      throw new Error("the model file is damaged: its tensors do not follow each other.");
    }
    end = stop;
  }
  if (end !== body.length) {
    throw new Error("the model file is cut short or damaged: its tensors are not as long as the file.");
  }
  return tensors;
}

function checkedTensor(name, entry, body) {
  const damaged = (problem) => new Error(`the model file is damaged: tensor "${name}" ${problem}.`);
  if (entry === null || typeof entry !== "object" || Object.keys(entry).sort().join() !== "data_offsets,dtype,shape") {
    throw damaged("must have dtype, shape and data_offsets and nothing else");
  }
  const { dtype, shape, data_offsets: offsets } = entry;
  const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
  if (!Object.keys(DTYPES).includes(dtype)) {
    throw damaged("has an unknown dtype");
  }
  if (!Array.isArray(shape) || shape.length > 32 || !shape.every(isCount)) {
    throw damaged("has a shape that is not a list of counts");
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw damaged("has no offsets");
  }
  const [start, stop] = offsets;
  const size = shape.reduce((product, axis) => product * axis, DTYPES[dtype].bytes);
  if (stop > body.length || stop - start !== size) {
    throw damaged("is not where the file says");
  }
  return { name, dtype, shape, start, stop, raw: body.subarray(start, stop) };
}

/** The SHA-256 of metadata and tensors: of the compact JSON of both, sorted and in ASCII, then of the bytes. */
function contentDigest(metadata, tensors) {
  const keys = Object.keys(metadata).filter((key) => key !== "sha256");
  keys.sort(byCodePoints);
  const signed = keys.map((key) => `${asciiText(key)}:${asciiText(metadata[key])}`).join(",");
  const entries = tensors.map(({ name, dtype, shape }) => `[${asciiText(name)},${asciiText(dtype)},[${shape.join(",")}]]`);
  const text = `[{${signed}},[${entries.join(",")}]]`;
  return sha256([new TextEncoder().encode(text), ...tensors.map(({ raw }) => raw)]);
}

/** A text as JSON with ASCII escapes, as Python writes it. */
function asciiText(text) {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The order of Python's text, which is that of code points and not of UTF-16 units. */
function byCodePoints(first, second) {
  const a = Array.from(first, (letter) => letter.codePointAt(0));
  const b = Array.from(second, (letter) => letter.codePointAt(0));
  for (let k = 0; k < Math.min(a.length, b.length); k += 1) {
    if (a[k] !== b[k]) {
      return a[k] - b[k];
    }
  }
  return a.length - b.length;
}

function arrayNumbers(raw, dtype) {
  const { bytes, read } = DTYPES[dtype];
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const numbers = new Float64Array(raw.byteLength / bytes);
  for (let k = 0; k < numbers.length; k += 1) {
    numbers[k] = read(view, k * bytes);
  }
  return numbers;
}

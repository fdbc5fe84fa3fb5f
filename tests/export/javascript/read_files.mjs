// What the JavaScript runtime reads from model files, or why it does not: JSON on stdin, JSON on stdout.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { runtime, files } = JSON.parse(readFileSync(0, "utf8"));
const { readModelFile } = await import(pathToFileURL(`${runtime}/model_file.js`).href);

function content(bytes) {
  try {
    const { document, arrays, sha256 } = readModelFile(new Uint8Array(Buffer.from(bytes, "base64")));
    const plain = Object.keys(arrays).map((name) => {
      const { shape, dtype, data } = arrays[name];
      return [name, { shape, dtype, data: Array.from(data, String) }];
    });
    return { document, arrays: plain, sha256 };
  } catch (error) {
    return { error: error.message };
  }
}

process.stdout.write(JSON.stringify(files.map(content)));

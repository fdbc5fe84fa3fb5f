// Bytes that Python's zlib made small, made large again (RFC 1951): browsers do it only asynchronously.

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Counts of codes by length, and symbols in the order of their codes. */
function huffmanTable(lengths) {
  const counts = new Uint16Array(16);
  lengths.forEach((length) => { counts[length] += 1; });
  counts[0] = 0;
  const starts = new Uint16Array(16);
  for (let length = 1; length < 16; length += 1) {
    starts[length] = starts[length - 1] + counts[length - 1];
  }
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((length, symbol) => {
    if (length) {
      symbols[starts[length]] = symbol;
      starts[length] += 1;
    }
  });
  return { counts, symbols };
}

function fixedTables() {
  const lengths = Array.from({ length: 288 }, (_, k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8));
  return [huffmanTable(lengths), huffmanTable(new Array(30).fill(5))];
}

/** The bytes of a raw deflate stream, of which the size is known. */
export function inflateBytes(packed, size) {
  const out = new Uint8Array(size);
  let at = 0;
  let place = 0;
  let held = 0;
  let count = 0;

  function bits(wanted) {
    while (count < wanted) {
      if (place >= packed.length) {
        throw new Error("the model of this page is damaged: its data end early.");
      }
      held |= packed[place] << count;
      place += 1;
      count += 8;
    }
    const value = held & ((1 << wanted) - 1);
    held >>>= wanted;
    count -= wanted;
    return value;
  }

  function symbol({ counts, symbols }) {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length < 16; length += 1) {
      code |= bits(1);
      if (code - first < counts[length]) {
        return symbols[index + code - first];
      }
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("the model of this page is damaged: a code is not known.");
  }

  function ownTables() {
    const literals = bits(5) + 257;
    const distances = bits(5) + 1;
    const codes = bits(4) + 4;
    const lengths = new Array(19).fill(0);
    for (let k = 0; k < codes; k += 1) {
      lengths[CODE_ORDER[k]] = bits(3);
    }
    const table = huffmanTable(lengths);
    const all = [];
    while (all.length < literals + distances) {
      const next = symbol(table);
      if (next < 16) {
        all.push(next);
        continue;
      }
      const repeated = next === 16 ? all[all.length - 1] : 0;
      const times = next === 16 ? 3 + bits(2) : next === 17 ? 3 + bits(3) : 11 + bits(7);
      for (let k = 0; k < times; k += 1) {
        all.push(repeated);
      }
    }
    return [huffmanTable(all.slice(0, literals)), huffmanTable(all.slice(literals))];
  }

  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      held = 0;
      count = 0;
      const length = packed[place] | (packed[place + 1] << 8);
      place += 4;
      out.set(packed.subarray(place, place + length), at);
      at += length;
      place += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? fixedTables() : ownTables();
    for (let next = symbol(literals); next !== 256; next = symbol(literals)) {
      if (next < 256) {
        out[at] = next;
        at += 1;
        continue;
      }
      const length = LENGTH_BASE[next - 257] + bits(LENGTH_BITS[next - 257]);
      const slot = symbol(distances);
      const from = at - DISTANCE_BASE[slot] - bits(slot < 2 ? 0 : (slot >> 1) - 1);
      for (let k = 0; k < length; k += 1) {
        out[at + k] = out[from + k];
      }
      at += length;
    }
  }
  if (at !== size) {
    throw new Error("the model of this page is damaged: its size differs.");
  }
  return out;
}

/** The bytes of a text in base 64. */
export function bytesOfBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < binary.length; k += 1) {
    bytes[k] = binary.charCodeAt(k);
  }
  return bytes;
}

// The SHA-256 of bytes, computed at once: browsers offer it only for pages from a server, and later.

const SHA_CONSTANTS = primeRootBits(64, 1 / 3);
const SHA_START = primeRootBits(8, 1 / 2);

/** The first 32 bits of the fractional parts of roots of the first primes. */
function primeRootBits(count, power) {
  const bits = [];
  for (let candidate = 2; bits.length < count; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
      prime = prime && candidate % divisor !== 0;
    }
    if (prime) {
      const root = candidate ** power;
      bits.push(Math.floor((root - Math.floor(root)) * 2 ** 32) | 0);
    }
  }
  return Int32Array.from(bits);
}

/** The SHA-256 of several pieces of bytes, one after the other, as 64 hexadecimal digits. */
export function sha256(pieces) {
  const state = Int32Array.from(SHA_START);
  const block = new Uint8Array(64);
  let filled = 0;
  let length = 0;
  for (const piece of pieces) {
    length += piece.length;
    for (let start = 0; start < piece.length; ) {
      const part = piece.subarray(start, start + 64 - filled);
      block.set(part, filled);
      filled += part.length;
      start += part.length;
      if (filled === 64) {
        shaBlock(state, block);
        filled = 0;
      }
    }
  }
  block.fill(0, filled);
  block[filled] = 0x80;
  if (filled >= 56) {
    shaBlock(state, block);
    block.fill(0);
  }
  const view = new DataView(block.buffer);
  view.setUint32(56, Math.floor(length / 2 ** 29));
  view.setUint32(60, (length * 8) % 2 ** 32);
  shaBlock(state, block);
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function shaBlock(state, block) {
  const words = new Int32Array(64);
  const view = new DataView(block.buffer);
  for (let t = 0; t < 64; t += 1) {
    words[t] = t < 16 ? view.getInt32(4 * t) : nextWord(words, t);
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t += 1) {
    const choice = (e & f) ^ (~e & g);
    const first = (h + rotated(e, 6, 11, 25) + choice + SHA_CONSTANTS[t] + words[t]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const second = (rotated(a, 2, 13, 22) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, k) => {
    state[k] = (state[k] + word) | 0;
  });
}

function nextWord(words, t) {
  const before = words[t - 15];
  const late = words[t - 2];
  const small = rotateRight(before, 7) ^ rotateRight(before, 18) ^ (before >>> 3);
  const large = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
  return (words[t - 16] + small + words[t - 7] + large) | 0;
}

function rotated(word, first, second, third) {
  return rotateRight(word, first) ^ rotateRight(word, second) ^ rotateRight(word, third);
}

function rotateRight(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

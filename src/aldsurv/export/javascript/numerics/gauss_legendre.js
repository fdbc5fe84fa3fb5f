// Nodes and weights of Gauss-Legendre quadrature.

/** Pairs of node and weight on (-1, 1), ascending: Newton's steps to the roots of Legendre's polynomial. */
export function gaussLegendre(count) {
  const pairs = [];
  for (let k = count; k >= 1; k -= 1) {
    let z = Math.cos((Math.PI * (k - 0.25)) / (count + 0.5));
    let slope = 1;
    for (let step = 0; step < 100; step += 1) {
      const values = legendreValues(z, count);
      slope = (count * (z * values[count] - values[count - 1])) / (z * z - 1);
      const change = values[count] / slope;
      z -= change;
      if (Math.abs(change) < 1e-16) {
        break;
      }
    }
    pairs.push([z, 2 / ((1 - z * z) * slope * slope)]);
  }
  return pairs;
}

/** Legendre's polynomials of degree 0 up to the highest at a place. */
export function legendreValues(z, highest) {
  const values = [1, z];
  for (let n = 2; n <= highest; n += 1) {
    values.push(((2 * n - 1) * z * values[n - 1] - (n - 1) * values[n - 2]) / n);
  }
  return values.slice(0, highest + 1);
}

export const GAUSS_10 = gaussLegendre(10);
export const GAUSS_64 = gaussLegendre(64);

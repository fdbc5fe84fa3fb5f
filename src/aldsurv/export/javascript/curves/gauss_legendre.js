// Gauss's nodes and weights on (-1, 1).

/** Nodes of a number, ascending, and weights that add up to 2: by Newton's steps from their known neighbourhood. */
export function gaussLegendre(count) {
  const nodes = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let k = 0; k < (count + 1) >> 1; k += 1) {
    let place = Math.cos((Math.PI * (k + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let step = 0; step < 100; step += 1) {
      const polynomial = legendreWithSlope(count, place);
      slope = polynomial.slope;
      const change = polynomial.value / slope;
      place -= change;
      if (Math.abs(change) < 1e-16) {
        break;
      }
    }
    slope = legendreWithSlope(count, place).slope;
    const weight = 2 / ((1 - place * place) * slope * slope);
    nodes[k] = -place;
    nodes[count - 1 - k] = place;
    weights[k] = weight;
    weights[count - 1 - k] = weight;
  }
  if (count % 2 === 1) {
    nodes[count >> 1] = 0;
  }
  return { nodes, weights };
}

/** Legendre's polynomial of a degree, and its derivative, inside (-1, 1). */
function legendreWithSlope(degree, x) {
  let before = 0;
  let value = 1;
  for (let n = 1; n <= degree; n += 1) {
    [before, value] = [value, ((2 * n - 1) * x * value - (n - 1) * before) / n];
  }
  return { value, slope: (degree * (before - x * value)) / (1 - x * x) };
}

// Levels between 0 and 1 at which a network that takes one is looked at.

import { gaussLegendre } from "../numerics/gauss_legendre.js";

/** Nodes of Gauss-Legendre quadrature on (0, 1) with their weights, whose sum is 1. */
export function levelNodes(count) {
  return gaussLegendre(count).map(([place, weight]) => ({ level: (1 + place) / 2, share: weight / 2 }));
}

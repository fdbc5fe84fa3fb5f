"""Levels between 0 and 1 at which a network that takes one is looked at."""

from __future__ import annotations

import numpy as np

__all__ = ["level_nodes"]


def level_nodes(count: int) -> list[tuple[float, float]]:
    """Nodes of Gauss-Legendre quadrature on (0, 1) with their weights, whose sum is 1.

    Means over a uniform level are weighted sums over the nodes, exact for polynomials of degree ``2·count - 1``.

    Examples
    --------
    >>> [(round(level, 4), round(share, 4)) for level, share in level_nodes(2)]
    [(0.2113, 0.5), (0.7887, 0.5)]
    """
    places, weights = np.polynomial.legendre.leggauss(count)
    return [(float((1 + place) / 2), float(weight / 2)) for place, weight in zip(places, weights, strict=True)]

"""Integrals for the tests, by Gauss-Legendre on panels between quantiles: nothing of the library's own rule."""

from __future__ import annotations

import math

import numpy as np

from aldsurv.distributions import SurvivalDistribution

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)
_TAILS = np.concatenate([10.0 ** np.arange(-14.0, -1.0), np.linspace(0.1, 0.5, 9)])
_LEVELS = np.unique(np.concatenate([_TAILS, 1 - _TAILS]))
# Of each part of a mixture: its quantiles lie where those of the whole may be far apart.
_OF_PARTS = np.array([1e-12, 1e-6, 1e-3, 0.02, 0.2, 0.5, 0.8, 0.98, 1 - 1e-3, 1 - 1e-6, 1 - 1e-12])


def edges(row: SurvivalDistribution, *extra: float) -> np.ndarray:
    """Places between which one row is smooth, from its far left to its far right."""
    parts = [part.quantile(_OF_PARTS)[0] for part in getattr(row, "components", ())]
    found = np.concatenate([row.quantile(_LEVELS)[0], *parts, row._kinks()[0], row._lower()[0], extra])
    found = np.unique(found[np.isfinite(found)])
    # Each stretch in four: a mixture may have sharp features between its quantiles.
    places = found[:-1, None] + np.diff(found)[:, None] * np.array([0.0, 0.25, 0.5, 0.75])
    return np.unique(np.append(places.ravel(), found[-1]))


def panels(function, places: np.ndarray, origin: float = -math.inf) -> np.ndarray:
    """Integral of a vectorised function over each panel between neighbouring places.

    Panels above ``origin`` are integrated over the logarithm of the distance from it: powers become smooth.
    """
    left, right = places[:-1, None], places[1:, None]
    half = (right - left) / 2
    nodes, speed = left + half * (1 + _NODES), half + 0 * _NODES
    powers = (left - origin > 1e-100 * (right - left)) & math.isfinite(origin)
    start, stop = (np.log(np.where(powers, place - origin, 1.0)) for place in (left, right))
    stretched = np.exp(start + (stop - start) / 2 * (1 + _NODES))
    nodes = np.where(powers, origin + stretched, nodes)
    speed = np.where(powers, stretched * (stop - start) / 2, speed)
    return (function(nodes.ravel()).reshape(nodes.shape) * speed * _WEIGHTS).sum(axis=1)


def integral(row: SurvivalDistribution, function, start: float, stop: float) -> float:
    """Integral of a function that is smooth where the row is."""
    places = edges(row, start, stop)
    places = places[(places >= start) & (places <= stop)]
    return panels(function, places, float(row._lower()[0, 0])).sum()

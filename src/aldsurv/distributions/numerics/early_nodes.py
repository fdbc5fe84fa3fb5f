"""A restricted mean from survival at a few fixed times, which lie closer together the earlier they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.numerics.backend import Array, as_like, namespace

if TYPE_CHECKING:
    from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["restricted_mean_at_nodes"]

FloatArray = NDArray[np.float64]
_PANELS, _PANEL_NODES = 9, 8


def _gauss_rule() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on panels of (0, 1) of which each is as wide as all before it together."""
    edges = np.append(0.0, 2.0 ** np.arange(1 - _PANELS, 1))
    nodes, weights = np.polynomial.legendre.leggauss(_PANEL_NODES)
    width = np.diff(edges)[:, None]
    return (edges[:-1, None] + width * (nodes + 1) / 2).ravel(), (width * weights / 2).ravel()


_NODES, _NODE_WEIGHTS = _gauss_rule()


def restricted_mean_at_nodes(distribution: SurvivalDistribution, horizon: float) -> Array:
    """The restricted mean (n,) of each row: survival times Gauss's weights."""
    column = distribution.survival(0.0)
    survival = distribution.survival(horizon * as_like(_NODES, column))
    return horizon * namespace(column).sum(survival * as_like(_NODE_WEIGHTS, column), axis=-1)

"""Integrals of the densities of several causes up to any time, by polynomials on panels that are halved as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.numerics.sorted_rows import count_below

if TYPE_CHECKING:
    from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["NODES", "Panels", "integrate_panels"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# Nodes of Gauss's rule on a panel, and of the polynomial through the densities there.
NODES = 10
_TOLERANCE = 1e-9
_MOST_HALVINGS = 60


def _rules() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes on (0, 1), the matrix from values there to Legendre coefficients, and integrals up to each node."""
    z, weights = np.polynomial.legendre.leggauss(NODES)
    degrees = np.arange(NODES)
    coefficients = (2 * degrees[:, None] + 1) / 2 * weights * np.polynomial.legendre.legvander(z, NODES - 1).T
    nodes = (z + 1) / 2
    return nodes, coefficients, _integrals(nodes)


def _integrals(share: FloatArray) -> FloatArray:
    """Integrals of Legendre's polynomials on (0, 1) up to each share, on a last axis."""
    z = 2 * share - 1
    powers = np.polynomial.legendre.legvander(z, NODES)
    later = (powers[..., 2:] - powers[..., :-2]) / (4 * np.arange(1, NODES) + 2)
    return np.concatenate([share[..., None], later], axis=-1)


_PLACES, _TO_COEFFICIENTS, _UP_TO_NODES = _rules()


@final
@dataclass(frozen=True)
class Panels:
    """Incidences between the ends of panels.

    Attributes
    ----------
    edges
        Ends of panels (n, panels + 1), ascending; rows with fewer repeat their last.
    incidences
        Incidence (causes, n, panels + 1) at each end.
    coefficients
        Of the polynomials of the density, times the width: (causes, n, panels, NODES).
    """

    edges: FloatArray
    incidences: FloatArray
    coefficients: FloatArray

    def incidence(self, t: FloatArray) -> FloatArray:
        """Incidence (causes, n, m) at finite times (n, m) from the first end to the last."""
        panel = np.asarray(count_below(self.edges, t, inclusive=True)) - 1
        panel = np.clip(panel, 0, self.coefficients.shape[2] - 1)
        rows = np.arange(len(t))[:, None]
        start, stop = self.edges[rows, panel], self.edges[rows, panel + 1]
        width = stop - start
        share = np.clip((t - start) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        gains = np.einsum("knmj,nmj->knm", self.coefficients[:, rows, panel], _integrals(share))
        return np.asarray(np.maximum(self.incidences[:, rows, panel] + gains, 0.0))


def integrate_panels(parts: Sequence[SurvivalDistribution], edges: FloatArray, lower: FloatArray) -> Panels:
    """Incidences of causes with the hazards of `parts`, on panels that begin with those between `edges`.

    A panel is halved until the integral of its polynomials up to each node is what the survival has lost by then.

    Parameters
    ----------
    parts
        For each cause a distribution with its hazard.
    edges
        Ends of the first panels (n, panels + 1), ascending and finite.
    lower
        Column (n, 1) of the beginnings of the support: panels that span orders of magnitude of the distance from it
        are halved at the geometric mean.
    """
    n, count = len(edges), edges.shape[1] - 1
    row = np.repeat(np.arange(n), count)
    start, stop = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    finished: list[tuple[FloatArray, ...]] = []
    nodes = start[:, None] + (stop - start)[:, None] * _PLACES
    values = _values(parts, nodes.reshape(n, -1), start.reshape(n, -1), stop.reshape(n, -1))
    for halving in range(_MOST_HALVINGS + 1):
        if halving:
            chosen = [part[row] for part in parts]
            nodes = start[:, None] + (stop - start)[:, None] * _PLACES
            values = _values(chosen, nodes, start[:, None], stop[:, None])
        density, survival, first, last = values
        coefficients = (density * (stop - start)[:, None]) @ _TO_COEFFICIENTS.T
        together = coefficients.sum(axis=0)
        error = np.abs(together @ _UP_TO_NODES.T - (first - survival)).max(axis=1)
        # And up to the end: a spike may lie between it and the last node.
        error = np.maximum(error, np.abs(together[:, 0] - (first - last)[:, 0]))
        middle = _middle(start, stop, lower[row, 0])
        split = (error > _TOLERANCE) & (start < middle) & (middle < stop) & (halving < _MOST_HALVINGS)
        kept = ~split & (stop > start)
        mass = np.maximum(first - last, 0.0)[kept, 0]
        finished.append((row[kept], start[kept], stop[kept], mass, coefficients[:, kept]))
        row, start, middle, stop = row[split], start[split], middle[split], stop[split]
        row = np.concatenate([row, row])
        start, stop = np.concatenate([start, middle]), np.concatenate([middle, stop])
        if not row.size:
            break
    return _table(finished, edges)


def _values(
    parts: Sequence[SurvivalDistribution], nodes: FloatArray, start: FloatArray, stop: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Densities (causes, panels, NODES), survival there, and survival (panels, 1) at the ends, of all panels."""
    width = nodes.shape[1]
    # Not in log space, which would take twice as long: what underflows does not count beside the tolerance.
    each = [np.asarray(part._survival(np.concatenate([nodes, start, stop], axis=1))) for part in parts]
    survival = reduce(np.multiply, each)
    slopes = []
    for k, part in enumerate(parts):
        others = [own[:, :width] for j, own in enumerate(each) if j != k]
        slopes.append(reduce(np.multiply, others, np.asarray(part._density(nodes))))
    density = np.stack(np.broadcast_arrays(*slopes))
    density = np.where(np.isfinite(density), density, 0.0).reshape(len(parts), -1, NODES)
    ends = survival[:, width : width + start.shape[1]], survival[:, width + start.shape[1] :]
    inside = survival[:, :width].reshape(-1, NODES)
    return density, inside, ends[0].reshape(-1, 1), ends[1].reshape(-1, 1)


def _middle(start: FloatArray, stop: FloatArray, lower: FloatArray) -> FloatArray:
    low, high = start - lower, stop - lower
    wide = (low > 0) & (high > 4 * low) & np.isfinite(low)
    geometric = lower + np.sqrt(np.where(wide, low, 1.0)) * np.sqrt(np.where(wide, high, 1.0))
    return np.asarray(np.where(wide, geometric, start + (stop - start) / 2))


def _table(finished: list[tuple[FloatArray, ...]], edges: FloatArray) -> Panels:
    """Panels of all rows side by side, ascending within each."""
    row, start, stop, mass = (np.concatenate([part[k] for part in finished]) for k in range(4))
    coefficients = np.concatenate([part[4] for part in finished], axis=1)
    order = np.lexsort((start, row))
    row, stop, mass, coefficients = row[order], stop[order], mass[order], coefficients[:, order]
    causes, n = len(coefficients), len(edges)
    each = np.bincount(row, minlength=n)
    most = max(int(each.max(initial=0)), 1)
    place = np.arange(row.size) - np.repeat(np.cumsum(each) - each, each)
    # All causes together gain what the survival loses, however well the polynomials do.
    total = coefficients[:, :, 0].sum(axis=0)
    some = total > 0
    coefficients = coefficients * np.where(some, mass / np.where(some, total, 1.0), 0.0)[:, None]
    gains = np.where(some, coefficients[:, :, 0], mass / causes)
    ends = np.repeat(edges[:, -1:], most + 1, axis=1)
    ends[:, 0] = edges[:, 0]
    ends[row, place + 1] = stop
    table = np.zeros((causes, n, most, NODES))
    table[:, row, place] = coefficients
    grown = np.zeros((causes, n, most + 1))
    grown[:, row, place + 1] = gains
    return Panels(ends, np.cumsum(grown, axis=2), table)

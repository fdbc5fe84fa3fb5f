"""The censored log-likelihood, the same for every family, in log space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["EXACT", "INTERVAL", "LEFT", "RIGHT", "log_likelihood_of_bounds", "row_kinds", "row_log_likelihood"]

# What is known of a row, as a number: the event's time, that it came after, at or before, or in between.
EXACT, RIGHT, LEFT, INTERVAL = range(4)


def row_kinds(data: SurvivalData) -> tuple[Any, Any]:
    """Kind of each row (n,), and the lower bounds that belong to it.

    A left-censored row that entered late has its event between its entry and its bound: it is an interval.
    """
    since = data.lower
    if data.entry is not None:
        since = np.where(data.left_censored, data.entry, data.lower)
    left = data.left_censored & np.isneginf(since)
    kinds = np.full(len(data), INTERVAL, np.int8)
    for rows, kind in ((data.exact, EXACT), (data.right_censored, RIGHT), (left, LEFT)):
        kinds[rows] = kind
    return kinds, since


def row_log_likelihood(distribution: SurvivalDistribution, data: SurvivalData) -> Array:
    """Log-likelihood of each row, times its weight."""
    xp = namespace(distribution._column)
    kinds, since = row_kinds(data)
    if not is_numpy(xp):
        kinds = xp.asarray(kinds, device=distribution._column.device)
    like = distribution._column
    entry = None if data.entry is None else as_like(data.entry, like)
    total = log_likelihood_of_bounds(distribution, as_like(since, like), as_like(data.upper, like), kinds, entry)
    return total if data.weight is None else total * as_like(data.weight, like)


def log_likelihood_of_bounds(
    distribution: SurvivalDistribution, lower: Array, upper: Array, kinds: Array, entry: Array | None
) -> Array:
    """Log-likelihood of each row (n,) from bounds, kinds and entries (n,) of the distribution's own backend.

    Rows are taken kind by kind instead of through a ``where`` over all kinds: each formula sees only the
    rows it is meant for, so a bound at infinity never meets a gradient.
    """
    xp = namespace(distribution._column)
    formulas = {EXACT: _exact, RIGHT: _right_censored, LEFT: _left_censored, INTERVAL: _interval_censored}
    parts, order = [], []
    for kind, formula in formulas.items():
        (rows,) = xp.nonzero(kinds == kind)
        if rows.shape[0]:
            parts.append(formula(_rows(distribution, rows), lower[rows][:, None], upper[rows][:, None]))
            order.append(rows)
    joined = xp.concat(parts, axis=0)[:, 0]
    total = joined[xp.argsort(xp.concat(order))]
    return total if entry is None else total - _entry_term(distribution, entry)


def _exact(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_density(lower)


def _right_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_survival(lower)


def _left_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_cdf(upper)


def _interval_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_probability(lower, upper)


def _entry_term(distribution: SurvivalDistribution, entry: Array) -> Array:
    """``log S(entry)``, and 0 for rows that were observed from the start (entry -inf)."""
    xp = namespace(distribution._column)
    delayed = xp.isfinite(entry)
    at = xp.where(delayed, entry, xp.zeros_like(entry))[:, None]
    term = distribution._log_survival(at)[:, 0]
    return xp.where(delayed, term, xp.zeros_like(term))


def _rows(distribution: SurvivalDistribution, rows: Array) -> SurvivalDistribution:
    return distribution._map_rows(lambda column: column[rows])

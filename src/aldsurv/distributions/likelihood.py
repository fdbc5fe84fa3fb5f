"""The censored log-likelihood, the same for every family, in log space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aldsurv.distributions.backend import Array, as_like, is_numpy, namespace

if TYPE_CHECKING:
    from aldsurv.distributions.base import SurvivalDistribution
    from aldsurv.survival_data import SurvivalData

__all__ = ["row_log_likelihood"]


def row_log_likelihood(distribution: SurvivalDistribution, data: SurvivalData) -> Array:
    """Log-likelihood of each row, times its weight.

    Rows are taken kind by kind instead of through a ``where`` over all kinds: each formula sees only the
    rows it is meant for, so a bound at infinity never meets a gradient.
    """
    xp = namespace(distribution._column)
    since = data.lower
    if data.entry is not None:
        # A left-censored row that entered late has its event between its entry and its bound.
        since = np.where(data.left_censored, data.entry, data.lower)
    left = data.left_censored & np.isneginf(since)
    parts, order = [], []
    for mask, formula in (
        (data.exact, _exact),
        (data.right_censored, _right_censored),
        (left, _left_censored),
        (data.interval_censored | (data.left_censored & ~left), _interval_censored),
    ):
        rows = np.flatnonzero(mask)
        if rows.size:
            lower, upper = (_column(bound[rows], distribution) for bound in (since, data.upper))
            parts.append(formula(distribution[rows], lower, upper))
            order.append(rows)
    joined = xp.concat(parts, axis=0)[:, 0]
    total = joined[_index(np.argsort(np.concatenate(order)), distribution)]
    if data.entry is not None:
        total = total - _entry_term(distribution, data.entry)
    return total if data.weight is None else total * as_like(data.weight, distribution._column)


def _exact(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_density(lower)


def _right_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_survival(lower)


def _left_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_cdf(upper)


def _interval_censored(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    return distribution._log_probability(lower, upper)


def _entry_term(distribution: SurvivalDistribution, entry: Any) -> Array:
    """``log S(entry)``, and 0 for rows that were observed from the start (entry -inf)."""
    xp = namespace(distribution._column)
    delayed = np.isfinite(entry)
    at = _column(np.where(delayed, entry, 0.0), distribution)
    term = distribution._log_survival(at)[:, 0]
    mask = delayed if is_numpy(xp) else xp.asarray(delayed, device=term.device)
    return xp.where(mask, term, xp.zeros_like(term))


def _column(values: Any, distribution: SurvivalDistribution) -> Array:
    return as_like(values, distribution._column)[:, None]


def _index(rows: Any, distribution: SurvivalDistribution) -> Any:
    xp = namespace(distribution._column)
    return rows if is_numpy(xp) else xp.asarray(rows, device=distribution._column.device)

"""Times as models have them inside: in a unit of their own, and weights with mean 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.losses.rounding import rounded

__all__ = ["even_weights", "in_unit", "time_unit"]

# Binary digits of times inside and of weights: those behind depend on the user's unit.
_DIGITS = 32


def time_unit(data: SurvivalData, rule: Any) -> float:
    """How much of the user's time is one unit for the network.

    Parameters
    ----------
    data
        The training rows.
    rule
        ``"median"`` or ``"std"`` of the times, ``"none"`` for 1, or a number. Of episodes, the times of the persons.
    """
    if isinstance(rule, (int, float, np.number)) and not isinstance(rule, (bool, np.bool_)):
        if not 0 < rule < np.inf:
            raise ParameterError(f"time_scale must be positive and finite, but is {rule!r}.")
        return float(rule)
    if rule == "none":
        return 1.0
    if rule not in ("median", "std"):
        raise ParameterError(f"time_scale must be 'median', 'std', 'none' or a number, but is {rule!r}.")
    data = data.persons()
    times, weight = np.where(np.isfinite(data.lower) & (data.lower > 0), data.lower, data.upper), even_weights(data)
    counting = np.isfinite(times) & (times > 0) & (data.weights > 0)
    times = times[counting]
    if not times.size:
        return 1.0
    if weight is not None:
        spread = _weighted_spread(times, weight[counting], rule)
    else:
        spread = float(np.std(times)) if rule == "std" else float(np.median(times))
    return spread if np.isfinite(spread) and spread > 1e-9 * times.max() else float(times.max())


def _weighted_spread(times: NDArray[np.float64], weight: NDArray[np.float64], rule: str) -> float:
    """Standard deviation or median of the times, a row of weight 2 being two rows."""
    if rule == "std":
        mean = np.average(times, weights=weight)
        return float(np.sqrt(np.average((times - mean) ** 2, weights=weight)))
    order = np.argsort(times, kind="stable")
    share = rounded(np.cumsum(weight[order]) / weight.sum(), _DIGITS)
    middle = np.searchsorted(share, 0.5, side="left"), np.searchsorted(share, 0.5, side="right")
    return float(times[order][np.minimum(middle, len(times) - 1)].mean())


def in_unit(data: SurvivalData, unit: float) -> SurvivalData:
    """The same data with times inside: in `unit`, and to ten digits the same whatever the user's unit is.

    Parameters
    ----------
    data
        Rows in the user's unit.
    unit
        How much of it is one unit inside.
    """
    scaled = data.scaled(1 / unit)
    lower, upper = rounded(scaled.lower, _DIGITS), rounded(scaled.upper, _DIGITS)
    entry = None if scaled.entry is None else rounded(scaled.entry, _DIGITS)
    # Times that differ must go on to differ.
    same = (lower == upper) == scaled.exact
    if entry is not None:
        same &= entry < np.where(scaled.right_censored, lower, upper)
    if not same.all():
        return scaled
    return SurvivalData.from_checked(*scaled.columns._replace(lower=lower, upper=upper, entry=entry))


def even_weights(data: SurvivalData) -> NDArray[np.float64] | None:
    """Weights with mean 1, or None if all are the same: then every row counts as one."""
    if data.weight is None or data.weight.min() == data.weight.max():
        return None
    return rounded(data.weight / data.weight.mean(), _DIGITS)

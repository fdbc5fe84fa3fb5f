"""Times and levels at which an exported model answers: checked, or those of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

__all__ = ["DEFAULT_LEVELS", "checked_levels", "checked_times", "end_of_follow_up", "follow_up_quarters"]

FloatArray = NDArray[np.float64]
# Quantiles beside the median.
DEFAULT_LEVELS = (0.1, 0.25, 0.75, 0.9)


def end_of_follow_up(model: SurvivalEstimator) -> float:
    """The end of the follow-up of training, or the last time of a model that does not know it."""
    facts = model.trained_on_
    last = float(model.unique_times_[-1])
    return last if facts is None or facts.follow_up is None else float(facts.follow_up)


def follow_up_quarters(model: SurvivalEstimator) -> tuple[float, ...]:
    """Four times up to the end of the follow-up of training."""
    last = end_of_follow_up(model)
    return tuple(float(plain_number(last * share, 3)) for share in (0.25, 0.5, 0.75, 1.0))


def checked_times(times: Sequence[float]) -> FloatArray:
    """Times as an array; `ParameterError` unless they are finite numbers from 0 on."""
    grid = np.array(times, np.float64)
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or (grid < 0).any():
        raise ParameterError(
            f"times must be finite numbers from 0 on, at least one, but are {quoted(times, 60)}.", argument="times"
        )
    return grid


def checked_levels(levels: Sequence[float]) -> FloatArray:
    """Levels of quantiles as an array; `ParameterError` unless all lie between 0 and 1."""
    grid = np.array(levels, np.float64)
    if grid.ndim != 1 or not ((grid > 0) & (grid < 1)).all():
        raise ParameterError(
            f"quantiles must lie between 0 and 1, as 0.9 does, but are {quoted(levels, 60)}.", argument="quantiles"
        )
    return grid

"""Checks of cumulative hazards on grids of times, and of the log risks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.errors import ParameterError

__all__ = ["checked_hazards"]


def checked_hazards(times: Any, log_cumulative: Any, log_risk: Any, sizes: Any, strata: Any) -> dict[str, Any]:
    """The fields of `HazardCurves` from what users give; the parameters are those of `ProportionalHazards`."""
    risk = _floats(log_risk, "log_risk")
    xp = namespace(risk)
    risk = risk[:, None] if risk.ndim == 1 else risk
    hazard = as_like(_floats(log_cumulative, "log_cumulative"), risk)
    hazard = hazard[:, None] if hazard.ndim == 1 else hazard
    grid = as_like(_floats(times, "times"), risk)
    _check_shapes(grid, hazard, risk)
    counts = np.array([grid.shape[0]] if sizes is None else sizes, np.int64)
    codes = np.zeros(risk.shape[0], np.int64) if strata is None else np.array(strata, np.int64)
    _check_strata(counts, codes, grid.shape[0], risk.shape[0])
    first = np.cumsum(counts) - counts
    _check_baseline(grid, hazard, first)
    if not bool(xp.all(xp.isfinite(risk))):
        raise ParameterError("log_risk must be finite, but some of it is not.")
    fields = {"times": grid, "log_cumulative": hazard, "log_risk": risk, "level_maps": ()}
    numbers = {"first": first, "size": counts, "stratum": codes[:, None]}
    return {**fields, **{name: xp.asarray(array) for name, array in numbers.items()}}


def _floats(values: Any, name: str) -> Array:
    if not is_numpy(namespace(values)):
        return values
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be numbers, but is {values!r:.60}.") from None
    return array


def _check_shapes(times: Array, hazard: Array, risk: Array) -> None:
    if times.ndim != 1 or times.shape[0] == 0:
        raise ParameterError(f"times must have shape (m,) with m ≥ 1, but has {tuple(times.shape)}.")
    if hazard.ndim != 2 or hazard.shape[0] != times.shape[0] or hazard.shape[1] == 0:
        m = times.shape[0]
        raise ParameterError(f"log_cumulative must have shape ({m},) or ({m}, members), but has {tuple(hazard.shape)}.")
    if risk.ndim != 2 or risk.shape[1] != hazard.shape[1]:
        raise ParameterError(
            f"log_risk must have a number for each row and each of {hazard.shape[1]} members, but has shape "
            f"{tuple(risk.shape)}."
        )


def _check_strata(sizes: Any, strata: Any, times: int, rows: int) -> None:
    if sizes.ndim != 1 or (sizes < 1).any() or sizes.sum() != times:
        raise ParameterError(f"sizes must be positive and add up to the {times} times, but are {sizes!r:.60}.")
    if strata.shape != (rows,) or ((strata < 0) | (strata >= sizes.size)).any():
        raise ParameterError(f"strata must be one number below {sizes.size} for each of {rows} rows.")


def _check_baseline(times: Array, hazard: Array, first: Any) -> None:
    xp = namespace(times)
    if not bool(xp.all(xp.isfinite(times))):
        raise ParameterError("times must be finite, but some are not.")
    inner = np.ones(times.shape[0], np.bool_)
    inner[first] = False
    within = xp.asarray(inner[1:])
    if bool(xp.any(within & (times[1:] <= times[:-1]))):
        raise ParameterError("times must be strictly increasing, in each stratum.")
    if bool(xp.any(xp.isnan(hazard))) or bool(xp.any(within[:, None] & (hazard[1:, :] < hazard[:-1, :]))):
        raise ParameterError("log_cumulative must be numbers that do not fall, in each stratum.")

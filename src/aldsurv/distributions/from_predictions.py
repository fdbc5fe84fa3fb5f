"""Predictions of any model, as arrays, functions or frames, made into distributions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.numerics.backend import without_gradient
from aldsurv.distributions.numerics.table_checks import checked_curves, checked_grid
from aldsurv.errors import ParameterError

__all__ = ["CurveTail", "curves_of_frame", "curves_of_functions", "distribution_of_curves"]

CurveTail: TypeAlias = Literal["exponential", "hold", "drop"]

FloatArray = NDArray[np.float64]

# By how much survival in single precision may rise, or leave [0, 1], by rounding.
_SINGLE_ROUNDING = 1e-6
_ROUNDING = 1e-9


def distribution_of_curves(
    curves: Any, times: object, *, interpolate: bool, tail: CurveTail | None
) -> Step | QuantileKnots:
    """Curves in rows as a distribution; what is allowed is said at `SurvivalDistribution.from_survival`."""
    end = _checked_tail(tail, interpolate)
    survival, grid = _checked_shapes(_numbers(curves, "curves"), _numbers(times, "times"))
    survival = checked_curves(_rounded(survival, curves), "curves")
    grid = checked_grid(grid, survival)
    survival, grid = _after_zero(survival, grid)
    steps = Step(grid, survival, tail="drop" if end == "drop" else "hold")
    return steps.smoothed() if interpolate else steps


def curves_of_functions(functions: Any) -> tuple[FloatArray, FloatArray]:
    """Survival (n, m) of functions at their own times, and those times: (m,), or (n, m) if they are not the same."""
    if not isinstance(functions, Iterable):
        raise ParameterError(f"functions must be a sequence with one per row, but is {type(functions).__name__}.")
    rows = list(functions)
    if not rows:
        raise ParameterError("functions must be one or more, but there is none.")
    grids, curves = [], []
    for row, function in enumerate(rows):
        times = getattr(function, "x", None)
        if times is None or not callable(function):
            raise ParameterError(
                f"functions must be callable and have their times in x, as scikit-survival's StepFunction, but "
                f"number {row} is {type(function).__name__}. From an array use from_survival(curves, times)."
            )
        grid = _numbers(times, f"x of function {row}")
        # Called, and not read off y, which in scikit-survival may still have to be scaled.
        curves.append(_numbers(function(grid), f"the values of function {row}"))
        grids.append(grid)
    if any(grid.ndim != 1 or curve.shape != grid.shape for grid, curve in zip(grids, curves, strict=True)):
        raise ParameterError("functions must give one value for each of the times in their x, which is a vector.")
    if len({grid.size for grid in grids}) > 1:
        raise ParameterError(
            f"functions must have the same number of times, but have from {min(grid.size for grid in grids)} to "
            f"{max(grid.size for grid in grids)}. Evaluate them at common times and use from_survival(curves, times)."
        )
    same = all(np.array_equal(grid, grids[0]) for grid in grids[1:])
    return np.stack(curves), grids[0] if same else np.stack(grids)


def curves_of_frame(frame: Any) -> tuple[Any, Any]:
    """Survival (n, m) and times (m,) of a frame with the times in its index and one column per subject."""
    try:
        index, table = frame.index, frame.to_numpy()
    except AttributeError:
        raise ParameterError(
            f"frame must be a pandas frame with the times in its index, but is {type(frame).__name__}. "
            "From anything else use from_survival(curves, times)."
        ) from None
    if table.ndim != 2:
        raise ParameterError("frame must have one column per subject, but is a single series. Use series.to_frame().")
    times = _numbers(index, "the index of frame, which holds the times,")
    if (np.diff(times) < 0).any():
        raise ParameterError("the index of frame, which holds the times, must ascend. Use frame.sort_index().")
    return table.T, times


def _checked_tail(tail: CurveTail | None, interpolate: bool) -> CurveTail:
    allowed: tuple[CurveTail, CurveTail] = ("exponential", "drop") if interpolate else ("hold", "drop")
    if tail is None:
        return allowed[0]
    if tail not in allowed:
        raise ParameterError(
            f"tail must be {' or '.join(map(repr, allowed))} with interpolate={interpolate}, but is {tail!r}."
        )
    return tail


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        return np.asarray(without_gradient(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be numbers in rows of one length, but: {error}.") from None


def _checked_shapes(curves: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    table = curves[None, :] if curves.ndim == 1 else curves
    if table.ndim == 2 and times.ndim == 1 and table.shape[1] != times.size == table.shape[0]:
        raise ParameterError(
            f"curves must have one row per subject and one column for each of {times.size} times, but has shape "
            f"{curves.shape}. Use curves.T, or from_frame for a frame."
        )
    negative = times < 0
    if negative.any():
        raise ParameterError(
            f"times must not be negative, but {np.count_nonzero(negative)} of {times.size} are "
            f"(first: {times[negative].flat[0]:g})."
        )
    return table, times


def _rounded(curves: FloatArray, given: Any) -> FloatArray:
    """Curves that came in single precision without what rounding there does to them."""
    if "float32" not in str(getattr(given, "dtype", "")):
        return curves
    nearest = np.clip(curves, 0.0, 1.0)
    curves = np.where(np.abs(nearest - curves) <= _SINGLE_ROUNDING, nearest, curves)
    level = np.minimum.accumulate(curves, axis=-1)
    return np.where(curves - level <= _SINGLE_ROUNDING, level, curves)


def _after_zero(survival: FloatArray, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Curves without the time 0, at which survival has to be 1, for the interpolation begins there by itself."""
    at_zero = grid[:, 0] == 0
    gone = (survival[:, 0] < 1 - _ROUNDING) & at_zero
    if gone.any():
        raise ParameterError(
            f"survival at time 0 must be 1, but {np.count_nonzero(gone)} of {gone.size} curves begin lower (first: "
            f"row {int(np.argmax(gone))}, {survival[np.argmax(gone), 0]:g}). Leave out time 0 to spread those events "
            "evenly up to the next time, or divide each curve by its first value to leave them out."
        )
    if not at_zero.all():
        return survival, grid
    if grid.shape[1] == 1:
        raise ParameterError("times must have at least one after 0, but 0 is the only one.")
    return survival[:, 1:], grid[:, 1:]

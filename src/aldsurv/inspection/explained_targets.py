"""What an explanation explains: a few numbers per row of a prediction, with their name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, Number, check
from aldsurv.data.event_columns import cause_number
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import quoted

__all__ = ["ExplainedTarget", "explained_target"]

FloatArray = NDArray[np.float64]

_SUMMARIES = ("median", "mean", "restricted_mean")
_TIMES = 20


@final
@dataclass(frozen=True, eq=False)
class ExplainedTarget:
    """Numbers that are explained.

    Attributes
    ----------
    name
        What they are, for tables and plots.
    times
        The time of each (m,); None if there is one number per row that is no curve.
    predict
        Gives them (n, m) for covariates.
    """

    name: str
    times: FloatArray | None
    predict: Callable[[Any], FloatArray]


def explained_target(
    model: SurvivalEstimator,
    *,
    times: ArrayLike | None = None,
    summary: str | None = None,
    cause: int | str | None = None,
    since: float | None = None,
    horizon: float | None = None,
) -> ExplainedTarget:
    """The target that the arguments of `shapley_values` name.

    Parameters
    ----------
    model
        A fitted model.
    times, summary, cause, since, horizon
        As in `shapley_values`.
    """
    if since is not None:
        check("since", since, Number(0))
    condition = "" if not since else f", event-free at {since:g}"
    if summary is not None:
        if times is not None or cause is not None:
            raise ParameterError(
                "summary cannot be combined with times or cause, which name what is explained.", argument="summary"
            )
        check("summary", summary, Choice(_SUMMARIES))
        return _summary_target(model, summary, since, horizon, condition)
    if horizon is not None:
        raise ParameterError("horizon is that of summary='restricted_mean', which is not given.", argument="horizon")
    grid = _checked_times(model, times, since)
    if cause is None:
        return ExplainedTarget(
            f"survival{condition}",
            grid,
            lambda X: np.asarray(_survivors(model, X, since).survival(grid), np.float64),
        )
    if model.causes_ is None:
        # Says which models have causes.
        model.predict_incidence(None)
    names = model.causes_ or ()
    number = cause_number(cause, names)

    def incidence(X: Any) -> FloatArray:
        predicted = model.predict_incidence(X)
        if since:
            predicted = predicted.conditional(since)
        return np.asarray(predicted.incidence(grid, number), np.float64)

    return ExplainedTarget(f"probability of {names[number - 1]}{condition}", grid, incidence)


def _summary_target(
    model: SurvivalEstimator, summary: str, since: float | None, horizon: float | None, condition: str
) -> ExplainedTarget:
    if summary != "restricted_mean":
        if horizon is not None:
            problem = f"horizon is that of the restricted mean, but summary is {summary!r}."
            raise ParameterError(problem, argument="horizon")
        return ExplainedTarget(
            f"{summary}{condition}",
            None,
            lambda X: np.asarray(getattr(_survivors(model, X, since), summary)(), np.float64).reshape(-1, 1),
        )
    until = model.follow_up_ if horizon is None else float(horizon)
    check("horizon", until, Number(0, above=True))
    if since and until <= since:
        raise ParameterError(
            f"horizon must be after since, {since:g}, but is {until:.4g}.", argument="horizon" if horizon else "since"
        )
    return ExplainedTarget(
        f"mean up to {until:.4g}{condition}",
        None,
        lambda X: np.asarray(_survivors(model, X, since).restricted_mean(until), np.float64).reshape(-1, 1),
    )


def _survivors(model: SurvivalEstimator, X: Any, since: float | None) -> Any:
    predicted = model.predict_distribution(X)
    return predicted.conditional(since) if since else predicted


def _checked_times(model: SurvivalEstimator, times: ArrayLike | None, since: float | None) -> FloatArray:
    start = since or 0.0
    if times is None:
        # Steps of equal length up to the end of follow-up, beyond which nothing was observed.
        end = model.follow_up_
        if not end > start:
            raise ParameterError(
                f"since must be before the end of follow-up, {end:.4g}, but is {start:g}. Give times.", argument="since"
            )
        return np.linspace(start, end, _TIMES + 1)[1:]
    try:
        grid = np.atleast_1d(np.asarray(times, np.float64))
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but are {quoted(times, 60)}.", argument="times") from None
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or (grid < start).any():
        numbers = ", ".join(f"{each:g}" for each in grid.ravel()[:8])
        reason = ", until when nothing happened" if start else ""
        raise ParameterError(f"times must be numbers from {start:g} on{reason}, but are {numbers}.", argument="times")
    return grid

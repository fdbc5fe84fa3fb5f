"""What a model predicts on average as one column changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Number, check
from aldsurv.data.event_columns import cause_number
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.models.base import SurvivalEstimator
from aldsurv.plain_numbers import plain_number

__all__ = ["PartialDependence", "partial_dependence"]

FloatArray = NDArray[np.float64]
Summary: TypeAlias = "str | Callable[[SurvivalDistribution], ArrayLike]"

_SUMMARIES = ("median", "mean", "mode")
# The effect of a numeric column of so few values is shown value by value, as of levels.
_FEW = 5
# Rows predicted at once: curves of many steps take memory.
_BLOCK = 1000


@final
@dataclass(frozen=True, eq=False)
class PartialDependence:
    """What the predictions are on average when one column has each of some values in all rows.

    Attributes
    ----------
    name
        The column.
    values
        Values that it was given (m,): numbers in ascending order, or levels.
    individual
        Summary of each row's prediction at each value (rows, m).
    summary
        What was predicted: its name.
    numeric
        Whether the values are points on an axis, and not levels.
    observed
        Values of the column in the table, without gaps.
    level
        Share of the rows between `lower` and `upper`.
    """

    name: str
    values: NDArray[Any]
    individual: FloatArray
    summary: str
    numeric: bool
    observed: NDArray[Any]
    level: float = 0.8

    @property
    def mean(self) -> FloatArray:
        """Mean over the rows (m,): the partial dependence."""
        return np.asarray(self.individual.mean(axis=0))

    @property
    def lower(self) -> FloatArray:
        """Lower end (m,) of the central share of the rows."""
        return np.asarray(np.quantile(self.individual, (1 - self.level) / 2, axis=0))

    @property
    def upper(self) -> FloatArray:
        """Upper end (m,) of the central share of the rows."""
        return np.asarray(np.quantile(self.individual, (1 + self.level) / 2, axis=0))

    @property
    def span(self) -> float:
        """Largest mean less the smallest: how far the column moves the average prediction."""
        return float(np.ptp(self.mean))


def partial_dependence(
    model: SurvivalEstimator,
    X: object,
    column: str | int,
    *,
    grid: ArrayLike | int = 20,
    summary: Summary | None = None,
    cause: int | str | None = None,
    time: float | None = None,
    sample: int | None = 200,
    level: float = 0.8,
    random_state: Any = 0,
) -> PartialDependence:
    """What is predicted on average if `column` had one value in all rows, for each of several values (Friedman 2001).

    The other columns stay as they are, so that some combinations may not occur in reality. The curves of the single
    rows, of which this is the mean, show how much the effect differs between rows.

    Parameters
    ----------
    model
        A fitted model.
    X
        Rows to take the other columns from.
    column
        Name or position of the column.
    grid
        The values, or how many: quantiles from 5 to 95 % of a numeric column, all values if there are no more than
        that; of a column of levels (text, yes/no, or listed in `categorical` of the model) the most frequent ones.
    summary
        ``"median"``, ``"mean"``, ``"mode"``, one of the parameters that the model predicts (`predict_parameters`), or
        a function that gives one number per row of a distribution. None: the median, or what `cause` says.
    cause, time
        In place of `summary`, of a model with causes: the predicted probability of the event of that cause, by number
        or name, by that time.
    sample
        Number of rows, drawn at random, that are used; None for all.
    level
        Share of the rows between ``lower`` and ``upper``.
    random_state
        Seed or generator of the rows drawn.

    Examples
    --------
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = {"age": rng.normal(size=300)}
    >>> y = np.exp(x["age"]) * rng.weibull(2.0, 300), np.ones(300, bool)
    >>> effect = partial_dependence(WeibullAFT().fit(x, y), x, "age", grid=[-1.0, 0.0, 1.0])
    >>> (effect.mean / effect.mean[1]).round(1)
    array([0.4, 1. , 2.8])
    """
    check("level", level, Number(0, 1, above=True, below=True))
    table = CovariateTable.of(X)
    place = table.place(column)
    observed = _without_gaps(table.columns[place])
    numeric, values = _grid(model, table, place, observed, grid)
    rows = np.arange(len(table))
    if sample is not None and sample < len(table):
        rows = np.sort(np.random.default_rng(random_state).choice(len(table), sample, replace=False))
    repeated = table.rows(np.repeat(rows, len(values))).replaced(place, np.tile(values, len(rows)))
    name, predict = _prediction(model, summary) if cause is None else _incidence(model, summary, cause, time)
    blocks = [
        predict(repeated.rows(np.arange(start, min(start + _BLOCK, len(repeated)))).given)
        for start in range(0, len(repeated), _BLOCK)
    ]
    individual = np.concatenate(blocks).reshape(len(rows), len(values))
    return PartialDependence(table.names[place], values, individual, name, numeric, observed, level)


def _without_gaps(column: NDArray[Any]) -> NDArray[Any]:
    """The values that are not missing."""
    if column.dtype.kind in "biu":
        return column
    if column.dtype.kind == "f":
        return np.asarray(column[~np.isnan(column)])
    there = np.array([value is not None and value == value for value in column.tolist()], np.bool_)
    return np.asarray(column[there])


def _grid(
    model: SurvivalEstimator, table: CovariateTable, place: int, observed: NDArray[Any], grid: ArrayLike | int
) -> tuple[bool, NDArray[Any]]:
    """Whether the column is one of numbers, and the values to give it."""
    given = model.get_params().items()
    # Also of an estimator within another.
    listed = next((value for name, value in given if name.split("__")[-1] == "categorical" and value), ())
    numeric = observed.dtype.kind in "iuf" and not {table.keys[place], place} & set(listed)
    if not isinstance(grid, (int, np.integer)):
        values = np.asarray(grid, None if numeric else observed.dtype)
        if values.ndim != 1 or not values.size:
            raise ParameterError(f"grid must be a number or a list of values, but is {grid!r:.60}.")
        return numeric, values
    if isinstance(grid, bool) or grid < 2:
        raise ParameterError(f"grid must be 2 values or more, but is {grid!r}.")
    if not observed.size:
        raise ParameterError(f"column {table.names[place]!r} holds no values. Choose another column.")
    levels, counts = _levels(observed)
    if not numeric:
        most_frequent = np.sort(np.argsort(-counts, kind="stable")[:grid])
        return False, levels[most_frequent]
    if len(levels) <= grid:
        return len(levels) > _FEW, levels
    return True, np.unique(np.quantile(observed, np.linspace(0.05, 0.95, int(grid))))


def _levels(observed: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Distinct values in order, with how often each is there."""
    if observed.dtype != object:
        return np.unique(observed, return_counts=True)
    counts: dict[Any, int] = {}
    for value in observed.tolist():
        counts[value] = counts.get(value, 0) + 1
    ordered = sorted(counts, key=str)
    levels = np.empty(len(ordered), object)
    levels[:] = ordered
    return levels, np.array([counts[value] for value in ordered], np.intp)


def _prediction(model: SurvivalEstimator, summary: Summary | None) -> tuple[str, Callable[[Any], FloatArray]]:
    """What is predicted of each row: its name, and a function of covariates."""
    summary = "median" if summary is None else summary
    if callable(summary):
        name = str(getattr(summary, "__name__", "prediction"))
        return name, lambda X: np.asarray(summary(model.predict_distribution(X)), np.float64)
    if summary in _SUMMARIES:
        return summary, lambda X: np.asarray(getattr(model.predict_distribution(X), summary)(), np.float64)
    if summary in model.parameter_names:
        return summary, lambda X: model.predict_parameters(X)[summary]
    raise ParameterError(
        f"summary must be one of {', '.join((*_SUMMARIES, *model.parameter_names))} or a function of a distribution, "
        f"but is {summary!r:.60}.",
        argument="summary",
    )


def _incidence(
    model: SurvivalEstimator, summary: Summary | None, cause: int | str, time: float | None
) -> tuple[str, Callable[[Any], FloatArray]]:
    """The same for the incidence of a cause by a time."""
    if summary is not None:
        raise ParameterError("summary cannot be combined with cause, whose incidence is shown.", argument="summary")
    if time is None:
        raise ParameterError("cause needs the time by which its event may come, such as time=36.", argument="time")
    check("time", time, Number(0))
    when = float(time)
    if model.causes_ is None:
        model.predict_incidence(None)
    names = model.causes_ or ()
    name = f"probability of {names[cause_number(cause, names) - 1]} by {plain_number(when)}"
    return name, lambda X: np.asarray(model.predict_incidence(X).incidence(when, cause), np.float64)

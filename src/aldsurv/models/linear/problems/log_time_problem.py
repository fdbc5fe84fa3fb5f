"""The likelihood of a location and scale of log time, as a problem to be solved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, Standard
from aldsurv.models.linear.linear_fit import InMemoryProblem, LinearProblem
from aldsurv.models.linear.linear_survival import number_of_events
from aldsurv.models.linear.newton import Evaluation, NoMaximumError

__all__ = [
    "LEAST_SHARE",
    "LocationProblem",
    "LogTimeProblem",
    "guarded",
    "log_times",
    "rows_with_information",
    "start_at",
    "start_without_columns",
]

FloatArray = NDArray[np.float64]

# Below it the spread of log time counts as 0: the likelihood is unbounded where columns explain the times exactly.
_LEAST_LOG_SIGMA = -14.0
# With a ridge the spread of log time stays above about this share of what it is without columns.
LEAST_SHARE = 1e-3


class LocationProblem(LinearProblem):
    """An intercept before the slopes and log σ after them.

    Attributes
    ----------
    last
        What messages call log σ.
    without_columns
        The intercept and log σ at which a search begins (2,).
    """

    before: int = 1
    after: int = 1

    last: str
    without_columns: FloatArray

    @abstractmethod
    def sums(self, columns: Any) -> Callable[[FloatArray], Evaluation]:
        """The log-likelihood of all rows."""

    def likelihood(self, columns: Any, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        """As in the base."""
        least = LEAST_SHARE * float(np.exp(self.without_columns[-1]))
        return guarded(self.sums(columns), ridge * least**2)

    def start(self, columns: int) -> FloatArray:
        """As in the base."""
        return np.concatenate([self.without_columns[:1], np.zeros(columns), self.without_columns[-1:]])

    def longest(self, columns: int) -> FloatArray:
        """As in the base."""
        return np.append(np.full(1 + columns, np.inf), 1.0)

    def parameters(self, names: list[str]) -> list[str]:
        """As in the base."""
        return ["intercept", *names, self.last]


@final
class LogTimeProblem(LocationProblem, InMemoryProblem):
    """The likelihood of some columns of rows in memory."""

    def __init__(
        self,
        x: FloatArray,
        names: list[str],
        spread: FloatArray,
        rows: SurvivalData,
        standard: Standard,
        last: str,
        clusters: NDArray[np.intp] | None,
    ) -> None:
        super().__init__(x, names, spread, number_of_events(rows), clusters)
        self._data, self._standard, self.last = rows, standard, last
        self.without_columns = start_without_columns(rows)

    def sums(self, columns: FloatArray) -> Callable[[FloatArray], Evaluation]:
        """As in the base."""
        return self._of_rows(columns)

    def scores(self, columns: FloatArray, point: FloatArray) -> FloatArray:
        """As in the base."""
        return self._of_rows(columns).scores(point)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        """As in the base."""
        columns = np.column_stack([np.ones(len(self.x)), self.x])
        weights = self._data.weights
        return columns.T @ (weights[:, None] * columns), weights.sum() * np.append(1.0, self.spread**2)

    def _of_rows(self, columns: FloatArray) -> LogTimeLikelihood:
        return LogTimeLikelihood(np.column_stack([np.ones(len(columns)), columns]), self._data, self._standard)


def rows_with_information(data: SurvivalData, smallest: float | None = None) -> tuple[SurvivalData, NDArray[np.intp]]:
    """Rows that hold information on a positive time, with positive times, and their numbers.

    An event at 0 is one at or before the smallest time above 0: `smallest`, or that of these rows.
    """
    # An event at or before 0 is one at 0.
    early = data.left_censored & (data.upper <= 0)
    if early.any():
        lower = np.where(early, data.upper, data.lower)
        data = SurvivalData.interval(lower, data.upper, entry=data.entry, weight=data.weight, group=data.group)
    rows = np.flatnonzero((data.weights > 0) & ~(data.right_censored & (data.lower <= 0)))
    return (with_log_times(data[rows], smallest) if rows.size else data[rows]), rows


def log_times(data: SurvivalData) -> FloatArray:
    """Logarithms of the times, or of a bound of each row."""
    low, high = data.lower, data.upper
    return np.log(np.where(np.isfinite(low) & (low > 0), low, high))


def start_without_columns(data: SurvivalData) -> FloatArray:
    """Mean and logarithm of the spread of the logarithms of the times or their bounds (2,)."""
    values = log_times(data)
    middle = float(np.average(values, weights=data.weights))
    return start_at(middle, float(np.sqrt(np.average((values - middle) ** 2, weights=data.weights))))


def start_at(middle: float, spread: float) -> FloatArray:
    """An intercept and log σ to begin with (2,)."""
    return np.array([middle, np.log(max(spread, 0.1))])


def guarded(evaluate: Callable[[FloatArray], Evaluation], cost: float) -> Callable[[FloatArray], Evaluation]:
    """The function less ``½·cost/σ²``; without a cost, an error where σ goes to 0."""

    def guarded(point: FloatArray) -> Evaluation:
        if point[-1] < _LEAST_LOG_SIGMA:
            raise NoMaximumError(
                "the likelihood grows without end as the spread of log time goes to 0: all times are the same, or the "
                "columns explain them exactly. Check the time column, or leave columns out.",
                collapsed=True,
            )
        value, gradient, information = evaluate(point)
        barrier = cost * float(np.exp(-2 * point[-1]))
        gradient[-1] += barrier
        information[-1, -1] += 2 * barrier
        return Evaluation(value - barrier / 2, gradient, information)

    return guarded

"""Accelerated failure times: Weibull and log-normal regression."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.time_zero import with_log_times
from aldsurv.errors import DataError
from aldsurv.models.file_entries import require
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, SmallestExtreme, Standard, StandardNormal
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import LinearProblem, solve
from aldsurv.models.linear.linear_survival import States, UserUnit, number_of_events, spreads
from aldsurv.models.linear.newton import Evaluation, NoMaximumError, maximise
from aldsurv.models.linear.ridge_survival import RIDGE_RANGE, RidgeSurvival
from aldsurv.models.linear.sandwich import clusters_of
from aldsurv.models.search_space import SearchSpace

__all__ = [
    "AcceleratedFailureTime",
    "LogNormalAFT",
    "WeibullAFT",
    "check_log_sigma",
    "informative_rows",
    "least_spread",
    "location_and_scale",
    "log_time_unit",
    "rows_with_information",
    "rows_with_location",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Below it the spread of log time counts as 0: the likelihood is unbounded where columns explain the times exactly.
_LEAST_LOG_SIGMA = -14.0
# Of a file.
_LARGEST_LOG_SIGMA = 50.0
# With a ridge the spread of log time stays above about this share of what it is without columns.
_LEAST_SHARE = 1e-3
# Beyond e^300 squares would overflow.
_LARGEST_LOG = 300.0


@dataclass(kw_only=True, eq=False, repr=False)
class AcceleratedFailureTime(RidgeSurvival):
    """``log T = β0 + β·x + σ·Z``: columns multiply the time, the shape is the same for all rows.

    Exact, right-, left- and interval-censored rows, with delayed entry and weights. An event at time 0 is taken as one
    at or before the smallest time above 0.

    Parameters
    ----------
    ridge
        Penalty ``½·ridge·Σ(β·s)²``, s the standard deviation of a column; the intercept has none. So that there always
        is a maximum, also ``½·ridge·(s/1000σ)²``, s the standard deviation of log time: negligible unless σ is tiny.
    robust, categorical, point, unit
        As in `RidgeSurvival`.

    Attributes
    ----------
    coefficients_
        Table of ``intercept``, the columns and the logarithm of shape or σ, with standard errors and time ratios.
    aic_
        Akaike's criterion.
    covariance_, model_covariance_, dropped_, penalty_, log_likelihood_
        As in `RidgeSurvival`; the log-likelihood is in the unit of the data.
    """

    ridge: float = field(default=0.0, kw_only=False)

    RATIO_NAME: ClassVar[str] = "time ratio"
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "log_likelihood")
    # Name of the last parameter, and its sign as a multiple of log σ.
    LAST_PARAMETER: ClassVar[tuple[str, float]]

    @property
    def aic_(self) -> float:
        """Akaike's criterion: twice the number of parameters less twice the log-likelihood."""
        self._require_fitted()
        return 2 * (self.standardised_.size - len(self.dropped_) - self.log_likelihood_)

    @abstractmethod
    def _standard(self) -> Standard:
        """Distribution of ``(log T - μ)/σ``."""

    def _location_and_scale(self, X: object) -> tuple[FloatArray, float]:
        """μ of each row, and σ."""
        self._require_fitted()
        return rows_with_location(self.standardised_, self.design_.numbers(X, type(self).__name__))

    def _check_estimates(self, estimates: FloatArray) -> None:
        super()._check_estimates(estimates)
        check_log_sigma(estimates)

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        rows, numbers = informative_rows(data, type(self).__name__)
        spread = spreads(x, data.weights)
        problem = _LogTimeProblem(x[numbers], design.names, spread, rows, self._standard(), self.LAST_PARAMETER[0])
        return (solve(problem, self.ridge, clusters_of(rows, self.robust)),)

    def _to_users_unit(self, design: Design) -> UserUnit:
        return log_time_unit(design, *self.LAST_PARAMETER)

    def _kind(self) -> str:
        return f"accelerated failure time, AIC {self.aic_:.2f}"


@final
class _LogTimeProblem(LinearProblem):
    """The likelihood of some columns, with an intercept before and log σ after them."""

    before: int = 1
    after: int = 1

    def __init__(
        self, x: FloatArray, names: list[str], spread: FloatArray, rows: SurvivalData, standard: Standard, last: str
    ) -> None:
        super().__init__(x, names, spread, number_of_events(rows))
        self._rows, self._standard, self._last = rows, standard, last
        self._start = _start(rows, 1)

    def likelihood(self, columns: FloatArray, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        with_ones = np.column_stack([np.ones(len(columns)), columns])
        least = _LEAST_SHARE * float(np.exp(self._start[-1]))
        return _guarded(LogTimeLikelihood(with_ones, self._rows, self._standard), ridge * least**2)

    def scores(self, columns: FloatArray, point: FloatArray) -> FloatArray:
        with_ones = np.column_stack([np.ones(len(columns)), columns])
        return LogTimeLikelihood(with_ones, self._rows, self._standard).scores(point)

    def start(self, columns: int) -> FloatArray:
        return np.concatenate([self._start[:1], np.zeros(columns), self._start[-1:]])

    def gram(self) -> tuple[FloatArray, FloatArray]:
        columns = np.column_stack([np.ones(len(self.x)), self.x])
        weights = self._rows.weights
        return columns.T @ (weights[:, None] * columns), weights.sum() * np.append(1.0, self.spread**2)

    def longest(self, columns: int) -> FloatArray:
        return np.append(np.full(1 + columns, np.inf), 1.0)

    def parameters(self, names: list[str]) -> list[str]:
        return ["intercept", *names, self._last]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class WeibullAFT(AcceleratedFailureTime):
    """Weibull times whose logarithm of the scale is linear in the columns, with one shape for all rows.

    It is a proportional hazards model, too: log hazard ratios are minus the coefficients times the shape. Parameters,
    attributes and kinds of rows are those of `AcceleratedFailureTime`: ``ridge``, ``robust``, ``categorical``,
    ``point``, ``unit``; the table of coefficients ends with ``log(shape)``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> event_time, censoring = 10 * np.exp(x[:, 0]) * rng.weibull(2, 500), rng.exponential(30, 500)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> print(WeibullAFT().fit(x, y).coefficients_)
                coefficient  std. error      z        p  time ratio              95 %
    intercept         2.272     0.02814  80.71  <0.0001      9.6943  9.1740 – 10.2441
    x0                1.065     0.02895  36.78  <0.0001      2.8999   2.7399 – 3.0692
    log(shape)       0.6939     0.04001  17.34  <0.0001      2.0014   1.8505 – 2.1647
    """

    LAST_PARAMETER: ClassVar[tuple[str, float]] = ("log(shape)", -1.0)

    def predict_distribution(self, X: object) -> Weibull:
        """The Weibull distribution of each row."""
        mu, sigma = self._location_and_scale(X)
        return Weibull(scale=np.exp(mu), shape=np.full_like(mu, 1 / sigma))

    def _standard(self) -> Standard:
        return SmallestExtreme()


@final
@dataclass(kw_only=True, eq=False, repr=False)
class LogNormalAFT(AcceleratedFailureTime):
    """Log-normal times whose mean logarithm is linear in the columns, with one standard deviation for all rows.

    Parameters, attributes and kinds of rows are those of `AcceleratedFailureTime`: ``ridge``, ``robust``,
    ``categorical``, ``point``, ``unit``; the table of coefficients ends with ``log(sigma)``.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> seen = np.ceil(np.exp(2 + x[:, 0] + rng.normal(size=500)))      # known to the day: in (seen - 1, seen]
    >>> model = LogNormalAFT().fit(x, SurvivalData.interval(seen - 1, seen))
    >>> model.coefficients_["x0"].coefficient, model.coefficients_["log(sigma)"].ratio
    (1.011, 0.939)
    """

    LAST_PARAMETER: ClassVar[tuple[str, float]] = ("log(sigma)", 1.0)

    def predict_distribution(self, X: object) -> LogNormal:
        """The log-normal distribution of each row."""
        mu, sigma = self._location_and_scale(X)
        return LogNormal(mu=mu, sigma=np.full_like(mu, sigma))

    def _standard(self) -> Standard:
        return StandardNormal()


def rows_with_information(data: SurvivalData) -> tuple[SurvivalData, IntArray]:
    """Rows that hold information on a positive time, with positive times, and their numbers."""
    # An event at or before 0 is one at 0.
    early = data.left_censored & (data.upper <= 0)
    if early.any():
        lower = np.where(early, data.upper, data.lower)
        data = SurvivalData.interval(lower, data.upper, entry=data.entry, weight=data.weight, group=data.group)
    rows = np.flatnonzero((data.weights > 0) & ~(data.right_censored & (data.lower <= 0)))
    return (with_log_times(data[rows]) if rows.size else data[rows]), rows


def informative_rows(data: SurvivalData, owner: str) -> tuple[SurvivalData, IntArray]:
    """What `rows_with_information` gives; an error if they are too few for a location and a scale."""
    rows, numbers = rows_with_information(data)
    if numbers.size < 2:
        raise DataError(
            f"{owner} needs at least two rows with a time above 0 and a positive weight, "
            f"but has n_samples={numbers.size}.",
            argument="y",
        )
    return rows, numbers


def rows_with_location(standardised: FloatArray, x: FloatArray) -> tuple[FloatArray, float]:
    """μ of each row of numbers (n, d), and σ, by an intercept, the slopes and log σ."""
    mu = standardised[0] + x @ standardised[1:-1]
    return np.clip(mu, -_LARGEST_LOG, _LARGEST_LOG), float(np.exp(standardised[-1]))


def check_log_sigma(estimates: FloatArray) -> None:
    """Refuse a spread of log time of a file that no rows lead to."""
    require(abs(float(estimates[-1])) <= _LARGEST_LOG_SIGMA, "its spread of log time is out of range")


def log_time_unit(design: Design, last_parameter: str, sign: float) -> UserUnit:
    """How an intercept, slopes and log σ become those of the user's columns, the last times `sign`."""
    factors = np.concatenate([[1.0], design.per_unit, [sign]])
    # The intercept is where all columns are 0, not at their means.
    with np.errstate(over="ignore"):
        intercept = np.concatenate([[1.0], -design.centres / design.scales, [0.0]])
    return UserUnit(["intercept", *design.names, last_parameter], factors, intercept)


def location_and_scale(data: SurvivalData, standard: Standard) -> tuple[float, float]:
    """μ and σ without columns, of rows from `rows_with_information`; σ is kept off 0."""
    start = _start(data, 1)
    likelihood = LogTimeLikelihood(np.ones((len(data), 1)), data, standard)
    (mu, log_sigma), _ = maximise(
        _guarded(likelihood, least_spread(data) ** 2),
        start,
        names=["location", "scale"],
        longest=np.array([np.inf, 1.0]),
    )
    return float(mu), float(np.exp(log_sigma))


def least_spread(data: SurvivalData) -> float:
    """What a penalty keeps the spread of log time above, about, for rows from `rows_with_information`."""
    return _LEAST_SHARE * float(np.exp(_start(data, 1)[-1]))


def _start(data: SurvivalData, columns: int) -> FloatArray:
    """No effect of any column; mean and spread of the logarithms of the times or their bounds."""
    low, high = data.lower, data.upper
    log_times = np.log(np.where(np.isfinite(low) & (low > 0), low, high))
    middle = float(np.average(log_times, weights=data.weights))
    spread = float(np.sqrt(np.average((log_times - middle) ** 2, weights=data.weights)))
    start = np.zeros(columns + 1)
    start[0], start[-1] = middle, np.log(max(spread, 0.1))
    return start


def _guarded(evaluate: Callable[[FloatArray], Evaluation], cost: float) -> Callable[[FloatArray], Evaluation]:
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

"""Likelihood of a location and scale of log time, with exact first and second derivatives.

``z = (log t - μ)/σ`` has a standard density f; a row adds a function of one z, or of two if it is an interval.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.censored_likelihood import EXACT, INTERVAL, LEFT, RIGHT, row_kinds
from aldsurv.models.linear.newton import Evaluation

__all__ = ["LogTimeLikelihood", "RowSlopes", "SmallestExtreme", "Standard", "StandardNormal"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# The probability of a narrower interval of log time is its density times its width; by differences the second
# derivatives would be lost in rounding.
_NARROW = 1e-5


class Standard(ABC):
    """A density on the line: its logarithm with two derivatives, and the logarithms of its two tails."""

    @abstractmethod
    def log_density(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """``log f`` and its first and second derivative."""

    @abstractmethod
    def log_survival(self, z: FloatArray) -> FloatArray:
        """``log P(Z > z)``."""

    @abstractmethod
    def log_cdf(self, z: FloatArray) -> FloatArray:
        """``log P(Z ≤ z)``."""

    def log_probability(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """``log P(low < Z ≤ high)``, by the smaller of the two tails."""
        log_probability = np.empty_like(low)
        late = low > 0
        near, far = self.log_survival(low[late]), self.log_survival(high[late])
        log_probability[late] = near + _log1mexp(far - near)
        near, far = self.log_cdf(high[~late]), self.log_cdf(low[~late])
        log_probability[~late] = near + _log1mexp(far - near)
        return log_probability


@final
class SmallestExtreme(Standard):
    """Log of a Weibull time: ``P(Z > z) = exp(-exp(z))``."""

    def log_density(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """As in the base."""
        hazard = _exp(z)
        return z - hazard, 1 - hazard, -hazard

    def log_survival(self, z: FloatArray) -> FloatArray:
        """As in the base."""
        return -_exp(z)

    def log_cdf(self, z: FloatArray) -> FloatArray:
        """As in the base; where the cumulative hazard is tiny, F is that."""
        return np.where(z < -40, z, _log1mexp(-_exp(np.maximum(z, -40.0))))


@final
class StandardNormal(Standard):
    """Log of a log-normal time."""

    def log_density(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """As in the base."""
        return -0.5 * z**2 - 0.5 * math.log(2 * math.pi), -z, -np.ones_like(z)

    def log_survival(self, z: FloatArray) -> FloatArray:
        """As in the base."""
        return self.log_cdf(-z)

    def log_cdf(self, z: FloatArray) -> FloatArray:
        """As in the base."""
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(z))


class RowSlopes(NamedTuple):
    """Of each row: the value, and its derivatives by μ and log σ."""

    value: FloatArray
    by_mu: FloatArray
    by_log: FloatArray
    mu_mu: FloatArray
    mu_log: FloatArray
    log_log: FloatArray


@final
class LogTimeLikelihood:
    """The log-likelihood as a function of the coefficients of μ and, last, log σ.

    Parameters
    ----------
    x
        Columns (n, d), the first of them ones.
    data
        Rows of any kind with positive times and weights.
    standard
        The distribution of ``(log t - μ)/σ``.
    """

    def __init__(self, x: FloatArray, data: SurvivalData, standard: Standard) -> None:
        self._x, self._weight, self._standard = x, data.weights, standard
        kinds, since = row_kinds(data)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._low, self._high = np.log(np.maximum(since, 0.0)), np.log(data.upper)
            entry = np.full(len(data), -np.inf) if data.entry is None else np.log(np.maximum(data.entry, 0.0))
            # The difference of the bounds is exact, that of their logarithms is not.
            width = np.log1p((data.upper - since) / since)
        interval = kinds == INTERVAL
        narrow = interval & (width < _NARROW)
        self._exact = np.flatnonzero((kinds == EXACT) | narrow)
        self._right, self._left = np.flatnonzero(kinds == RIGHT), np.flatnonzero(kinds == LEFT)
        self._interval = np.flatnonzero(interval & ~narrow)
        self._late = np.flatnonzero(np.isfinite(entry))
        self._entry = entry
        # The density of time is that of log time over the time; that of a narrow interval is taken times its width.
        self._constant = (
            np.log(np.where(narrow, width, 1.0)[self._exact]) - np.where(narrow, 0.0, self._low)[self._exact]
        )
        self._log_time = np.where(narrow, (self._low + self._high) / 2, self._low)

    def __call__(self, parameters: FloatArray) -> Evaluation:
        """Value, gradient and information at the parameters (d + 1,)."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mu, log_sigma = self._x @ parameters[:-1], float(parameters[-1])
            value, by_mu, by_log, mu_mu, mu_log, log_log = self.slopes(mu, log_sigma)
            w, x = self._weight, self._x
            gradient = np.append(x.T @ (w * by_mu), w @ by_log)
            information = np.empty((gradient.size, gradient.size))
            information[:-1, :-1] = -(x.T @ ((w * mu_mu)[:, None] * x))
            information[-1, :-1] = information[:-1, -1] = -(x.T @ (w * mu_log))
            information[-1, -1] = -(w @ log_log)
            return Evaluation(float(w @ value), gradient, information)

    def scores(self, parameters: FloatArray) -> FloatArray:
        """What each row adds to the gradient (n, d + 1), with its weight."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            slopes = self.slopes(self._x @ parameters[:-1], float(parameters[-1]))
        w = self._weight[:, None]
        return np.concatenate([w * slopes.by_mu[:, None] * self._x, w * slopes.by_log[:, None]], axis=1)

    def slopes(self, mu: FloatArray, log_sigma: float) -> RowSlopes:
        """Of each row (n,) its log-likelihood at μ (n,) and log σ, without its weight, and the derivatives."""
        total = RowSlopes(*np.zeros((6, len(mu))))
        sigma, standard = float(np.exp(log_sigma)), self._standard

        def z_of(rows: IntArray, log_time: FloatArray) -> FloatArray:
            return np.asarray((log_time[rows] - mu[rows]) / sigma)

        def add(rows: IntArray, part: RowSlopes) -> None:
            for sums, values in zip(total, part, strict=True):
                sums[rows] += values

        rows = self._exact
        z = z_of(rows, self._log_time)
        value, first, second = standard.log_density(z)
        part = _chained(value + self._constant - log_sigma, first, second, z, sigma)
        add(rows, part._replace(by_log=part.by_log - 1))

        z = z_of(self._right, self._low)
        add(self._right, _chained(*_survival_slopes(standard, z), z, sigma))
        z = z_of(self._late, self._entry)
        value, first, second = _survival_slopes(standard, z)
        add(self._late, _chained(-value, -first, -second, z, sigma))

        z = z_of(self._left, self._high)
        value, (log_f, slope, _) = standard.log_cdf(z), standard.log_density(z)
        ratio = np.exp(log_f - value)
        add(self._left, _chained(value, ratio, ratio * (slope - ratio), z, sigma))

        rows = self._interval
        add(rows, _interval_slopes(standard, z_of(rows, self._low), z_of(rows, self._high), sigma))
        return total


def _survival_slopes(standard: Standard, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``log S`` and its derivatives: minus the hazard, and how that changes."""
    value, (log_f, slope, _) = standard.log_survival(z), standard.log_density(z)
    hazard = np.exp(log_f - value)
    return value, -hazard, -hazard * (slope + hazard)


def _chained(value: FloatArray, first: FloatArray, second: FloatArray, z: FloatArray, sigma: float) -> RowSlopes:
    """Derivatives by μ and log σ from those by z, which falls by 1/σ and by z with them."""
    return RowSlopes(
        value,
        -first / sigma,
        -first * z,
        second / sigma / sigma,
        (second * z + first) / sigma,
        (second * z + first) * z,
    )


def _interval_slopes(standard: Standard, low: FloatArray, high: FloatArray, sigma: float) -> RowSlopes:
    value = standard.log_probability(low, high)
    (log_low, slope_low, _), (log_high, slope_high, _) = standard.log_density(low), standard.log_density(high)
    # First and second derivatives of the log-probability by its two ends.
    by_low, by_high = -np.exp(log_low - value), np.exp(log_high - value)
    low_low, high_high = by_low * (slope_low - by_low), by_high * (slope_high - by_high)
    both = -by_low * by_high
    first = by_low + by_high
    first_z = by_low * low + by_high * high
    second_z = low_low * low + high_high * high + both * (low + high)
    second_zz = low_low * low**2 + high_high * high**2 + 2 * both * low * high
    return RowSlopes(
        value,
        -first / sigma,
        -first_z,
        (low_low + high_high + 2 * both) / sigma / sigma,
        (second_z + first) / sigma,
        second_zz + first_z,
    )


def _exp(z: FloatArray) -> FloatArray:
    """Exponential that stays finite: 0 times it must be 0, as where an event surely came before the bound."""
    return np.asarray(np.exp(np.minimum(z, 700.0)))


def _log1mexp(x: FloatArray) -> FloatArray:
    """``log(1 - exp(x))`` for x ≤ 0."""
    near = x > -math.log(2)
    return np.where(near, np.log(-np.expm1(np.where(near, x, -1.0))), np.log1p(-np.exp(np.where(near, -1.0, x))))

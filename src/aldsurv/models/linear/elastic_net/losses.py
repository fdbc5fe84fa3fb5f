"""Log-likelihoods as functions of one number per row, ``u = x·β``, and of a few parameters without a penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.aft import least_spread, location_and_scale
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, Standard
from aldsurv.models.linear.partial_likelihood import RiskSets, RiskSlopes

__all__ = ["LogTimeLoss", "PartialLoss", "RowLoss", "Slopes"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Slopes(Protocol):
    """A log-likelihood at one point: value, and derivatives by rows (n,) and by free parameters (k,)."""

    value: float
    by_row: FloatArray

    @property
    def by_free(self) -> FloatArray:
        """Derivatives by the free parameters."""

    def information(self, x: FloatArray) -> FloatArray:
        """Negative second derivatives (d + k, d + k) by coefficients of columns (n, d) and the free parameters."""


class RowLoss(ABC):
    """The log-likelihood of some rows.

    Attributes
    ----------
    weight
        Total weight of the rows, by which the log-likelihood is divided before a penalty is added.
    """

    weight: float

    @abstractmethod
    def start(self) -> FloatArray:
        """The free parameters (k,) to begin with, where all coefficients are 0."""

    @abstractmethod
    def at(self, u: FloatArray, free: FloatArray) -> Slopes | None:
        """The log-likelihood at numbers of the rows (n,) and free parameters (k,); None where it is not finite."""


@final
class _CoxSlopes:
    """Those of risk sets, with no free parameter."""

    def __init__(self, slopes: RiskSlopes) -> None:
        self.value, self.by_row, self.by_free = slopes.value, slopes.by_row, np.zeros(0)
        self.information = slopes.information


@final
class PartialLoss(RowLoss):
    """Cox's partial likelihood: u is the log risk; parameters are those of `RiskSets`."""

    def __init__(self, data: SurvivalData, ties: str, strata: IntArray | None) -> None:
        self._risk_sets = RiskSets(data, ties=ties, strata=strata)
        self.weight = data.total_weight

    def start(self) -> FloatArray:
        """None."""
        return np.zeros(0)

    def at(self, u: FloatArray, free: FloatArray) -> Slopes | None:
        """As in the base."""
        slopes = self._risk_sets.at(u)
        return _CoxSlopes(slopes) if np.isfinite(slopes.value) and np.isfinite(slopes.by_row).all() else None


@final
class _LogTimeSlopes:
    """Of the likelihood of ``Z = τ·log t - γ0 - u``, free parameters γ0 and τ."""

    def __init__(self, value: float, by_row: FloatArray, by_tau: FloatArray, second: tuple[FloatArray, ...]) -> None:
        self.value, self.by_row = value, by_row
        self.by_free = np.array([by_row.sum(), by_tau.sum()])
        self._row_row, self._row_tau, self._tau_tau = second

    def information(self, x: FloatArray) -> FloatArray:
        """As in the protocol."""
        with_one = np.column_stack([x, np.ones(len(x))])
        size = with_one.shape[1]
        information = np.empty((size + 1, size + 1))
        information[:size, :size] = -(with_one.T @ (self._row_row[:, None] * with_one))
        information[size, :size] = information[:size, size] = -(with_one.T @ self._row_tau)
        information[size, size] = -self._tau_tau.sum()
        return information


@final
class LogTimeLoss(RowLoss):
    """Accelerated failure times ``log T = (γ0 + u + Z)/τ``: ``τ = 1/σ``, u and γ0 are measured in units of σ.

    In these parameters the log-likelihood of exact and censored rows is concave (Burridge 1981), so that with a penalty
    on γ there is one minimum. A penalty on ``β = γ/τ`` would have none where columns outnumber rows: σ would go to 0 at
    a finite price, with coefficients that explain every time. ``½·(s·τ/1000)²``, s the spread of log time without
    columns, is taken off, as in `AcceleratedFailureTime`: negligible, unless all times are the same.

    Parameters
    ----------
    data
        Rows with positive times and weights.
    standard
        The distribution of Z.
    """

    def __init__(self, data: SurvivalData, standard: Standard) -> None:
        self._data, self._standard = data, standard
        self._likelihood = LogTimeLikelihood(np.ones((len(data), 1)), data, standard)
        self._cost = least_spread(data) ** 2
        self.weight = data.total_weight

    def start(self) -> FloatArray:
        """Those without columns."""
        mu, sigma = location_and_scale(self._data, self._standard)
        return np.array([mu / sigma, 1 / sigma])

    def at(self, u: FloatArray, free: FloatArray) -> Slopes | None:
        """As in the base."""
        location, tau = float(free[0]), float(free[1])
        if not tau > 0:
            return None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mu = (location + u) / tau
            value, by_mu, by_log, mu_mu, mu_log, log_log = self._likelihood.slopes(mu, -float(np.log(tau)))
            w = self._data.weights
            total = float(w @ value) - 0.5 * self._cost * tau**2
            # By the chain rule: μ = (γ0 + u)/τ, log σ = -log τ.
            by_row = w * by_mu / tau
            by_tau = -w * (mu * by_mu + by_log) / tau
            row_row = w * mu_mu / tau**2
            row_tau = -w * (mu * mu_mu + mu_log + by_mu) / tau**2
            tau_tau = w * (mu**2 * mu_mu + 2 * mu * mu_log + log_log + 2 * mu * by_mu + by_log) / tau**2
        # The price of a small σ, spread over the rows so that sums hold it.
        by_tau = by_tau - self._cost * tau / len(u)
        tau_tau = tau_tau - self._cost / len(u)
        parts = (by_row, by_tau, row_row, row_tau, tau_tau)
        if not (np.isfinite(total) and all(np.isfinite(part).all() for part in parts)):
            return None
        return _LogTimeSlopes(total, by_row, by_tau, (row_row, row_tau, tau_tau))

    def log_likelihood(self, u: FloatArray, free: FloatArray) -> float:
        """Without the price of a small σ."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            values = self._likelihood.slopes((free[0] + u) / free[1], -float(np.log(free[1]))).value
            return float(self._data.weights @ values)

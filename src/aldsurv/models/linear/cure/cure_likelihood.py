"""Likelihood of failure times some of which never come, with exact first and second derivatives.

With probability π the event never comes, ``logit π = α``; otherwise ``(log T - μ)/σ`` has a standard density.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, RowSlopes, Standard
from aldsurv.models.linear.newton import Evaluation

__all__ = ["CureLikelihood"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@final
class CureLikelihood:
    """The log-likelihood as a function of the coefficients of μ, of log σ, and of the coefficients of logit π.

    Parameters
    ----------
    x
        Columns (n, d), the first of them ones, of both μ and logit π.
    data
        Rows of any kind with positive times and weights.
    standard
        The distribution of ``(log t - μ)/σ``.
    """

    def __init__(self, x: FloatArray, data: SurvivalData, standard: Standard) -> None:
        self._x, self._weight = x, data.weights
        entry = np.full(len(data), -np.inf) if data.entry is None else data.entry
        # A left-censored row with an entry has its event between the two.
        lower = np.where(data.left_censored & (entry > 0), entry, data.lower)
        censored = data.right_censored
        self._seen = np.flatnonzero(~censored)
        known = SurvivalData.from_checked(lower[self._seen], data.upper[self._seen])
        self._known = LogTimeLikelihood(x[self._seen], known, standard)
        # Rows whose survival up to a time counts: for it where they are censored, against it where they entered late.
        late = np.flatnonzero(entry > 0)
        self._waiting = np.concatenate([np.flatnonzero(censored), late])
        self._sign = np.concatenate([np.ones(np.count_nonzero(censored)), -np.ones(late.size)])
        since = np.concatenate([data.lower[censored], entry[late]])
        waits = SurvivalData.from_checked(since, np.full(since.size, np.inf))
        self._survival = LogTimeLikelihood(x[self._waiting], waits, standard)

    def __call__(self, parameters: FloatArray) -> Evaluation:
        """Value, gradient and information at the parameters (d + 1 + d,)."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            slopes, by_cure, crossed = self._slopes(parameters)
            (cure, cure_cure), (mu_cure, log_cure) = by_cure, crossed
            w, x, d = self._weight, self._x, self._x.shape[1]
            gradient = np.concatenate([x.T @ (w * slopes.by_mu), [w @ slopes.by_log], x.T @ (w * cure)])
            information = np.empty((gradient.size, gradient.size))
            mu, cured = slice(0, d), slice(d + 1, None)
            information[mu, mu] = -(x.T @ ((w * slopes.mu_mu)[:, None] * x))
            information[cured, cured] = -(x.T @ ((w * cure_cure)[:, None] * x))
            information[mu, cured] = -(x.T @ ((w * mu_cure)[:, None] * x))
            information[cured, mu] = information[mu, cured].T
            information[d, mu] = information[mu, d] = -(x.T @ (w * slopes.mu_log))
            information[d, cured] = information[cured, d] = -(x.T @ (w * log_cure))
            information[d, d] = -(w @ slopes.log_log)
            return Evaluation(float(w @ slopes.value), gradient, information)

    def scores(self, parameters: FloatArray) -> FloatArray:
        """What each row adds to the gradient (n, 2d + 1), with its weight."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            slopes, (cure, _), _ = self._slopes(parameters)
        w = self._weight[:, None]
        parts = [slopes.by_mu[:, None] * self._x, slopes.by_log[:, None], cure[:, None] * self._x]
        return np.asarray(w * np.concatenate(parts, axis=1))

    def _slopes(self, parameters: FloatArray) -> tuple[RowSlopes, FloatArray, FloatArray]:
        """Of each row: value and derivatives by μ and log σ, those by α, once and twice, and by both."""
        n, d = self._x.shape
        mu, log_sigma, alpha = self._x @ parameters[:d], float(parameters[d]), self._x @ parameters[d + 1 :]
        # Logarithms of π and of 1 - π.
        log_cure, log_rest = -np.logaddexp(0.0, -alpha), -np.logaddexp(0.0, alpha)
        total, by_cure, crossed = np.zeros((6, n)), np.zeros((2, n)), np.zeros((2, n))

        rows = self._seen
        total[:, rows] = self._known.slopes(mu[rows], log_sigma)
        total[0, rows] += log_rest[rows]
        cure = np.exp(log_cure)
        by_cure[:, rows] = -cure[rows], -(cure * (1 - cure))[rows]

        rows, sign = self._waiting, self._sign
        own = self._survival.slopes(mu[rows], log_sigma)
        value = np.logaddexp(log_cure[rows], log_rest[rows] + own.value)
        # The chance not to be cured, of those without an event so far.
        left = np.exp(log_rest[rows] + own.value - value)
        spread = left * (1 - left)
        share = cure[rows]
        mixed = [
            value,
            left * own.by_mu,
            left * own.by_log,
            left * own.mu_mu + spread * own.by_mu**2,
            left * own.mu_log + spread * own.by_mu * own.by_log,
            left * own.log_log + spread * own.by_log**2,
        ]
        # A row may be here twice, censored and with a late entry.
        for sums, part in zip(total, mixed, strict=True):
            np.add.at(sums, rows, sign * part)
        np.add.at(by_cure[0], rows, sign * (1 - share - left))
        np.add.at(by_cure[1], rows, sign * (spread - share * (1 - share)))
        np.add.at(crossed[0], rows, -sign * spread * own.by_mu)
        np.add.at(crossed[1], rows, -sign * spread * own.by_log)
        return RowSlopes(*total), by_cure, crossed

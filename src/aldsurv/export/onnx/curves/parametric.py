"""Families whose quantiles are in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv.export.onnx.curves.base import Curve, SmoothCurve, search_quantile
from aldsurv.export.onnx.functions import expm1, normal_survival
from aldsurv.export.onnx.graph import Graph, Tensor

__all__ = ["LogNormalCurve", "WeibullCurve"]

# Quantiles of a standard normal number lie between these, whatever the level is in double precision.
_FARTHEST = 40.0
# Logarithms of cumulative hazards, and normal numbers, between which a polynomial follows the density.
_HAZARD_MARKS = (-36.0, -20.0, -8.0, -3.0, -1.0, 0.0, 0.7, 1.4, 2.0, 2.5, 3.0, 3.4, 3.8)
_NORMAL_MARKS = (-8.5, -7.0, -5.5, -4.0, -2.5, -1.0, 0.0, 1.0, 2.5, 4.0, 5.5, 7.0, 8.5)
_LEAST_TIME = float(np.finfo(np.float64).tiny)


@final
@dataclass(frozen=True, eq=False)
class WeibullCurve(SmoothCurve):
    """``S(t) = exp(-(t/scale)^shape)``, given by the logarithm of the scale (1, rows)."""

    log_scale: Tensor
    shape: Tensor

    @property
    def graph(self) -> Graph:
        """That of its parameters."""
        return self.log_scale.graph

    def _log_survival(self, times: Tensor) -> Tensor:
        positive = times > 0.0
        hazard = (self.shape * (positive.where(times, 1.0).log() - self.log_scale)).exp()
        return positive.where(-hazard, 0.0)

    def survival(self, times: Tensor) -> Tensor:
        """In closed form."""
        return self._log_survival(times).exp()

    def cdf(self, times: Tensor) -> Tensor:
        """In closed form."""
        return -expm1(self._log_survival(times))

    def log_survival(self, times: Tensor) -> Tensor:
        """In closed form."""
        return self._log_survival(times)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """In closed form."""
        return (self.log_scale + (-log_survival).log() / self.shape).exp()

    def inside(self, times: Tensor) -> Tensor:
        """The logarithm of the time."""
        return times.maximum(_LEAST_TIME).log()

    def outside(self, inside: Tensor) -> Tensor:
        """The time."""
        return inside.exp()

    def density_inside(self, inside: Tensor) -> Tensor:
        """That of the logarithm of the time."""
        log_hazard = self.shape * (inside - self.log_scale)
        return self.shape * (log_hazard - log_hazard.exp()).exp()

    def marks(self) -> Tensor:
        """Where cumulative hazards have certain values."""
        return self.log_scale + self.graph.constant(np.array(_HAZARD_MARKS)[:, None]) / self.shape

    def scaled(self, factor: float) -> WeibullCurve:
        """The same in another unit of time."""
        return WeibullCurve(self.log_scale + math.log(factor), self.shape)


@final
@dataclass(frozen=True, eq=False)
class LogNormalCurve(SmoothCurve):
    """The logarithm of the time is normal with mean μ and standard deviation σ (1, rows)."""

    mu: Tensor
    sigma: Tensor

    @property
    def graph(self) -> Graph:
        """That of its parameters."""
        return self.mu.graph

    def _z(self, times: Tensor) -> tuple[Tensor, Tensor]:
        positive = times > 0.0
        return (positive.where(times, 1.0).log() - self.mu) / self.sigma, positive

    def survival(self, times: Tensor) -> Tensor:
        """By the error function."""
        z, positive = self._z(times)
        return positive.where(normal_survival(z), 1.0)

    def cdf(self, times: Tensor) -> Tensor:
        """By the error function."""
        z, positive = self._z(times)
        return positive.where(normal_survival(-z), 0.0)

    def quantile(self, log_survival: Tensor) -> Tensor:
        """Of levels that are the same for all rows from their normal quantile, of others by a search for it."""
        if log_survival.value is not None:
            from scipy.special import ndtri_exp

            z = self.graph.constant(-np.asarray(ndtri_exp(log_survival.value)))
        else:
            ends = [log_survival * 0.0 + end for end in (-_FARTHEST, _FARTHEST)]
            z = search_quantile(_StandardNormal(self.graph), log_survival, ends[0], ends[1])
        return (self.mu + self.sigma * z).exp()

    def inside(self, times: Tensor) -> Tensor:
        """The logarithm of the time."""
        return times.maximum(_LEAST_TIME).log()

    def outside(self, inside: Tensor) -> Tensor:
        """The time."""
        return inside.exp()

    def density_inside(self, inside: Tensor) -> Tensor:
        """That of the logarithm of the time."""
        z = (inside - self.mu) / self.sigma
        return (z * z * -0.5).exp() / (self.sigma * math.sqrt(2 * math.pi))

    def marks(self) -> Tensor:
        """At certain distances from the mean."""
        return self.mu + self.sigma * self.graph.constant(np.array(_NORMAL_MARKS)[:, None])

    def scaled(self, factor: float) -> LogNormalCurve:
        """The same in another unit of time."""
        return LogNormalCurve(self.mu + math.log(factor), self.sigma)


@final
@dataclass(frozen=True, eq=False)
class _StandardNormal(Curve):
    own_graph: Graph

    @property
    def graph(self) -> Graph:
        return self.own_graph

    def survival(self, times: Tensor) -> Tensor:
        return normal_survival(times)

    def cdf(self, times: Tensor) -> Tensor:
        return normal_survival(-times)

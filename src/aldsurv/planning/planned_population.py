"""A population to be predicted: its linear predictor, its events by a horizon, and its censoring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["PlannedPopulation", "RiskPart"]

FloatArray = NDArray[np.float64]

# How far a normal linear predictor is followed, in standard deviations, and the nodes of the quadrature.
_REACH = 9.0
_NODES, _TIMES = 80, 64
_HALVINGS = 200


class RiskPart(NamedTuple):
    """People on one side of a threshold: their share, their risk by the horizon, and n times its variance."""

    share: float
    risk: float
    variance: float


@final
@dataclass(frozen=True, eq=False)
class PlannedPopulation:
    """Exponential times to the event given a normal linear predictor, exponential censoring, and the horizon 1.

    Parameters
    ----------
    risk
        Probability of the event by the horizon, over all people.
    spread
        Standard deviation of the linear predictor, on the scale of log hazards.
    censored
        Share of the people whose follow-up ends before the horizon.
    threshold
        Predicted risk that divides the people; None: nothing does.
    """

    risk: float
    spread: float
    censored: float = 0.0
    threshold: float | None = None

    @property
    def censoring_rate(self) -> float:
        """Hazard of the censoring."""
        return -math.log1p(-self.censored)

    @property
    def baseline(self) -> float:
        """Cumulative hazard at the horizon of the linear predictor 0: that which gives the risk."""
        nodes, weights = _normal_nodes(self.spread, None)
        low, high = -60.0, 60.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            reached = float(weights @ -np.expm1(-np.exp(np.minimum(middle + nodes, 60.0))))
            low, high = (middle, high) if reached < self.risk else (low, middle)
        return math.exp((low + high) / 2)

    def nodes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Linear predictors (k,), their weights, and their cumulative hazards at the horizon."""
        baseline = self.baseline
        cut = None
        if self.threshold is not None:
            cut = math.log(-math.log1p(-self.threshold) / baseline)
        nodes, weights = _normal_nodes(self.spread, cut)
        return nodes, weights, baseline * np.exp(nodes)

    def observed_share(self) -> float:
        """Share of the people of whom the event is observed by the horizon."""
        _, weights, hazards = self.nodes()
        total = hazards + self.censoring_rate
        return float(weights @ (hazards / total * -np.expm1(-total)))

    def part(self, *, above: bool | None = None) -> RiskPart:
        """All people, or those above or below the threshold.

        The variance is that of Kaplan-Meier's estimate, ``S(1)²·∫ dΛ/(S·G)`` per person: ``S(1 - S)`` without
        censoring.
        """
        _, weights, hazards = self.nodes()
        if above is not None and self.threshold is not None:
            high = hazards > -math.log1p(-self.threshold)
            chosen = high if above else ~high
            weights, hazards = weights[chosen], hazards[chosen]
        share = float(weights.sum())
        if share < 1e-12:
            return RiskPart(0.0, 0.0, 0.0)
        rate = self.censoring_rate
        times, steps = _unit_nodes(_TIMES)
        survival = np.exp(-np.outer(times, hazards)) @ weights / share
        at_end = float(np.exp(-hazards) @ weights) / share
        # By parts: ∫ dΛ/(S·G) is 1/(S·G) - 1 less the rate of censoring times ∫ 1/(S·G).
        integral = math.exp(rate) / at_end - 1 - rate * float(steps @ (np.exp(rate * times) / survival))
        return RiskPart(share, 1 - at_end, at_end**2 * integral)

    def slope_variance(self) -> float:
        """The squared standard error of the calibration slope at the horizon, times the number of people.

        The slope is that of a regression of pseudo-observations of the event by the horizon on ``ln(-ln(1 - p))``, p
        being the predicted risk, with complementary log-log link, the same weight for all people and a robust standard
        error (Riley et al. 2022); for a model that is calibrated, and in the limit of many people. A
        pseudo-observation is then ``F + S(1)·(event·a(y) - A(y))`` with y the observed time, at most 1,
        ``a = 1/(S·G)`` and ``A = ∫ a·dΛ``.
        """
        nodes, weights, hazards = self.nodes()
        variance = self._pseudo_variances(hazards, weights)
        risk_slope = hazards * np.exp(-hazards)
        design = np.stack([np.ones(nodes.size), nodes / self.spread])
        information = (design * (weights * risk_slope**2)) @ design.T
        middle = (design * (weights * risk_slope**2 * variance)) @ design.T
        inverse = np.linalg.inv(information)
        return float((inverse @ middle @ inverse)[1, 1]) / self.spread**2

    def _pseudo_variances(self, hazards: FloatArray, weights: FloatArray) -> FloatArray:
        """Variance (k,) of the pseudo-observation given each cumulative hazard."""
        rate = self.censoring_rate
        if rate == 0:
            return np.exp(-hazards) * -np.expm1(-hazards)
        times, steps = _unit_nodes(_TIMES)
        staying = np.exp(-np.outer(times, hazards))
        at_end = float(np.exp(-hazards) @ weights)
        # The integral of 1/(S·G) from 0 to each node, by the same nodes mapped into [0, u].
        inner = np.outer(times, times)
        inside = np.exp(rate * inner) / (np.exp(-inner[:, :, None] * hazards) @ weights)
        until = times * (inside @ steps)
        weight = np.exp(rate * times) / (staying @ weights)
        total = weight - 1 - rate * until
        at_horizon = math.exp(rate) / at_end - 1 - rate * float(steps @ weight)
        uncensored = np.exp(-rate * times)[:, None] * staying
        by_event = (steps * (1 + rate * until)) @ (uncensored * hazards)
        by_event_squared = (steps * (1 + rate * until) ** 2) @ (uncensored * hazards)
        by_censoring = (steps * -total) @ (uncensored * rate)
        by_censoring_squared = (steps * total**2) @ (uncensored * rate)
        beyond = np.exp(-rate - hazards)
        mean = by_event + by_censoring - beyond * at_horizon
        square = by_event_squared + by_censoring_squared + beyond * at_horizon**2
        return np.asarray(at_end**2 * (square - mean**2))


def _unit_nodes(count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _normal_nodes(spread: float, cut: float | None) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a normal distribution around 0, on both sides of a cut."""
    ends = [-_REACH * spread, 0.0, _REACH * spread]
    if cut is not None:
        ends = sorted([*ends, min(max(cut, ends[0]), ends[-1])])
    unit, weights = _unit_nodes(_NODES)
    nodes = np.concatenate([low + (high - low) * unit for low, high in pairwise(ends)])
    lengths = np.concatenate([(high - low) * weights for low, high in pairwise(ends)])
    density = np.exp(-((nodes / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
    return nodes, lengths * density / float(lengths @ density)

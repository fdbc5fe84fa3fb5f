"""Models of the study that the library does not have: ensembles over folds, a scale for AFT, no covariates at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from aldsurv.distributions import Mixture, ProportionalHazards, Step, SurvivalDistribution
from aldsurv.models.adapters import XGBoostAFT
from aldsurv.models.linear.aft import location_and_scale
from aldsurv.models.linear.aft_likelihood import StandardNormal
from aldsurv.models.linear.problems.log_time_problem import rows_with_information
from aldsurv.nonparametric import kaplan_meier

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FoldEnsemble", "ScaledAFT", "WithoutCovariates"]

FloatArray = NDArray[np.float64]


@final
class FoldEnsemble:
    """Fits of one model that each hold out another part of the rows; the prediction is the mean of their cdfs.

    Rows are ranked by the restricted mean of the mean curve up to the largest time learned from: of a single model
    with proportional hazards or a shift of log time that is its own order, and it is never infinite.

    Parameters
    ----------
    member
        The estimator that holds out part k.
    members
        How many.
    """

    def __init__(self, member: Callable[[int], Any], members: int = 5) -> None:
        self.members = [member(fold) for fold in range(members)]
        self.horizon = np.nan

    def fit(self, x: FloatArray, y: SurvivalData) -> Self:
        """Fit every member."""
        for member in self.members:
            member.fit(x, y)
        self.horizon = float(y.time.max())
        return self

    def predict_distribution(self, x: FloatArray) -> SurvivalDistribution:
        """The mean of the members' cdfs."""
        predicted = [member.predict_distribution(x) for member in self.members]
        parts = [part.to_step() if isinstance(part, ProportionalHazards) else part for part in predicted]
        if all(isinstance(part, Step) and np.array_equal(part.times, parts[0].times) for part in parts):
            return Step(parts[0].times, np.mean([part.values for part in parts], axis=0))
        return Mixture(parts)

    def predict_time(self, x: FloatArray) -> FloatArray:
        """The median of the mean curve."""
        return np.asarray(self.predict_distribution(x).median())

    def predict(self, x: FloatArray) -> FloatArray:
        """Risk: minus the restricted mean."""
        return -np.asarray(self.predict_distribution(x).restricted_mean(self.horizon))


@final
class ScaledAFT:
    """XGBoost's accelerated failure time with a scale that suits the data.

    The library does not learn the scale, and boosting with its default of 1 is far off where the logarithms of times
    lie close together. Here boosting begins with the scale of the times without covariates; what is left of it on the
    held-out rows is the scale of the fit that counts.

    Parameters
    ----------
    seed, fold
        As in `XGBoostAFT`.
    """

    def __init__(self, seed: int, fold: int = 0) -> None:
        self.seed = seed
        self.fold = fold

    def fit(self, x: FloatArray, y: SurvivalData) -> Self:
        """Fit twice."""
        rows, telling = rows_with_information(y)
        first = self._boosted(x, y, location_and_scale(rows, StandardNormal())[1])
        held_out = first.held_out_
        middle = np.asarray(first.predict_distribution(x[telling][held_out]).median())
        left = SurvivalData.interval(rows.lower[held_out] / middle, rows.upper[held_out] / middle)
        self.fitted_ = self._boosted(x, y, location_and_scale(left, StandardNormal())[1])
        return self

    def _boosted(self, x: FloatArray, y: SurvivalData, scale: float) -> XGBoostAFT:
        return XGBoostAFT(scale=scale, random_state=self.seed, fold=self.fold).fit(x, y)

    def predict_distribution(self, x: FloatArray) -> SurvivalDistribution:
        """Log-normal."""
        return self.fitted_.predict_distribution(x)

    def predict_time(self, x: FloatArray) -> FloatArray:
        """The median."""
        return self.fitted_.predict_time(x)

    def predict(self, x: FloatArray) -> FloatArray:
        """Risk: minus the median."""
        return self.fitted_.predict(x)


@final
class WithoutCovariates:
    """The Kaplan-Meier curve of the rows learned from, for everybody."""

    def fit(self, x: FloatArray, y: SurvivalData) -> Self:
        """Estimate the curve."""
        self.curve_ = kaplan_meier(y).distribution
        return self

    def predict_distribution(self, x: FloatArray) -> SurvivalDistribution:
        """The same for every row."""
        return SurvivalDistribution.concatenate([self.curve_] * len(x))

    def predict_time(self, x: FloatArray) -> FloatArray:
        """The curve's median."""
        return np.repeat(np.asarray(self.curve_.median()), len(x))

    def predict(self, x: FloatArray) -> FloatArray:
        """No row is at more risk than another."""
        return np.zeros(len(x))

"""What an estimator can say about how far the members of its ensemble disagree."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.models.prediction.member_spread import (
    Band,
    VarianceParts,
    checked_level,
    survival_band,
    time_band,
    variance_parts,
)
from aldsurv.models.prediction.point_summaries import POINTS

__all__ = ["EnsemblePredictions"]


class EnsemblePredictions(ABC):
    """The part of an estimator that is about the members of an ensemble; without one there is a single member."""

    unique_times_: NDArray[np.float64]

    @abstractmethod
    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of each row of `X`, in the unit of the training times."""

    @property
    @abstractmethod
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""

    @abstractmethod
    def _summarised(self, distribution: SurvivalDistribution, point: str) -> NDArray[np.float64]: ...

    @abstractmethod
    def _require_fitted(self) -> None: ...

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return 1

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member of an ensemble predicts for the rows of `X`, in the unit of the training times.

        `predict_distribution` is their mixture, in equal parts. Of a model that is no ensemble it is the only one.
        """
        return [self.predict_distribution(X)]

    def band_stretch(self) -> float:
        """Standard errors of the prediction in one standard deviation between the members.

        As for the prediction of a further member; models whose members hold out known shares of rows override it.
        """
        return float(np.sqrt(1 + 1 / self.n_members))

    def predict_survival_band(self, X: object, times: object, *, level: float = 0.9) -> Band:
        """Between which limits the members of an ensemble leave the survival of each row, time by time.

        Student's limits, on the scale of ``log(-log S)``, around the mean of the members, with one degree of freedom
        less than there are members. Members that each hold out other rows are what a jackknife leaves out in turn:
        the distance between them says how far the prediction would move with other rows like these. It does not
        say how far the event times of one individual spread (`SurvivalDistribution.interval` does), nor what all
        members get wrong alike. Where a member's survival is 0 or 1, the limits are the range of the members.

        Parameters
        ----------
        X
            Covariates.
        times
            A number, a vector (m,), or (n, m).
        level
            Of the limits.

        Returns
        -------
        Band
            ``lower`` and ``upper``, each as ``predict_distribution(X).survival(times)``, which lies between them.
        """
        level, members = checked_level(level), self._several_members(X)
        joint = self.predict_distribution(X)
        return survival_band(members, joint, times, level=level, stretch=self.band_stretch())

    def predict_time_band(self, X: object, *, point: str | None = None, level: float = 0.9) -> Band:
        """Between which limits the members of an ensemble leave a predicted time, as `predict_survival_band` has them.

        The scale is that of the logarithm. Where a member's time is infinite or not above 0, the limits are the range
        of the members.

        Parameters
        ----------
        X
            Covariates.
        point
            ``"median"``, ``"mean"``, ``"mode"`` or ``"restricted_mean"``; None for the one of `predict_time`.
        level
            Of the limits.

        Returns
        -------
        Band
            ``lower`` and ``upper`` (n,); the time predicted by all members together lies between them.
        """
        level, members = checked_level(level), self._several_members(X)
        name = self.error_point_ if point is None else point
        if name not in POINTS:
            raise ParameterError(f"point must be one of {', '.join(POINTS)}, but is {name!r}.")
        values = np.stack([self._summarised(one, name) for one in members])
        joint = self._summarised(self.predict_distribution(X), name)
        most = float(self.unique_times_[-1]) if name == "restricted_mean" else np.inf
        return time_band(values, joint, level=level, stretch=self.band_stretch(), most=most)

    def predict_spread(self, X: object, *, horizon: float | None = None) -> VarianceParts:
        """The variance of the predicted time of each row, and how much of it is disagreement between members.

        Parameters
        ----------
        X
            Covariates.
        horizon
            Look at the time up to here only, anything later counting as here; None for all of it. Heavy tails have no
            finite variance, but one within a horizon.

        Returns
        -------
        VarianceParts
            ``within``, ``between`` and ``total`` (n,), the sum of both.
        """
        number = isinstance(horizon, (int, float, np.number)) and not isinstance(horizon, bool)
        if horizon is not None and (not number or not 0 < horizon < np.inf):
            raise ParameterError(f"horizon must be a positive number or None, but is {horizon!r:.60}.")
        return variance_parts(self._several_members(X), horizon)

    def _several_members(self, X: object) -> list[SurvivalDistribution]:
        self._require_fitted()
        if self.n_members < 2:
            raise ParameterError(
                f"this {type(self).__name__} has one member: there is no spread between members",
                argument="members",
                advice="Take an ensemble, such as ALDSurvival(members=5).",
            )
        return self.predict_members(X)

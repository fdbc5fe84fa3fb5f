"""What the support of an asymmetric Laplace model means: its family, its link of θ, its time inside and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.families.log_asymmetric_laplace import LogAsymmetricLaplace
from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.distributions.families.positive_asymmetric_laplace import PositiveAsymmetricLaplace
from aldsurv.registry import FAMILIES

__all__ = ["LEAST_LOG_TIME", "LOG", "POSITIVE", "REAL", "SUPPORTS", "Support", "log_time_rows", "support_of"]

FloatArray = NDArray[np.float64]

# Survival at this logarithm of time is 1 under any distribution that float32 can tell from a point.
LEAST_LOG_TIME = -1e6


@final
@dataclass(frozen=True)
class Support:
    """Where the times of an asymmetric Laplace distribution lie, and everything that follows from it.

    The *time inside* is the one that has the asymmetric Laplace distribution: the time itself, or its logarithm.

    Parameters
    ----------
    name
        By which users ask for it.
    family
        The distribution of a single component.
    """

    name: str
    family: type[Parametric]

    @property
    def family_name(self) -> str:
        """The name under which the family is registered."""
        return FAMILIES.name_of(self.family)

    @property
    def theta_link(self) -> str:
        """The link of θ unless another is asked for."""
        return self.family.links()[0]

    @property
    def of_log_time(self) -> bool:
        """Whether the time inside is the logarithm; then log f(t) is the log density of log t minus log t."""
        return issubclass(self.family, LogTime)

    @property
    def cut_at_zero(self) -> bool:
        """Whether each component is conditional on a time above 0."""
        return issubclass(self.family, PositiveAsymmetricLaplace)

    @property
    def from_zero(self) -> bool:
        """Whether no probability lies below time 0."""
        return self.of_log_time or self.cut_at_zero

    @property
    def earliest(self) -> float:
        """A time inside before which no event comes."""
        return 0.0 if self.cut_at_zero else LEAST_LOG_TIME

    def training_rows(self, data: SurvivalData) -> SurvivalData:
        """The rows as a likelihood on this support reads them: of log time, none with an event at 0."""
        return self.family.training_rows(data)

    def inside(self, times: FloatArray) -> FloatArray:
        """Times inside of positive times."""
        return np.log(times) if self.of_log_time else times

    def inside_near(self, times: FloatArray) -> FloatArray:
        """Times inside of any times, of which those at 0 become very early ones."""
        return np.log(np.maximum(times, np.finfo(np.float64).tiny)) if self.of_log_time else times

    def inside_rows(
        self, time: FloatArray, entry: FloatArray | None, event: NDArray[np.bool_], offset: Any
    ) -> tuple[FloatArray, FloatArray | None, FloatArray]:
        """Times and entries inside, and the offset of each row's loss with what the density of time adds to it."""
        if self.of_log_time:
            return log_time_rows(time, entry, event, offset)
        if self.cut_at_zero and entry is not None:
            # To be event-free at 0 is certain.
            entry = np.where(entry > 0, entry, -np.inf)
        return time, entry, offset

    def inside_bounds(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds inside of events known to lie between two times."""
        if self.of_log_time:
            with np.errstate(divide="ignore"):
                return np.log(np.maximum(lower, 0.0)), np.log(upper)
        return (np.maximum(lower, 0.0) if self.cut_at_zero else lower), upper

    def condition(self, entry: FloatArray | None, rows: int) -> FloatArray | None:
        """Time inside after which the event of each row is known to come; None if nothing is known."""
        if not self.cut_at_zero:
            return entry
        return np.zeros(rows) if entry is None else np.maximum(entry, 0.0)


REAL = Support("real", AsymmetricLaplace)
POSITIVE = Support("positive", PositiveAsymmetricLaplace)
LOG = Support("log", LogAsymmetricLaplace)
SUPPORTS = {support.name: support for support in (REAL, POSITIVE, LOG)}


def support_of(family: type[SurvivalDistribution]) -> Support | None:
    """The support that a family of single asymmetric Laplace distributions has; None of any other family."""
    return next((support for support in SUPPORTS.values() if family is support.family), None)


def log_time_rows(
    time: FloatArray, entry: FloatArray | None, event: NDArray[np.bool_], offset: Any
) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Logarithms of times and entries, and the offset of each row's loss with that of the time in it."""
    with np.errstate(divide="ignore"):
        # T has the density of log T divided by T; a row censored at 0 says nothing: log S(-inf) = 0.
        time, entry = np.log(time), None if entry is None else np.log(np.maximum(entry, 0.0))
    offset = offset + np.where(event, time, 0.0)
    return np.maximum(time, LEAST_LOG_TIME), entry, offset

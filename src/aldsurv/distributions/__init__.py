"""Survival distributions: one interface, one family per file."""

from typing import Any

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CauseHazards, CauseMixture, CompetingDistribution, CumulativeIncidence
from aldsurv.distributions.families.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.families.exponential import Exponential
from aldsurv.distributions.families.log_asymmetric_laplace import LogAsymmetricLaplace
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.families.normal import Normal
from aldsurv.distributions.families.positive_asymmetric_laplace import PositiveAsymmetricLaplace
from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.wrappers.covariate_path import CovariatePath
from aldsurv.distributions.wrappers.cured import Cured
from aldsurv.distributions.wrappers.earliest import Earliest
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.distributions.wrappers.recalibrated import Recalibrated
from aldsurv.distributions.wrappers.scaled_hazard import ScaledHazard
from aldsurv.distributions.wrappers.shifted import Shifted
from aldsurv.distributions.wrappers.truncated import LeftTruncated
from aldsurv.registry import FAMILIES

__all__ = [
    "AsymmetricLaplace",
    "CauseHazards",
    "CauseMixture",
    "CompetingDistribution",
    "CovariatePath",
    "CumulativeIncidence",
    "Cured",
    "Earliest",
    "Exponential",
    "LeftTruncated",
    "LogAsymmetricLaplace",
    "LogNormal",
    "MixedAsymmetricLaplace",
    "Mixture",
    "Normal",
    "PositiveAsymmetricLaplace",
    "ProportionalHazards",
    "QuantileKnots",
    "Recalibrated",
    "ScaledHazard",
    "Shifted",
    "Step",
    "SurvivalDistribution",
    "Weibull",
]


def __getattr__(name: str) -> Any:
    """A family that has nothing but its record."""
    for record in FAMILIES.records():
        if record.location.endswith(f":{name}"):
            return record.load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

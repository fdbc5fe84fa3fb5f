"""Survival distributions: one interface, one family a file."""

from aldsurv.distributions.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.exponential import Exponential
from aldsurv.distributions.incidence import CumulativeIncidence
from aldsurv.distributions.log_asymmetric_laplace import LogAsymmetricLaplace
from aldsurv.distributions.log_normal import LogNormal
from aldsurv.distributions.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture import Mixture
from aldsurv.distributions.normal import Normal
from aldsurv.distributions.proportional_hazards import ProportionalHazards
from aldsurv.distributions.quantile_knots import QuantileKnots
from aldsurv.distributions.recalibrated import Recalibrated
from aldsurv.distributions.shifted import Shifted
from aldsurv.distributions.step import Step
from aldsurv.distributions.truncated import LeftTruncated, PositiveAsymmetricLaplace
from aldsurv.distributions.weibull import Weibull

__all__ = [
    "AsymmetricLaplace",
    "CumulativeIncidence",
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
    "Shifted",
    "Step",
    "SurvivalDistribution",
    "Weibull",
]

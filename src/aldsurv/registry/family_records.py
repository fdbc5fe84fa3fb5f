"""The families of distributions."""

from __future__ import annotations

from dataclasses import dataclass

from aldsurv.registry.records import Record, Registry

__all__ = ["FAMILIES", "FamilyRecord"]


@dataclass(frozen=True)
class FamilyRecord(Record):
    """A family of distributions."""


FAMILIES = Registry(
    "family",
    FamilyRecord(
        "asymmetric_laplace",
        "aldsurv.distributions.families.asymmetric_laplace:AsymmetricLaplace",
        "asymmetric Laplace",
        "the paper's family: on the whole real line, every formula in closed form",
    ),
    FamilyRecord(
        "positive_asymmetric_laplace",
        "aldsurv.distributions.families.positive_asymmetric_laplace:PositiveAsymmetricLaplace",
        "positive asymmetric Laplace",
        "the asymmetric Laplace distribution cut off at 0",
    ),
    FamilyRecord(
        "log_asymmetric_laplace",
        "aldsurv.distributions.families.log_asymmetric_laplace:LogAsymmetricLaplace",
        "log asymmetric Laplace",
        "log time is asymmetric Laplace: positive times with power-law tails",
    ),
    FamilyRecord("normal", "aldsurv.distributions.families.normal:Normal", "normal", "on the whole real line"),
    FamilyRecord(
        "log_normal", "aldsurv.distributions.families.log_normal:LogNormal", "log-normal", "log time is normal"
    ),
    FamilyRecord(
        "weibull", "aldsurv.distributions.families.weibull:Weibull", "Weibull", "a hazard that is a power of time"
    ),
    FamilyRecord(
        "exponential", "aldsurv.distributions.families.exponential:Exponential", "exponential", "a constant hazard"
    ),
    FamilyRecord(
        "step", "aldsurv.distributions.families.step:Step", "step function", "survival as steps on a grid of times"
    ),
    FamilyRecord(
        "proportional_hazards",
        "aldsurv.distributions.wrappers.proportional_hazards:ProportionalHazards",
        "proportional hazards",
        "a baseline hazard for all rows and a risk for each",
    ),
    FamilyRecord(
        "quantile_knots",
        "aldsurv.distributions.families.quantile_knots:QuantileKnots",
        "quantile knots",
        "predicted quantiles joined by straight lines",
    ),
    FamilyRecord(
        "mixture", "aldsurv.distributions.wrappers.mixture:Mixture", "mixture", "a mixture of any distributions"
    ),
    FamilyRecord(
        "mixed_asymmetric_laplace",
        "aldsurv.distributions.families.mixed_asymmetric_laplace:MixedAsymmetricLaplace",
        "mixture of asymmetric Laplace",
        "a mixture of asymmetric Laplace components on one support",
    ),
    FamilyRecord(
        "left_truncated",
        "aldsurv.distributions.wrappers.truncated:LeftTruncated",
        "left-truncated",
        "a distribution given survival to a time",
    ),
    FamilyRecord(
        "cured", "aldsurv.distributions.wrappers.cured:Cured", "cured", "a share of individuals never has the event"
    ),
    FamilyRecord(
        "earliest",
        "aldsurv.distributions.wrappers.earliest:Earliest",
        "earliest",
        "the earliest of several independent times",
    ),
    FamilyRecord(
        "shifted", "aldsurv.distributions.wrappers.shifted:Shifted", "shifted", "a distribution moved in time"
    ),
    FamilyRecord(
        "recalibrated",
        "aldsurv.distributions.wrappers.recalibrated:Recalibrated",
        "recalibrated",
        "a distribution whose levels were corrected",
    ),
    FamilyRecord(
        "scaled_hazard",
        "aldsurv.distributions.wrappers.scaled_hazard:ScaledHazard",
        "scaled hazard",
        "a distribution whose hazard is multiplied by a number",
    ),
    FamilyRecord(
        "covariate_path",
        "aldsurv.distributions.wrappers.covariate_path:CovariatePath",
        "covariate path",
        "one distribution after the other, as covariates change",
    ),
)

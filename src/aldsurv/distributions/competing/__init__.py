"""Competing causes: which event comes first, and when."""

from aldsurv.distributions.competing.averaged import AveragedIncidence
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_hazards import CauseHazards
from aldsurv.distributions.competing.cause_mixture import CauseMixture
from aldsurv.distributions.competing.cumulative_incidence import CumulativeIncidence
from aldsurv.distributions.competing.proportional_causes import CauseSpecificHazards, SubdistributionHazards

__all__ = [
    "AveragedIncidence",
    "CauseHazards",
    "CauseMixture",
    "CauseSpecificHazards",
    "CompetingDistribution",
    "CumulativeIncidence",
    "SubdistributionHazards",
]

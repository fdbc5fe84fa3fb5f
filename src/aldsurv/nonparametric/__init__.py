"""Estimates without a model: the Kaplan-Meier curve, and weights for censoring."""

from aldsurv.nonparametric.aalen_johansen import AalenJohansen, aalen_johansen
from aldsurv.nonparametric.censoring_weights import censoring_distribution, inverse_censoring_weights
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, kaplan_meier

__all__ = [
    "AalenJohansen",
    "KaplanMeier",
    "aalen_johansen",
    "censoring_distribution",
    "inverse_censoring_weights",
    "kaplan_meier",
]

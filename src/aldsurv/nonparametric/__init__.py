"""Estimates without a model: Kaplan-Meier, Aalen-Johansen, Breslow, weights for censoring, levels of events."""

from aldsurv.nonparametric.aalen_johansen import AalenJohansen, aalen_johansen
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline, baseline_hazard
from aldsurv.nonparametric.censoring_weights import censoring_distribution, inverse_censoring_weights
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, kaplan_meier
from aldsurv.nonparametric.observed_levels import level_curve, level_map
from aldsurv.nonparametric.plateau import FollowUpTest, follow_up_test

__all__ = [
    "AalenJohansen",
    "BaselineHazard",
    "FollowUpTest",
    "KaplanMeier",
    "StratifiedBaseline",
    "aalen_johansen",
    "baseline_hazard",
    "censoring_distribution",
    "follow_up_test",
    "inverse_censoring_weights",
    "kaplan_meier",
    "level_curve",
    "level_map",
]

"""Estimates without a model: Kaplan-Meier, Aalen-Johansen, Breslow, censoring weights, levels, tests of groups."""

from aldsurv.nonparametric.aalen_johansen import AalenJohansen, aalen_johansen
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline, baseline_hazard
from aldsurv.nonparametric.censoring_weights import censoring_distribution, inverse_censoring_weights
from aldsurv.nonparametric.group_tests import GroupTest, gray_test, log_rank_test
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, kaplan_meier
from aldsurv.nonparametric.observed_levels import level_curve, level_map
from aldsurv.nonparametric.plateau import FollowUpTest, follow_up_test
from aldsurv.nonparametric.survival_limits import survival_limits

__all__ = [
    "AalenJohansen",
    "BaselineHazard",
    "FollowUpTest",
    "GroupTest",
    "KaplanMeier",
    "StratifiedBaseline",
    "aalen_johansen",
    "baseline_hazard",
    "censoring_distribution",
    "follow_up_test",
    "gray_test",
    "inverse_censoring_weights",
    "kaplan_meier",
    "level_curve",
    "level_map",
    "log_rank_test",
    "survival_limits",
]

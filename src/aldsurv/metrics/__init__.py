"""Metrics: plain functions of a predicted distribution and the data; none knows a model."""

from aldsurv.metrics.brier import brier_score, integrated_brier_score
from aldsurv.metrics.calibration import (
    calibration_counts,
    censored_d_calibration,
    censored_d_calibration_by_chance,
    density_calibration,
    density_calibration_points,
    survival_calibration,
    survival_calibration_points,
)
from aldsurv.metrics.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.comparison import Comparison, compare
from aldsurv.metrics.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.discrimination import DynamicAuc, concordance_antolini, cumulative_dynamic_auc
from aldsurv.metrics.distribution_calibration import DCalibration, d_calibration, km_calibration
from aldsurv.metrics.error import mean_absolute_error
from aldsurv.metrics.evaluation import evaluate
from aldsurv.metrics.event_levels import CalibrationLine, CalibrationPoints, EventLevels, event_levels
from aldsurv.metrics.groups import CalibrationByGroup, GroupCalibration, calibration_by_group
from aldsurv.metrics.individual_calibration import (
    WorstGroup,
    average_calibration,
    individual_calibration,
    worst_group_calibration,
)
from aldsurv.metrics.intervals import IntervalCoverage, interval_coverage
from aldsurv.metrics.likelihood import bounded_log_likelihood, log_likelihood
from aldsurv.metrics.point_estimates import point_estimate
from aldsurv.metrics.ranked_probability import crps, survival_crps
from aldsurv.metrics.resampling import BootstrapResult, bootstrap
from aldsurv.metrics.scorers import Scorer, get_scorer, harrell_c_scorer, ibs_scorer, log_likelihood_scorer
from aldsurv.metrics.skill import brier_skill_score
from aldsurv.metrics.time_calibration import (
    CalibrationIndex,
    OneCalibration,
    integrated_calibration_index,
    one_calibration,
)

__all__ = [
    "BootstrapResult",
    "CalibrationByGroup",
    "CalibrationIndex",
    "CalibrationLine",
    "CalibrationPoints",
    "Comparison",
    "DCalibration",
    "DynamicAuc",
    "EventLevels",
    "GroupCalibration",
    "IntervalCoverage",
    "OneCalibration",
    "Scorer",
    "WorstGroup",
    "average_calibration",
    "bootstrap",
    "bounded_log_likelihood",
    "brier_score",
    "brier_skill_score",
    "calibration_by_group",
    "calibration_counts",
    "censored_d_calibration",
    "censored_d_calibration_by_chance",
    "compare",
    "concordance_antolini",
    "concordance_harrell",
    "concordance_uno",
    "crps",
    "cumulative_dynamic_auc",
    "d_calibration",
    "density_calibration",
    "density_calibration_points",
    "evaluate",
    "event_levels",
    "get_scorer",
    "harrell_c_scorer",
    "ibs_scorer",
    "individual_calibration",
    "integrated_brier_score",
    "integrated_calibration_index",
    "interval_coverage",
    "km_calibration",
    "log_likelihood",
    "log_likelihood_scorer",
    "mean_absolute_error",
    "mean_absolute_error_margin",
    "mean_absolute_error_pseudo",
    "one_calibration",
    "point_estimate",
    "survival_calibration",
    "survival_calibration_points",
    "survival_crps",
    "worst_group_calibration",
]

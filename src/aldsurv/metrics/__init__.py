"""Metrics: plain functions of a predicted distribution and the data, independent of any model."""

from aldsurv.metrics.calibration.distribution_calibration import DCalibration, d_calibration, km_calibration
from aldsurv.metrics.calibration.event_levels import CalibrationLine, CalibrationPoints, EventLevels, event_levels
from aldsurv.metrics.calibration.group_calibration import CalibrationByGroup, GroupCalibration, calibration_by_group
from aldsurv.metrics.calibration.individual_calibration import (
    WorstGroup,
    average_calibration,
    individual_calibration,
    worst_group_calibration,
)
from aldsurv.metrics.calibration.level_calibration import (
    calibration_counts,
    censored_d_calibration,
    censored_d_calibration_by_chance,
    density_calibration,
    density_calibration_points,
    survival_calibration,
    survival_calibration_points,
)
from aldsurv.metrics.calibration.mean_calibration import (
    CalibrationInTheLarge,
    ObservedExpected,
    calibration_in_the_large,
    observed_expected_ratio,
)
from aldsurv.metrics.calibration.prediction_intervals import IntervalCoverage, interval_coverage
from aldsurv.metrics.calibration.slope_calibration import CalibrationSlope, calibration_slope
from aldsurv.metrics.calibration.time_calibration import (
    CalibrationIndex,
    OneCalibration,
    calibration_curve,
    integrated_calibration_index,
    one_calibration,
)
from aldsurv.metrics.decision.net_benefit import DecisionCurve, NetBenefit, decision_curve, net_benefit
from aldsurv.metrics.discrimination.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.discrimination.time_dependent import DynamicAuc, concordance_antolini, cumulative_dynamic_auc
from aldsurv.metrics.error.absolute_error import mean_absolute_error
from aldsurv.metrics.error.brier import brier_score, integrated_brier_score, mean_brier_score
from aldsurv.metrics.error.brier_skill import brier_skill_score
from aldsurv.metrics.error.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.error.log_likelihood import bounded_log_likelihood, log_likelihood
from aldsurv.metrics.error.ranked_probability import crps, survival_crps
from aldsurv.metrics.evaluation import evaluate, evaluate_causes
from aldsurv.metrics.point_estimates import point_estimate
from aldsurv.metrics.resampling.bootstrap import BootstrapResult, bootstrap
from aldsurv.metrics.resampling.paired_comparison import Comparison, compare
from aldsurv.metrics.scorers import Scorer, get_scorer, harrell_c_scorer, ibs_scorer, log_likelihood_scorer

__all__ = [
    "BootstrapResult",
    "CalibrationByGroup",
    "CalibrationInTheLarge",
    "CalibrationIndex",
    "CalibrationLine",
    "CalibrationPoints",
    "CalibrationSlope",
    "Comparison",
    "DCalibration",
    "DecisionCurve",
    "DynamicAuc",
    "EventLevels",
    "GroupCalibration",
    "IntervalCoverage",
    "NetBenefit",
    "ObservedExpected",
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
    "calibration_curve",
    "calibration_in_the_large",
    "calibration_slope",
    "censored_d_calibration",
    "censored_d_calibration_by_chance",
    "compare",
    "concordance_antolini",
    "concordance_harrell",
    "concordance_uno",
    "crps",
    "cumulative_dynamic_auc",
    "d_calibration",
    "decision_curve",
    "density_calibration",
    "density_calibration_points",
    "evaluate",
    "evaluate_causes",
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
    "mean_brier_score",
    "net_benefit",
    "observed_expected_ratio",
    "one_calibration",
    "point_estimate",
    "survival_calibration",
    "survival_calibration_points",
    "survival_crps",
    "worst_group_calibration",
]

"""Metrics: plain functions of a predicted distribution and the data; none knows a model."""

from aldsurv.metrics.brier import brier_score, integrated_brier_score
from aldsurv.metrics.calibration import (
    calibration_counts,
    censored_d_calibration,
    density_calibration,
    density_calibration_points,
    survival_calibration,
    survival_calibration_points,
)
from aldsurv.metrics.comparison import Comparison, compare
from aldsurv.metrics.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.error import mean_absolute_error
from aldsurv.metrics.evaluation import evaluate
from aldsurv.metrics.event_levels import CalibrationLine, CalibrationPoints, EventLevels, event_levels
from aldsurv.metrics.likelihood import log_likelihood
from aldsurv.metrics.point_estimates import point_estimate
from aldsurv.metrics.resampling import BootstrapResult, bootstrap
from aldsurv.metrics.scorers import Scorer, get_scorer, harrell_c_scorer, ibs_scorer, log_likelihood_scorer

__all__ = [
    "BootstrapResult",
    "CalibrationLine",
    "CalibrationPoints",
    "Comparison",
    "EventLevels",
    "Scorer",
    "bootstrap",
    "brier_score",
    "calibration_counts",
    "censored_d_calibration",
    "compare",
    "concordance_harrell",
    "concordance_uno",
    "density_calibration",
    "density_calibration_points",
    "evaluate",
    "event_levels",
    "get_scorer",
    "harrell_c_scorer",
    "ibs_scorer",
    "integrated_brier_score",
    "log_likelihood",
    "log_likelihood_scorer",
    "mean_absolute_error",
    "point_estimate",
    "survival_calibration",
    "survival_calibration_points",
]

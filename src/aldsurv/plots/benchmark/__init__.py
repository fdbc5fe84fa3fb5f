"""The figures of a benchmark, drawn from names and arrays."""

from aldsurv.plots.benchmark.calibration_fit import (
    calibration_examples_figure,
    calibration_fit_figure,
    plot_calibration_fit,
)
from aldsurv.plots.benchmark.critical_difference import plot_critical_difference
from aldsurv.plots.benchmark.marked_squares import plot_squares
from aldsurv.plots.benchmark.metric_by_dataset import Spread, plot_metric
from aldsurv.plots.time_histogram import plot_time_histogram, time_histogram_figure

__all__ = [
    "Spread",
    "calibration_examples_figure",
    "calibration_fit_figure",
    "plot_calibration_fit",
    "plot_critical_difference",
    "plot_metric",
    "plot_squares",
    "plot_time_histogram",
    "time_histogram_figure",
]

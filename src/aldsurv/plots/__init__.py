"""Plots of distributions, estimates and evaluations: functions that take axes and return them.

The only package that needs matplotlib. pyplot is used in IPython, where it shows the figures; elsewhere these belong to
the caller alone, and no display is needed.
"""

from aldsurv.errors import MissingDependencyError

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as _error:
    # A broken installation of matplotlib raises its own error.
    if _error.name != "matplotlib":
        raise
    raise MissingDependencyError(
        "plots need matplotlib, which is not installed", advice='Install it with: pip install "aldsurv[plots]"'
    ) from None

from aldsurv.plots.architecture_plot import plot_architecture
from aldsurv.plots.attribution_plots import (
    attribution_figure,
    plot_attribution_swarm,
    plot_attributions,
    plot_attributions_over_time,
    plot_mean_attributions,
)
from aldsurv.plots.calibration_plots import plot_calibration, plot_calibration_at, plot_d_calibration
from aldsurv.plots.curves import distribution_figure, plot_density, plot_hazard, plot_survival
from aldsurv.plots.decision_plot import plot_decision_curve
from aldsurv.plots.discrimination_plots import plot_auc, plot_brier
from aldsurv.plots.drawing.figure_files import save_figure
from aldsurv.plots.effect_plots import plot_importance, plot_partial_dependence
from aldsurv.plots.incidence_plots import (
    incidence_figure,
    plot_aalen_johansen,
    plot_incidence,
    plot_mean_incidence,
    plot_stacked_incidence,
)
from aldsurv.plots.individuals import plot_individuals
from aldsurv.plots.kaplan_meier_plot import plot_kaplan_meier
from aldsurv.plots.mean_survival import plot_mean_survival, prediction_figure
from aldsurv.plots.monitoring_plots import plot_column_drift, plot_evidence, plot_quality_by_period
from aldsurv.plots.predicted_against_observed import plot_predicted_against_observed
from aldsurv.plots.regularisation_plot import plot_held_out_scores, plot_regularisation_path, regularisation_figure
from aldsurv.plots.time_histogram import plot_time_distribution

__all__ = [
    "attribution_figure",
    "distribution_figure",
    "incidence_figure",
    "plot_aalen_johansen",
    "plot_architecture",
    "plot_attribution_swarm",
    "plot_attributions",
    "plot_attributions_over_time",
    "plot_auc",
    "plot_brier",
    "plot_calibration",
    "plot_calibration_at",
    "plot_column_drift",
    "plot_d_calibration",
    "plot_decision_curve",
    "plot_density",
    "plot_evidence",
    "plot_hazard",
    "plot_held_out_scores",
    "plot_importance",
    "plot_incidence",
    "plot_individuals",
    "plot_kaplan_meier",
    "plot_mean_attributions",
    "plot_mean_incidence",
    "plot_mean_survival",
    "plot_partial_dependence",
    "plot_predicted_against_observed",
    "plot_quality_by_period",
    "plot_regularisation_path",
    "plot_stacked_incidence",
    "plot_survival",
    "plot_time_distribution",
    "prediction_figure",
    "regularisation_figure",
    "save_figure",
]

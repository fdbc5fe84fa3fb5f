"""Discrimination (area under the ROC curve) and error (Brier score) over time."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Step, SurvivalDistribution
from aldsurv.metrics import brier_score, cumulative_dynamic_auc, integrated_brier_score
from aldsurv.metrics.error.brier import default_times
from aldsurv.metrics.evaluation_times import checked_times, event_quantiles
from aldsurv.nonparametric import kaplan_meier
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.plots.drawing.appearance import COLOURS, LineLook, show_legend, tidy_axes, write_remark
from aldsurv.plots.drawing.axes_text import collected_warnings, write_message, write_note
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.time_grid import FloatArray, as_numpy

__all__ = ["plot_auc", "plot_brier"]

# Quantiles of the event times between which there are enough cases and controls.
_EVENT_QUANTILES = [0.05, 0.95]
_AUC_TIMES = 25


def plot_auc(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    band: float | None = 0.95,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the time-dependent area under the ROC curve; 0.5 is chance, 1 perfect discrimination.

    Parameters
    ----------
    predicted, data, train
        As in `metrics.cumulative_dynamic_auc`, whose mean is written into the axes.
    times
        Times (m,) at which it is computed. None: 25 times between the 5 % and the 95 % point of the event times.
    band
        Level of the shaded pointwise confidence limits (DeLong et al. 1988, ignoring the error of the estimated
        censoring); None for none.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw. None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 4, 5], [True, False, True, True, False])
    >>> ax = plot_auc(Exponential([2.0, 1.0, 4.0, 3.0, 5.0]), data, train=data, times=[1, 3], band=None)
    >>> ax.lines[1].get_ydata().round(4)
    array([0.75  , 0.7143])
    """
    check("band", band, Number(0, 1, above=True, below=True), none=True)
    ax = new_axes() if ax is None else ax
    tidy_axes(ax, "area under the ROC curve", unit)
    if times is None and not (data.event & (data.weights > 0)).any():
        return write_message(ax, "no row has an event.")
    if times is None:
        first, last = event_quantiles(data, _EVENT_QUANTILES)
        times = np.linspace(first, last, _AUC_TIMES)
    grid = np.unique(checked_times(times))
    with collected_warnings():
        area = cumulative_dynamic_auc(predicted, data, grid, train=train)
    defined = ~np.isnan(area.auc)
    if not defined.any():
        reason = "at these times no event has happened, no subject is at risk, or training has ended."
        return write_message(ax, reason)
    ax.axhline(0.5, color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    shown, auc = grid[defined], area.auc[defined]
    lowest = float(auc.min())
    if band is not None:
        reach = NormalDist().inv_cdf((1 + band) / 2) * _standard_errors(predicted, data, train, shown)
        lower, upper = (np.clip(auc + side * reach, 0.0, 1.0) for side in (-1, 1))
        ax.fill_between(shown, lower, upper, color=COLOURS[0], alpha=0.18, linewidth=0)
        write_remark(ax, f"shaded: {100 * band:g} % confidence")
        lowest = float(lower.min())
    marker = "o" if shown.size < 10 else None
    ax.plot(shown, auc, color=COLOURS[0], linewidth=1.8, marker=marker, markersize=4)
    ax.set_ylim(max(-0.02, min(0.45, lowest - 0.03)), 1.02)
    write_note(ax, [f"mean {area.mean:.3f}"], corner="lower left")
    return ax


def plot_brier(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: ArrayLike | None = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the Brier score over time beside that of the Kaplan-Meier curve of the training rows; lower is better.

    Where the prediction is above Kaplan-Meier, the covariates do not improve it.

    Parameters
    ----------
    predicted, data, train
        As in `metrics.brier_score`.
    times
        Times (m,) at which it is computed. None: the 100 times of `metrics.integrated_brier_score`.
    unit, ax
        As in `plot_auc`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> ax = plot_brier(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data, times=[1, 2.5])
    >>> ax.lines[1].get_ydata().round(4)
    array([0.0985, 0.1651])
    """
    ax = new_axes() if ax is None else ax
    tidy_axes(ax, "Brier score", unit)
    training = SurvivalData.of(train)
    if training.total_weight == 0:
        return write_message(ax, "no training row has a positive weight.")
    grid = np.unique(default_times(training) if times is None else checked_times(times))
    # Only the values on the grid: the whole curve for each row would need rows × training rows of memory.
    marginal = Step(grid, np.broadcast_to(kaplan_meier(training).survival_at(grid), (len(predicted), grid.size)))
    with collected_warnings():
        scores = [brier_score(one, data, grid, train=training) for one in (marginal, predicted)]
    defined = ~np.isnan(scores[1])
    if not defined.any():
        return write_message(ax, "no row has a weight, or the training rows end before these times.")
    shown = grid[defined]
    looks: tuple[LineLook, LineLook] = (
        {"color": "0.4", "linestyle": "--", "linewidth": 1.8},
        {"color": COLOURS[0], "linestyle": "-", "linewidth": 1.8},
    )
    marker = "o" if shown.size < 10 else None
    curves = ("Kaplan-Meier", marginal), ("prediction", predicted)
    for score, (name, one), look in zip(scores, curves, looks, strict=True):
        label = name
        if shown.size > 1:
            label += f", mean {integrated_brier_score(one, data, train=training, times=shown):.3f}"
        ax.plot(shown, score[defined], marker=marker, markersize=4, label=label, **look)
    ax.set_ylim(0.0, 1.25 * float(max(score[defined].max() for score in scores)) or 1.0)
    return show_legend(ax)


def _standard_errors(
    predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData, times: FloatArray
) -> FloatArray:
    """Standard error of the area at each time, from the placement value of each row (DeLong et al. 1988)."""
    uncensored = censoring_distribution(train).survival_at(data.time)
    importance = np.divide(data.weights, uncensored, out=np.zeros(len(data)), where=data.event & (uncensored > 0))
    errors = []
    for time in times.tolist():
        control = np.where(data.time > time, data.weights, 0.0)
        case = np.where(data.time > time, 0.0, importance)
        rank = np.unique(as_numpy(predicted.log_survival(time)), return_inverse=True)[1]
        # For each row the share of controls or cases that it is in order with; ties count one half.
        cases, controls = (np.bincount(rank, weight) / weight.sum() for weight in (case, control))
        outlived = (np.cumsum(controls[::-1])[::-1] - controls / 2)[rank]
        outliving = (np.cumsum(cases) - cases / 2)[rank]
        area = float(case @ outlived / case.sum())
        parts = case / case.sum() * (outlived - area) + control / control.sum() * (outliving - area)
        errors.append(float(np.sqrt((parts**2).sum())))
    return np.array(errors)

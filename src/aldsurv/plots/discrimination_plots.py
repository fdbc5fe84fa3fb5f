"""How well the rows are told apart, and how far the predicted survival is off, over time."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Step, SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics import brier_score, cumulative_dynamic_auc, integrated_brier_score
from aldsurv.metrics.error.brier import default_times
from aldsurv.metrics.evaluation_times import checked_times, event_quantiles
from aldsurv.nonparametric import kaplan_meier
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.plots.drawing.appearance import COLOURS, new_axes, show_legend, tidy_axes
from aldsurv.plots.drawing.message import collected_warnings, write_message, write_note
from aldsurv.plots.drawing.time_grid import FloatArray, as_numpy

__all__ = ["plot_auc", "plot_brier"]

# Between the first and the last of the events there are enough cases and controls for an area to mean something.
_EVENTS = [0.05, 0.95]
_AUC_TIMES = 25


def plot_auc(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: Any = None,
    band: float | None = 0.95,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the time-dependent area under the ROC curve; 0.5 is chance, 1 tells all early events from late ones.

    Parameters
    ----------
    predicted, data, train
        As in `metrics.cumulative_dynamic_auc`, whose mean is written into the axes.
    times
        Times (m,) at which it is computed. None: 25 times between the 5 % and the 95 % point of the event times.
    band
        Level of the shaded pointwise confidence limits (DeLong et al. 1988, the estimate of the censoring taken as
        known); None for none.
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
    if band is not None and not 0 < band < 1:
        raise ParameterError(f"band must be None or lie between 0 and 1, but is {band!r}.")
    ax = new_axes() if ax is None else ax
    tidy_axes(ax, "area under the ROC curve", unit)
    if times is None and not (data.event & (data.weights > 0)).any():
        return write_message(ax, "no row has an event.")
    if times is None:
        first, last = event_quantiles(data, _EVENTS)
        times = np.linspace(first, last, _AUC_TIMES)
    grid = np.unique(checked_times(times))
    with collected_warnings():
        found = cumulative_dynamic_auc(predicted, data, grid, train=train)
    known = ~np.isnan(found.auc)
    if not known.any():
        return write_message(ax, "at these times there is no event before, nobody left after, or too little training.")
    ax.axhline(0.5, color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    shown = grid[known]
    lowest = float(found.auc[known].min())
    if band is not None:
        reach = NormalDist().inv_cdf((1 + band) / 2) * _standard_errors(predicted, data, train, shown)
        lower, upper = (np.clip(found.auc[known] + side * reach, 0.0, 1.0) for side in (-1, 1))
        ax.fill_between(shown, lower, upper, color=COLOURS[0], alpha=0.18, linewidth=0)
        ax.set_title(f"shaded: {100 * band:g} % confidence", loc="right", fontsize="small", color="0.4")
        lowest = float(lower.min())
    marker = "o" if shown.size < 10 else None
    ax.plot(shown, found.auc[known], color=COLOURS[0], linewidth=1.8, marker=marker, markersize=4)
    ax.set_ylim(max(-0.02, min(0.45, lowest - 0.03)), 1.02)
    write_note(ax, [f"mean {found.mean:.3f}"], corner="lower left")
    return ax


def plot_brier(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    times: Any = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the Brier score over time beside that of the Kaplan-Meier curve of the training rows; lower is better.

    Where the line is above that of Kaplan-Meier, the covariates have been of no use.

    Parameters
    ----------
    predicted, data, train
        As in `metrics.brier_score`.
    times
        Times (m,) at which it is computed. None: the 100 times of `metrics.integrated_brier_score`.
    unit
        Unit of time, named at the axis.
    ax
        Where to draw. None: in a new figure.

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
    # Only the values at the grid matter: the whole curve for each row would be as large as rows times training rows.
    same = Step(grid, np.broadcast_to(kaplan_meier(training).survival_at(grid), (len(predicted), grid.size)))
    with collected_warnings():
        scores = [brier_score(one, data, grid, train=training) for one in (same, predicted)]
    known = ~np.isnan(scores[1])
    if not known.any():
        return write_message(ax, "no row counts, or the training rows end before these times.")
    shown = grid[known]
    looks: tuple[dict[str, Any], ...] = ({"color": "0.4", "linestyle": "--"}, {"color": COLOURS[0]})
    for score, one, look, name in zip(scores, (same, predicted), looks, ("Kaplan-Meier", "prediction"), strict=True):
        label = name
        if shown.size > 1:
            label += f", mean {integrated_brier_score(one, data, train=training, times=shown):.3f}"
        marker = "o" if shown.size < 10 else None
        ax.plot(shown, score[known], linewidth=1.8, marker=marker, markersize=4, label=label, **look)
    ax.set_ylim(0.0, 1.25 * float(max(score[known].max() for score in scores)) or 1.0)
    return show_legend(ax)


def _standard_errors(
    predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData, times: FloatArray
) -> FloatArray:
    """Standard error of the area at each time, from how far each row is above or below it on average."""
    uncensored = censoring_distribution(train).survival_at(data.time)
    importance = np.divide(data.weights, uncensored, out=np.zeros(len(data)), where=data.event & (uncensored > 0))
    errors = []
    for time in times.tolist():
        control = np.where(data.time > time, data.weights, 0.0)
        case = np.where(data.time > time, 0.0, importance)
        rank = np.unique(as_numpy(predicted.log_survival(time)), return_inverse=True)[1]
        # Of each row the share of the other kind that it is in order with; those predicted alike count one half.
        cases, controls = (np.bincount(rank, weight) / weight.sum() for weight in (case, control))
        outlived = (np.cumsum(controls[::-1])[::-1] - controls / 2)[rank]
        outliving = (np.cumsum(cases) - cases / 2)[rank]
        area = float(case @ outlived / case.sum())
        parts = case / case.sum() * (outlived - area) + control / control.sum() * (outliving - area)
        errors.append(float(np.sqrt((parts**2).sum())))
    return np.array(errors)

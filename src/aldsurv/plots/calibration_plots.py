"""Calibration of predicted probabilities: over the whole distribution, and at one time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from aldsurv.checks import Choice, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.metrics import EventLevels, calibration_curve, d_calibration, integrated_calibration_index
from aldsurv.metrics.calibration.event_levels import CalibrationPoints, event_levels
from aldsurv.metrics.calibration.expected_events import risks_at
from aldsurv.metrics.calibration.risk_groups import RiskGroup, calibration_groups
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import PredictedDistribution
from aldsurv.metrics.resampling.row_counts import ByCounts, Counts
from aldsurv.plain_numbers import plain_number
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, plain_label, write_remark
from aldsurv.plots.drawing.axes_text import collected_warnings, write_message, write_note
from aldsurv.plots.drawing.bootstrap_band import bootstrap_band
from aldsurv.plots.drawing.new_figures import new_axes
from aldsurv.plots.drawing.time_grid import FloatArray

__all__ = ["plot_calibration", "plot_calibration_at", "plot_d_calibration"]

# Height of the tallest bar of the histogram under a calibration curve, and its number of bins.
_FOOT = 0.12
_FOOT_BINS = 50
# Probabilities below this are drawn on axes that end with them.
_LOW = 0.5
# Quantiles of the predictions between which the calibration curve is drawn solid.
_CENTRAL = [0.01, 0.99]
_LEVEL = 0.95


def plot_calibration(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    kind: Literal["survival", "density"] = "survival",
    bins: int = 10,
    bootstrap: int | None = 200,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed share of events within each predicted probability against that probability.

    Calibrated predictions lie on the dashed line. Slope and intercept of the line fitted to the points are those of
    `metrics.survival_calibration` or `metrics.density_calibration`.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows, with any censoring.
    kind
        ``"survival"``: events before each quantile. ``"density"``: events in each central interval.
    bins
        Number of steps of the probability.
    bootstrap
        Number of resamples of the rows for the shaded pointwise 95 % limits; None for no limits.
    ax
        Where to draw. None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ax = plot_calibration(Exponential([1.0] * 4), SurvivalData.right([0.1, 0.5, 1.0, 2.0], [True] * 4), bins=4)
    >>> ax.lines[1].get_ydata()
    array([0.25, 0.5 , 0.75, 1.  ])
    """
    check("kind", kind, Choice(("survival", "density")))
    levels = event_levels(predicted, data)
    with collected_warnings():
        points = levels.survival_points(bins) if kind == "survival" else levels.density_points(bins)
    ax = _square_axes(ax)
    _name_axes(ax, "expected share of events", "observed share of events")
    if np.isnan(points.observed).any():
        return write_message(ax, "no row has a positive weight.")
    band = bootstrap_band(_shares(levels, kind, bins), data, bootstrap)
    if band is not None:
        ax.fill_between(points.predicted, *band, color=COLOURS[0], alpha=0.18, linewidth=0)
        write_remark(ax, f"shaded: {100 * _LEVEL:g} % confidence")
    ax.plot(points.predicted, points.observed, color=COLOURS[0], marker="o", markersize=4, linewidth=1.4)
    line = points.line
    ends = np.array([0.0, 1.0])
    ax.plot(ends, line.intercept + line.slope * ends, color=COLOURS[1], linestyle=":", linewidth=1.6)
    write_note(ax, [f"slope {line.slope:.3f}", f"intercept {line.intercept:+.3f}"])
    return ax


def plot_d_calibration(
    predicted: SurvivalDistribution, data: SurvivalData, *, bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw the share of events in each equal part of their predicted distributions.

    All bars are equal if the predictions are calibrated. Predicted times that are too long give high bars on the left,
    predictions that are too narrow high bars at both ends. Censored rows are spread over the parts in which their event
    may lie, which makes the bars more equal than the dotted limits suggest.

    Parameters
    ----------
    predicted, data, bins
        As in `metrics.d_calibration`, whose p-value is written into the axes.
    ax
        Where to draw. None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([0.1, 0.2, 1.0, 2.0], [True] * 4)
    >>> ax = plot_d_calibration(Exponential([1.0] * 4), data, bins=4)
    >>> [float(bar.get_height()) for bar in ax.patches]
    [0.5, 0.0, 0.25, 0.25]
    """
    with collected_warnings() as reasons:
        test = d_calibration(predicted, data, bins=bins)
    ax = new_axes() if ax is None else ax
    _name_axes(ax, "predicted probability of an event by its observed time", "share of events", grid="y")
    if reasons:
        return write_message(ax, reasons)
    total = float(test.counts.sum())
    shares = test.counts / total
    ax.bar(np.arange(bins) / bins, shares, width=1 / bins, align="edge", color=COLOURS[5], edgecolor="white")
    ax.axhline(1 / bins, color="0.3", linestyle="--", linewidth=1.2, label=f"ideal, {100 / bins:g} %")
    lower, upper = _binomial_limits(round(total), 1 / bins)
    for limit, name in ((lower, "95 % limits without censoring"), (upper, None)):
        ax.axhline(limit, color=COLOURS[1], linestyle=":", linewidth=1.2, label=name)
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.35 * max(float(shares.max()), upper))
    write_note(ax, [f"p {_p_value(test.p_value)}"])
    ax.legend(frameon=False, fontsize="small", loc="upper right", handlelength=1.8)
    return ax


def plot_calibration_at(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float,
    *,
    cause: Cause = None,
    unit: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the observed against the predicted probability of the event by one time.

    The line is the smooth curve of `metrics.integrated_calibration_index`, the circles are ten groups of similar
    predictions against their Kaplan-Meier estimates with 95 % limits, as in `metrics.one_calibration`, and the bars at
    the bottom are a histogram of the predictions.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows, exact or right-censored.
    time
        Time of the probabilities, not after the last observed time.
    cause
        Number or name of the cause, where prediction and data have causes: its incidence is drawn, and the circles
        are Aalen-Johansen's.
    unit
        Unit of time, named at the axes.
    ax
        Where to draw. None: in a new figure.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> truth = Exponential(np.random.default_rng(0).uniform(1, 9, 500))
    >>> data = SurvivalData.right(truth.sample(random_state=1), np.ones(500, bool))
    >>> plot_calibration_at(truth, data, 4.0, unit="years").get_xlabel()
    'predicted probability of an event by 4 years'
    """
    with collected_warnings() as reasons:
        index = integrated_calibration_index(predicted, data, time, cause=cause)
    ax = _square_axes(ax)
    until = plain_number(time) if unit is None else f"{plain_number(time)} {unit}"
    event = "an event" if cause is None else plain_label(str(cause))
    _name_axes(ax, f"predicted probability of {event} by {until}", "observed probability")
    if reasons:
        return write_message(ax, reasons)
    curve = calibration_curve(predicted, data, time, cause=cause)
    _, risk, rows, _ = risks_at(predicted, data, time, cause, "plot_calibration_at")
    _draw_curve(ax, curve, rows.weights[np.argsort(risk, kind="stable")])
    # Groups that are censored before this time are left out; the smooth curve uses their rows.
    groups = [one for one in calibration_groups(predicted, data, time, cause=cause) if not np.isnan(one.observed)]
    _draw_groups(ax, groups)
    end = _axis_end(risk, groups)
    ax.set_xlim(0.0, end)
    ax.set_ylim(0.0, end)
    _draw_histogram(ax, risk, rows.weights, min(end, 1.0))
    write_note(ax, [f"ICI {index.ici:.3f}", f"E50 {index.e50:.3f}", f"E90 {index.e90:.3f}"])
    ax.legend(frameon=False, fontsize="small", loc="lower right", bbox_to_anchor=(1.0, _FOOT), handlelength=1.8)
    return ax


def _square_axes(ax: Axes | None) -> Axes:
    """Axes of probabilities, with the line on which predicted and observed agree."""
    ax = new_axes(4.4, 4.4) if ax is None else ax
    ax.plot([0, 1], [0, 1], color="0.5", linestyle="--", linewidth=1.0, zorder=1)
    ax.set_xlim(0.0, 1.03)
    ax.set_ylim(0.0, 1.03)
    ax.set_aspect("equal")
    return ax


def _name_axes(ax: Axes, x: str, y: str, *, grid: Literal["both", "x", "y"] = "both") -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    draw_grid(ax, grid)


def _shares(levels: EventLevels, kind: str, bins: int) -> ByCounts:
    """The calibration points as a function of the counts of the rows."""
    if kind == "survival":
        columns = [levels.share_until(j / bins) for j in range(1, bins)] + [np.ones(levels.low.size)]
    else:
        # The same quotients of integers as in the metric: 0.5 - 0.7/2 is not the float 0.15.
        columns = [
            levels.share_until((bins + j) / (2 * bins)) - levels.share_until((bins - j) / (2 * bins), inclusive=False)
            for j in range(1, bins)
        ]
    share = np.stack(columns, axis=1)

    def form(counts: Counts) -> FloatArray:
        weight = counts * levels.weight
        total = weight.sum(axis=1, keepdims=True)
        shares: FloatArray = np.full((len(counts), share.shape[1]), np.nan)
        np.divide(weight @ share, total, out=shares, where=total > 0)
        return shares

    return form


def _binomial_limits(n: int, probability: float) -> tuple[float, float]:
    """Limits that a share of `n` independent rows exceeds on each side with probability 2.5 % at most."""
    from scipy.special import bdtr

    centre, reach = n * probability, 10 * np.sqrt(n * probability * (1 - probability)) + 10
    counts = np.arange(max(0, int(centre - reach)), min(n, int(centre + reach)) + 1)
    if n == 0:
        return 0.0, 1.0
    below = bdtr(counts, n, probability)
    tail = (1 - _LEVEL) / 2
    lower, upper = (counts[np.searchsorted(below, share)] for share in (tail, 1 - tail))
    return float(lower / n), float(upper / n)


def _draw_curve(ax: Axes, curve: CalibrationPoints, weights: FloatArray) -> None:
    """The smooth estimate, dotted where few rows have such predictions; the weights are those of its points."""
    risk, observed = curve
    first, last = np.quantile(risk, _CENTRAL, weights=weights, method="inverted_cdf")
    central = (risk >= first) & (risk <= last)
    ax.plot(risk, observed, color=COLOURS[0], linewidth=0.8, linestyle=":")
    marker = "o" if first == last else None
    label = "smooth estimate"
    ax.plot(risk[central], observed[central], color=COLOURS[0], linewidth=1.8, marker=marker, label=label)


def _draw_groups(ax: Axes, groups: Sequence[RiskGroup]) -> None:
    """Circles of the groups, with bars of their limits where these have a width."""
    for group in groups:
        if not np.isnan(group.lower):
            ax.vlines(group.predicted, group.lower, group.upper, color=COLOURS[1], linewidth=1.0, zorder=1.9)
    ax.plot(
        [group.predicted for group in groups], [group.observed for group in groups], linestyle="none", marker="o",
        markersize=4.5, color=COLOURS[1], markerfacecolor="white", label="groups, 95 % limits",
    )  # fmt: skip


def _axis_end(risk: FloatArray, groups: Sequence[RiskGroup]) -> float:
    """Where both axes end: beyond 1, or where probabilities are low, beyond all but the largest hundredth of them."""
    tops = [float(np.quantile(risk, 0.99)), *(max(group.observed, np.nan_to_num(group.upper)) for group in groups)]
    return 1.05 * max(tops) if 0 < max(tops) < _LOW else 1.03


def _draw_histogram(ax: Axes, risk: FloatArray, weights: FloatArray, end: float) -> None:
    heights, edges = np.histogram(risk, bins=_FOOT_BINS, range=(0.0, end), weights=weights)
    ax.bar(
        edges[:-1],
        _FOOT * end * heights / heights.max(),
        width=end / _FOOT_BINS,
        align="edge",
        color="0.75",
        zorder=0.5,
    )


def _p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"

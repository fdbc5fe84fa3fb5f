"""The mean predicted survival beside the Kaplan-Meier curve, and single predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.nonparametric import kaplan_meier
from aldsurv.plots.curves import plot_survival
from aldsurv.plots.drawing.appearance import COLOURS, line_look, show_legend
from aldsurv.plots.drawing.at_risk_table import add_at_risk_row
from aldsurv.plots.drawing.new_figures import returned_figure
from aldsurv.plots.drawing.row_choice import RowChoice
from aldsurv.plots.drawing.time_grid import as_numpy
from aldsurv.plots.kaplan_meier_plot import plot_kaplan_meier

__all__ = ["plot_mean_survival", "prediction_figure"]

_GRID = 201
_BLOCK = 10_000


def plot_mean_survival(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    unit: str | None = None,
    at_risk: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean of the predicted survival curves over the Kaplan-Meier curve of the same rows.

    If a model is right on average, the two agree within the confidence band.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows.
    at_risk
        Whether to write the number at risk under the axis.
    unit, ax
        As in `plot_survival`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> ax = plot_mean_survival(Exponential([1.0, 3.0, 5.0]), SurvivalData.right([1, 2, 4], [1, 0, 1]))
    >>> [line.get_label() for line in ax.lines]
    ['Kaplan-Meier', 'mean prediction']
    """
    if len(predicted) != len(data):
        raise ParameterError(f"predicted has {len(predicted)} rows, but data has {len(data)}.", argument="predicted")
    estimate = kaplan_meier(data)
    ax = plot_kaplan_meier(estimate, label="Kaplan-Meier", unit=unit, at_risk=False, ax=ax)
    if at_risk:
        # Without a name: one row needs none.
        add_at_risk_row(ax, estimate, None, COLOURS[0])
    times = np.linspace(0.0, float(estimate.times[-1]), _GRID)
    total = np.zeros(_GRID)
    for start in range(0, len(data), _BLOCK):
        block = slice(start, start + _BLOCK)
        total += data.weights[block] @ as_numpy(predicted[block].survival(times))
    ax.plot(times, total / data.total_weight, label="mean prediction", **line_look(ax))
    return show_legend(ax)


def prediction_figure(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    rows: RowChoice,
    labels: Sequence[str] | None = None,
    unit: str | None = None,
) -> Figure:
    """New figure: survival curves of some rows, and the mean of all beside Kaplan-Meier.

    Parameters
    ----------
    predicted, data
        Predictions and observed outcomes of the same rows.
    rows, labels
        Rows to draw as single curves, at most ten, and their names.
    unit
        Unit of time.
    """
    figure = returned_figure(11.0, 4.2)
    left, right = figure.subplots(1, 2)
    plot_mean_survival(predicted, data, unit=unit, ax=right)
    times = np.linspace(0.0, right.get_xlim()[1], _GRID)
    plot_survival(predicted, times, rows=rows, labels=labels, unit=unit, ax=left)
    left.set_title("single predictions", loc="left", fontsize="medium")
    right.set_title("all rows", loc="left", fontsize="medium")
    return figure

"""Elastic nets along their penalty: effects of the columns, and how held-out rows are predicted."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aldsurv.errors import ParameterError
from aldsurv.models.linear.elastic_net.elastic_net_survival import ElasticNetSurvival
from aldsurv.plots.drawing.appearance import COLOURS, draw_grid, plain_label
from aldsurv.plots.drawing.new_figures import new_axes, returned_figure

__all__ = ["plot_held_out_scores", "plot_regularisation_path", "regularisation_figure"]

_MOST_NAMES = 8


def plot_regularisation_path(model: ElasticNetSurvival, *, names: int = _MOST_NAMES, ax: Axes | None = None) -> Axes:
    """Draw the effect of one standard deviation of each column as the penalty falls, with a line at the chosen alpha.

    Parameters
    ----------
    model
        A fitted `ElasticNetCox` or `ElasticNetAFT`.
    names
        How many columns are coloured and named: those with the largest effects at the chosen alpha. Others are grey.
    ax
        Where to draw; None: in a new figure.
    """
    ax = new_axes() if ax is None else ax
    path, labels = model.path_, model.design_.names
    ever, place = np.unique(path.columns, return_inverse=True)
    effects = np.zeros((ever.size, path.alphas.size))
    effects[place, np.repeat(np.arange(path.alphas.size), path.nonzero)] = path.values
    chosen = int(np.argmin(np.abs(path.alphas - model.alpha_)))
    order = np.argsort(-np.abs(effects[:, chosen]), kind="stable")
    named = [k for k in order[:names] if effects[k, chosen]]
    for k in order[::-1]:
        if k not in named:
            ax.plot(path.alphas, effects[k], color="0.75", linewidth=0.7)
    for number, k in enumerate(named):
        colour, dashes = COLOURS[number % len(COLOURS)], "-" if number < len(COLOURS) else "--"
        ax.plot(path.alphas, effects[k], dashes, color=colour, linewidth=1.8, label=plain_label(labels[ever[k]]))
    if named:
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    _draw_alphas(ax, model)
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    what = "log hazard" if model.RATIO_NAME == "hazard ratio" else "log time"
    ax.set_ylabel(f"{what} per standard deviation")
    draw_grid(ax, "y")
    return ax


def plot_held_out_scores(model: ElasticNetSurvival, *, ax: Axes | None = None) -> Axes:
    """Draw the gain in held-out log-likelihood at each alpha, with bars of one standard error.

    Parameters
    ----------
    model
        A fitted `ElasticNetCox` or `ElasticNetAFT` whose alpha was chosen by folds.
    ax
        Where to draw; None: in a new figure.
    """
    path = model.path_
    if not path.scores.size:
        raise ParameterError(
            "model was fitted without folds, so that its alphas have no scores",
            argument="model",
            advice="Fit it with alpha=None.",
        )
    ax = new_axes() if ax is None else ax
    ax.errorbar(path.alphas, path.scores, yerr=path.standard_errors, color=COLOURS[0], ecolor="0.6", capsize=2, lw=1.4)
    ax.plot(path.alphas, path.scores, "o", color=COLOURS[0], markersize=3.5)
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    # Hopeless alphas must not flatten the part in which the best one is.
    top = float((path.scores + path.standard_errors).max())
    ax.set_ylim(bottom=max(float((path.scores - path.standard_errors).min()), -2 * max(top, 0.05)))
    _draw_alphas(ax, model)
    ax.set_ylabel("held-out gain over no columns")
    draw_grid(ax, "y")
    return ax


def regularisation_figure(model: ElasticNetSurvival) -> Figure:
    """New figure with the effects above the held-out scores, over the same alphas.

    Parameters
    ----------
    model
        A fitted `ElasticNetCox` or `ElasticNetAFT` whose alpha was chosen by folds.
    """
    figure = returned_figure(6.8, 6.4)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    plot_regularisation_path(model, ax=above)
    above.set_xlabel("")
    plot_held_out_scores(model, ax=below)
    return figure


def _draw_alphas(ax: Axes, model: ElasticNetSurvival) -> None:
    """A scale on which the penalty falls to the right, and the alpha that was chosen."""
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    ax.axvline(model.alpha_, color="0.2", linewidth=1.0, linestyle=":")
    ax.set_xlabel(f"alpha (l1_ratio {model.l1_ratio_:g})")

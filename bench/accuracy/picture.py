"""The models of the study side by side, as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.accuracy.data import REAL
from bench.accuracy.found import Found
from bench.accuracy.tables import RANKED_BY, mean_ranks

__all__ = ["draw"]

_TITLES = {"log_loss": "log-loss", "ibs": "IBS", "cens_dcal": "CensDcal", "harrell_c": "C"}
_OURS, _OTHERS = "#D55E00", "#0072B2"
# An axis shows those within this many times the distance of the median from the best; the rest is written at its edge.
_SPAN = 4.0


def draw(found: Found, path: Path) -> bool:
    """Means over the real sets of each model, the best mean rank on top; False if there is nothing to draw yet."""
    from matplotlib.figure import Figure

    from aldsurv.plots import save_figure

    ranks = mean_ranks(found)
    models = sorted((model for model in ranks if model != "kaplan_meier"), key=lambda model: -np.mean(ranks[model]))
    if not models:
        return False
    figure = Figure(figsize=(9.0, 0.27 * len(models) + 1.1), layout="constrained")
    places = np.arange(len(models))
    colours = [_OURS if model == "default" else _OTHERS for model in models]
    for k, (metric, ax) in enumerate(zip(RANKED_BY, figure.subplots(1, 4, sharey=True), strict=True)):
        values = np.array([found.over(model, REAL, metric) for model in models])
        sign = -1.0 if metric == "harrell_c" else 1.0
        best, middle = (values * sign).min(), np.median(values * sign)
        edge = best + _SPAN * (middle - best)
        beyond = values * sign > edge
        ax.hlines(places, 0, 1, transform=ax.get_yaxis_transform(), color="#e0e0e0", linewidth=0.7, zorder=0)
        ax.scatter(np.where(beyond, np.nan, values), places, c=colours, s=34, zorder=3)
        for place in np.flatnonzero(beyond):
            ax.annotate(
                f"{values[place]:.2f} →" if sign > 0 else f"← {values[place]:.2f}",
                (1.0 if sign > 0 else 0.0, place), xycoords=("axes fraction", "data"), va="center", fontsize=8,
                ha="right" if sign > 0 else "left", color="#555555", backgroundcolor="white",
            )  # fmt: skip
        ax.set_xlabel(f"{_TITLES[metric]} ({'higher' if sign < 0 else 'lower'} is better)", fontsize=9)
        ax.tick_params(labelsize=8, left=False)
        ax.spines[["top", "right", "left"]].set_visible(False)
        if k == 0:
            ax.set_yticks(places, ["ALDSurvival()" if model == "default" else model for model in models], fontsize=9)
            for model, label in zip(models, ax.get_yticklabels(), strict=True):
                label.set_fontweight("bold" if model == "default" else "normal")
    title = "Means over seven real datasets, test rows; models by their mean rank"
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    save_figure(figure, path)
    return True

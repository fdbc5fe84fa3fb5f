"""The pictures of the first page: ``python -m bench.pages.landing`` fits a model to GBSG and draws its predictions.

Each is drawn twice, for light and for dark pages, on a transparent ground. That of the neutral benchmark is drawn from
its results file, and ``python -m bench.pages`` draws it again when that changes. The social card shows the predictions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.pages.neutral import LEARNERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["THEMES", "draw_predictions", "draw_standing", "image_file"]

_IMAGES = Path(__file__).parents[2] / "docs" / "images"
# Ink, and three colours that have a contrast of 3 and more with the ground of the pages.
THEMES = {
    "light": ("#37474f", ("#00796b", "#c2410c", "#6a3fb5")),
    "dark": ("#cfd8dc", ("#4db6ac", "#ffa566", "#b79df2")),
}
_DPI = 160
_YEARS, _MONTHS = 7, 12
_MEASURE = "isbs"


def image_file(name: str, theme: str) -> Path:
    """Where a picture is."""
    return _IMAGES / f"{name}-{theme}.png"


def predictions() -> tuple[np.ndarray, list[Any]]:
    """Survival of three test rows over the years: those at the 10 %, 50 % and 90 % of the predicted medians."""
    from aldsurv import ALDSurvival, datasets

    train, test = datasets.load("gbsg").split(seed=0)
    model = ALDSurvival(random_state=0).fit(train.x, train.y)
    order = np.argsort(model.predict_distribution(test.x).median())
    rows = [int(order[int(share * (len(order) - 1))]) for share in (0.1, 0.5, 0.9)]
    times = np.linspace(0, _YEARS * _MONTHS, 240)
    return times / _MONTHS, [(model.predict_distribution(test.x[[row]]), times) for row in rows]


def draw_predictions(theme: str, predicted: tuple[np.ndarray, list[Any]]) -> Figure:
    """The predicted survival curves, with each median."""
    figure, ax = _empty(theme, (7.2, 3.6))
    years, curves = predicted
    for (distribution, times), colour, name in zip(curves, THEMES[theme][1][::-1], "ABC", strict=True):
        survival = np.asarray(distribution.survival(times))[0]
        median = float(distribution.median()[0]) / _MONTHS
        ax.plot(years, survival, color=colour, linewidth=2.4)
        label = f"{name}: median {median:.1f} years" if median < _YEARS else f"{name}: median later"
        ax.annotate(
            label,
            (years[-1], survival[-1]),
            (6, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )
        if median < _YEARS:
            ax.plot([median], [0.5], "o", color=colour)
    ax.set(xlim=(0, _YEARS), ylim=(0, 1), xlabel="years", ylabel="probability of no event")
    ax.axhline(0.5, color=THEMES[theme][0], linewidth=0.6, linestyle=":")
    return figure


def draw_standing(theme: str, ranking: Mapping[str, Any], titles: Mapping[str, str]) -> Figure:
    """Mean ranks by the integrated Brier score, of our models and all learners of the study."""
    found = ranking[_MEASURE]
    ink, (ours, *_) = THEMES[theme]
    figure, ax = _empty(theme, (7.2, 4.6))
    names = [titles.get(name, LEARNERS.get(name, name)) for name in found["models"]]
    places = np.arange(len(names))
    colours = [ours if name in titles else ink for name in found["models"]]
    ax.barh(places, found["mean_ranks"], color=colours, height=0.62)
    ax.set_yticks(places, names)
    for label, name in zip(ax.get_yticklabels(), found["models"], strict=True):
        if name in titles:
            label.set(color=ours, fontweight="bold")
    ax.invert_yaxis()
    ax.set_xlabel(f"mean rank by integrated Brier score on {found['n_datasets']} datasets (1 is best)")
    return figure


def draw_card(predicted: tuple[np.ndarray, list[Any]]) -> Figure:
    """A picture of 1200 to 630 for links to the site, with what the library does."""
    figure, ax = _empty("dark", (7.5, 3.9375))
    figure.patch.set(alpha=1, facecolor="#1e2129")
    years, curves = predicted
    for (distribution, times), colour in zip(curves, THEMES["dark"][1][::-1], strict=True):
        ax.plot(years, np.asarray(distribution.survival(times))[0], color=colour, linewidth=3)
    ax.set(xlim=(0, _YEARS), ylim=(0, 1), xticks=[], yticks=[])
    title = "aldsurv\n\nFor every individual, the whole distribution\nof the time to an event"
    figure.suptitle(title, x=0.05, ha="left", color="#ffffff", fontsize=17)
    return figure


def _empty(theme: str, size: tuple[float, float]) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    ink = THEMES[theme][0]
    figure = Figure(figsize=size, layout="constrained")
    figure.patch.set_alpha(0)
    ax = figure.subplots()
    ax.patch.set_alpha(0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(ink)
    ax.tick_params(colors=ink)
    ax.xaxis.label.set_color(ink)
    ax.yaxis.label.set_color(ink)
    return figure, ax


def main() -> int:
    """Draw the predictions."""
    predicted = predictions()
    for theme in THEMES:
        path = image_file("predicted", theme)
        draw_predictions(theme, predicted).savefig(path, dpi=_DPI, transparent=True)
        print(path.name)
    draw_card(predicted).savefig(_IMAGES / "card.png", dpi=160)
    print("card.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

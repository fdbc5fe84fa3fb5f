"""Mean ranks of our models and the study's learners on a line, with the critical difference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["digest_text", "draw_ranks"]

_TITLES = {
    "isbs": "Integrated survival Brier score",
    "harrell_c": "Harrell's C",
}


def draw_ranks(ranking: Mapping[str, Any], titles: Mapping[str, str]) -> Figure:
    """The diagrams of both measures, one above the other; `titles` has what ours are called."""
    from matplotlib.figure import Figure

    from aldsurv.plots.benchmark import plot_critical_difference

    figure = Figure(figsize=(8.0, 10.5), layout="constrained")
    for (measure, title), ax in zip(_TITLES.items(), figure.subplots(2, 1), strict=True):
        found = ranking[measure]
        named = [titles.get(name, name) for name in found["models"]]
        plot_critical_difference(
            dict(zip(named, found["mean_ranks"], strict=True)),
            found["critical_difference"],
            groups=[[titles.get(name, name) for name in group] for group in found["groups"]],
            title=f"{title}: mean ranks on {found['n_datasets']} datasets",
            ax=ax,
        )
    return figure


def digest_text(ranking: Mapping[str, Any]) -> str:
    """What the picture shows."""
    return json.dumps({measure: ranking[measure] for measure in _TITLES}, sort_keys=True)

"""Values of docs/deephit.md: recipes compared, and the paper's recipe beside pycox."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.pages.markdown import in_words, table
from bench.pages.model_studies import (
    Scores,
    dates,
    recipe_table,
    standard_deviations_apart,
    standard_errors_apart,
    with_spread,
)
from bench.pages.results import MODELS, read_section

__all__ = ["values"]

_METRICS = {"harrell_c": "C", "ibs": "IBS", "cens_dcal": "CensDcal"}
_RECIPE_METRICS = {
    "log_loss": "log-loss",
    "ibs": "IBS",
    "c": "C (median)",
    "c_area": "C (restricted mean)",
    "cens_dcal": "CensDcal",
}
_DEFAULT = "B, 15 bins"
# The dataset of which most rows are copies of others.
_WITH_COPIES = "whas"
# By implementation or recipe, and by metric: the value of each seed.
Runs = Mapping[str, Mapping[str, list[float]]]


def values() -> dict[str, str]:
    """By name."""
    paper: Scores = read_section(MODELS, "deephit recipes, paper")
    others: Scores = read_section(MODELS, "deephit recipes, default")
    named = {f"**default**: {name}" if name == _DEFAULT else name: own for name, own in others.items()}
    beside: Mapping[str, Runs] = read_section(MODELS, "deephit beside pycox")
    return {
        "recipes": recipe_table({**paper, **named}, head="recipe", titles=_RECIPE_METRICS),
        **read_section(MODELS, "deephit recipes, differences"),
        "beside pycox": _beside_pycox(beside),
        **_findings(beside),
        **dates("deephit"),
    }


def _beside_pycox(scores: Mapping[str, Runs]) -> str:
    rows = [
        [name if kind == "pycox" else "", kind, *(with_spread(own[key], 3) for key in _METRICS), _seconds(own)]
        for name, runs in scores.items()
        for kind, own in runs.items()
    ]
    return table(["dataset", "", *_METRICS.values(), "s"], rows, left=2)


def _seconds(own: Mapping[str, list[float]]) -> str:
    return f"{np.median(own['seconds']):.2f}"


def _findings(scores: Mapping[str, Runs]) -> dict[str, str]:
    """Numbers of sentences about the comparison; differences are ours less pycox's."""
    deviations, errors = (
        {
            (name, title): apart(runs["paper"][key], runs["pycox"][key])
            for name, runs in scores.items()
            for key, title in _METRICS.items()
        }
        for apart in (standard_deviations_apart, standard_errors_apart)
    )
    others = [cell for cell in deviations if cell[0] != _WITH_COPIES]
    clear = [f"{cell[1]} on {cell[0]} ({errors[cell]:+.1f})" for cell in others if abs(errors[cell]) > 2]
    copies = scores[_WITH_COPIES]
    return {
        "seeds": str(len(copies["pycox"]["ibs"])),
        "largest difference without copies": f"{max(abs(deviations[cell]) for cell in others):.2f}",
        "more than two se without copies": in_words(clear),
        "IBS with copies, sd": f"{deviations[_WITH_COPIES, 'IBS']:.1f}",
        **{f"IBS with copies, {kind}": f"{np.mean(own['ibs']):.3f}" for kind, own in copies.items()},
    }

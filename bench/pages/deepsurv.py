"""Values of docs/deepsurv.md: recipes compared, and the paper's recipe beside pycox."""

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

_METRICS = ("C", "IBS", "CensDcal")
_KINDS = ("pycox", "paper", "default")
# By implementation or recipe: scores (seeds, metrics).
Runs = Mapping[str, list[list[float]]]


def values() -> dict[str, str]:
    """By name."""
    texts = {f"recipes, seeds {seeds}": _recipes(seeds) for seeds in ("0 to 2", "3 to 5")}
    beside = read_section(MODELS, "deepsurv beside pycox")
    texts["beside pycox"] = _beside_pycox(beside["scores"])
    texts |= _findings(beside["scores"]) | dates("deepsurv")
    c, ibs, _ = np.mean(beside["whas, copies together"], axis=0)
    texts |= {"whas, copies together, C": f"{c:.3f}", "whas, copies together, IBS": f"{ibs:.3f}"}
    for kind in _KINDS:
        c, ibs, _ = np.mean(beside["whas by patient"][kind], axis=0)
        texts |= {f"whas by patient, {kind}, C": f"{c:.3f}", f"whas by patient, {kind}, IBS": f"{ibs:.3f}"}
        texts[f"seconds, {kind}"] = f"{beside['seconds'][kind]:.2f}"
    return texts


def _recipes(seeds: str) -> str:
    paper: Scores = read_section(MODELS, f"deepsurv recipes, seeds {seeds}, paper")
    others: Scores = read_section(MODELS, f"deepsurv recipes, seeds {seeds}, default")
    return recipe_table({**paper, **others}, digits=4, head="7 real datasets")


def _beside_pycox(scores: Mapping[str, Runs]) -> str:
    rows = []
    for name, runs in scores.items():
        for place, metric in enumerate(_METRICS):
            cells = [with_spread(_column(runs[kind], place), 4) for kind in _KINDS]
            apart = [f"{_deviations(runs, place):+.2f}", f"{_errors(runs, place):+.1f}"]
            rows.append([name, metric, *cells[:2], *apart, cells[2]])
    head = [
        "dataset",
        "metric",
        "pycox CoxPH",
        "DeepSurv paper",
        "difference in sd of pycox",
        "in se",
        "DeepSurv default",
    ]
    return table(head, rows, left=2)


def _findings(scores: Mapping[str, Runs]) -> dict[str, str]:
    """Numbers of sentences about the comparison; differences are ours less pycox's."""
    deviations, errors = (
        {
            f"{metric} on {name}": apart(runs, place)
            for name, runs in scores.items()
            for place, metric in enumerate(_METRICS)
        }
        for apart in (_deviations, _errors)
    )
    return {
        "seeds": str(len(next(iter(scores.values()))["pycox"])),
        "largest difference": f"{max(abs(value) for value in deviations.values()):.2f}",
        "more than two se": in_words([f"{name} ({value:+.1f})" for name, value in errors.items() if abs(value) > 2]),
        "default best": in_words([name for name, runs in scores.items() if _default_is_best(runs)]),
    }


def _default_is_best(runs: Runs) -> bool:
    """Whether C of the default is above and its IBS below both others."""
    c, ibs = ({kind: float(np.mean(_column(runs[kind], place))) for kind in _KINDS} for place in (0, 1))
    return max(c, key=c.__getitem__) == min(ibs, key=ibs.__getitem__) == "default"


def _deviations(runs: Runs, place: int) -> float:
    return standard_deviations_apart(_column(runs["paper"], place), _column(runs["pycox"], place))


def _errors(runs: Runs, place: int) -> float:
    return standard_errors_apart(_column(runs["paper"], place), _column(runs["pycox"], place))


def _column(runs: list[list[float]], place: int) -> list[float]:
    return [scores[place] for scores in runs]

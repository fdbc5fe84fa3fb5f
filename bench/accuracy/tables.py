"""Tables of the study in Markdown: means, ranks, cell by cell against the paper's model, distance from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aldsurv.benchmark.results import PAPER_METRICS
from aldsurv.benchmark.statistics import adjusted_p_values, corrected_resampled_t
from bench.accuracy.data import REAL, SYNTHETIC
from bench.accuracy.found import Found, loss
from bench.accuracy.models import COMPARED

__all__ = [
    "RANKED_BY",
    "Against",
    "against",
    "cell_table",
    "markdown",
    "mean_ranks",
    "mean_table",
    "rank_table",
    "short_table",
    "true_ratios",
    "truth_table",
]

RANKED_BY = ("log_loss", "ibs", "cens_dcal", "harrell_c")
_SHOWN = {
    "log_loss": "log-loss",
    "ibs": "IBS",
    "harrell_c": "C",
    "uno_c": "Uno's C",
    "cens_dcal": "CensDcal",
    "ici": "ICI",
    "mae": "MAE",
    "survival_crps": "survival-CRPS",
}
# What the README has, and under which name.
_IN_SHORT = {
    "default": "**`ALDSurvival()`**",
    "boosted_ald": "`BoostedALD()`",
    "lognormal": "`LogNormalSurvival()`",
    "cqrnn": "`CQRNN()`",
    "deepsurv": "`DeepSurv()`",
    "deephit": "`DeepHit()`",
    "xgb_aft scaled x5": "XGBoost `aft`, five folds",
    "xgb_cox x5": "XGBoost `cox`, five folds",
    "rsf": "random survival forest",
    "gbsa": "gradient boosting (scikit-survival)",
    "cox": "Cox regression",
    "weibull_aft": "Weibull regression",
    "paper": '`ALDSurvival("paper")`',
}
_TRUE = {"true_crps": "expected CRPS", "true_mae": "MAE of the true mean"}
_LEVEL = 0.05
# Rows of the test part for each of the training part, on every real set.
_TEST_SHARE = 0.25


class Against(NamedTuple):
    """One cell of a comparison: a dataset and a metric; `difference` is of losses, negative is better."""

    dataset: str
    metric: str
    difference: float
    p_value: float


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; all columns but the first are set to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean_table(found: Found, title: str, datasets: Sequence[str], models: Sequence[str] | None = None) -> str:
    """Means over seeds, then over datasets, of every model (or of those named) that has results on all of these."""
    shown = {**_SHOWN, **(_TRUE if all(name in SYNTHETIC for name in datasets) else {})}
    known = found.models(datasets)
    rows = [
        [
            f"**{model}**" if model in ("default", "large") else model,
            *(f"{found.over(model, datasets, metric):.3f}" for metric in shown),
            f"{found.over(model, datasets, 'processor_seconds'):.2f}",
            str(found.count(model, datasets)),
        ]
        for model in (known if models is None else [name for name in models if name in known])
    ]
    return markdown([title, *shown.values(), "seconds", "fits"], rows)


def mean_ranks(found: Found, datasets: Sequence[str] = tuple(REAL)) -> dict[str, tuple[float, ...]]:
    """Of each compared model the mean rank over the datasets, by each metric; 1 is best, ties share."""
    models = [name for name in found.models(datasets) if name in COMPARED]
    by_metric = []
    for metric in RANKED_BY:
        scores = np.array([[loss(metric, found.mean(model, name, metric)) for model in models] for name in datasets])
        scores = scores[np.isfinite(scores).all(axis=1)]  # what has no finite value neither wins nor loses
        less = (scores[:, None, :] < scores[:, :, None]).sum(axis=2)
        equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
        by_metric.append((less + (equal + 1) / 2).mean(axis=0))
    return {model: tuple(float(ranks[place]) for ranks in by_metric) for place, model in enumerate(models)}


def rank_table(found: Found, title: str, datasets: Sequence[str] = tuple(REAL)) -> str:
    """Mean ranks, the best first."""
    ranks = mean_ranks(found, datasets)
    ordered = sorted(ranks, key=lambda model: float(np.mean(ranks[model])))
    rows = [[model, f"{np.mean(ranks[model]):.2f}", *(f"{rank:.2f}" for rank in ranks[model])] for model in ordered]
    return markdown([title, "all four", *(_SHOWN[metric] for metric in RANKED_BY)], rows)


def short_table(found: Found) -> str:
    """The README's: a dozen models on the real sets."""
    ranks = mean_ranks(found)
    metrics = ("log_loss", "ibs", "harrell_c", "cens_dcal")
    rows = [
        [
            label,
            f"{np.mean(ranks[model]):.1f}",
            *(f"{found.over(model, REAL, metric):.3f}" for metric in metrics),
            f"{found.over(model, REAL, 'processor_seconds'):.2f}",
        ]
        for model, label in _IN_SHORT.items()
        if model in ranks
    ]
    return markdown(["", "mean rank", *(_SHOWN[metric] for metric in metrics), "seconds per fit"], rows)


def against(found: Found, model: str = "default", other: str = "paper") -> list[Against]:
    """Seven datasets by the nine metrics, paired by seed, with the corrected resampled t test."""
    cells = []
    for name in REAL:
        for metric in PAPER_METRICS:
            first, second = found.paired(model, other, name, metric)
            if len(first):
                test = corrected_resampled_t(first, second, test_share=_TEST_SHARE)
                cells.append(Against(name, metric, float(np.mean(first - second)), test.p_value))
    return cells


def cell_table(cells: Sequence[Against]) -> str:
    """Signs of the differences: + better, - worse, twice where p is below 0.05 and thrice where it is so adjusted."""
    adjusted = adjusted_p_values([cell.p_value for cell in cells])
    signs = {
        (cell.dataset, cell.metric): _sign(cell.difference) * (1 + (cell.p_value < _LEVEL) + (q < _LEVEL))
        for cell, q in zip(cells, adjusted, strict=True)
    }
    rows = [[name, *(signs.get((name, metric), "") for metric in PAPER_METRICS)] for name in REAL]
    return markdown(["default against paper", *PAPER_METRICS], rows)


def _sign(difference: float) -> str:
    return "+" if difference < 0 else "-" if difference > 0 else "="


def true_ratios(found: Found, model: str = "default") -> dict[str, tuple[float, str]]:
    """Of each synthetic set the model's expected CRPS over that of the best of those compared, and who that is.

    Each pair is compared on the draws that both have: no draw is as hard as another.
    """
    ratios = {}
    for name in SYNTHETIC:
        if (model, name) in found.cells:
            others = {
                other: _true_ratio(found, model, other, name) for other in COMPARED if (other, name) in found.cells
            }
            best = max(others, key=lambda other: others[other])
            ratios[name] = others[best], best
    return ratios


def _true_ratio(found: Found, model: str, other: str, name: str) -> float:
    own, theirs = found.paired(model, other, name, "true_crps")
    return float(own.mean() / theirs.mean()) if len(own) else 0.0


def truth_table(found: Found) -> str:
    """Expected CRPS of the default beside the best on each synthetic set."""
    rows = []
    for name, (ratio, best) in true_ratios(found).items():
        default = found.mean("default", name, "true_crps")
        perfect = default - found.mean("default", name, "true_distance")
        rows.append([name, f"{default:.4f}", best, f"{ratio:.3f}", f"{perfect:.4f}"])
    return markdown(["expected CRPS", "default", "best", "default over best", "the truth itself"], rows)

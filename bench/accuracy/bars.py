"""The bars that were set before the study, and what was reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.accuracy.data import REAL, SEEDS, SYNTHETIC
from bench.accuracy.found import Found
from bench.accuracy.tables import Against, against, markdown, mean_ranks, true_ratios

__all__ = ["Bar", "bar_table", "bars", "mean_bars"]

_MEANS = (("log-loss", "log_loss", 0.675), ("IBS", "ibs", 0.177), ("CensDcal", "cens_dcal", 0.19))


class Bar(NamedTuple):
    """What was asked, what came out, and whether that is enough; None if it is not known yet."""

    asked: str
    reached: str
    met: bool | None


def bars(found: Found, speed: dict[str, Any] | None = None, model: str = "default") -> list[Bar]:
    """Every bar; those without results yet are neither met nor missed."""
    made = mean_bars(found, model=model)
    made.append(_most(_one(found, model, "support", "cens_dcal"), "SUPPORT's CensDcal", 0.10))
    made.append(_least(_one(found, model, "support", "harrell_c"), "SUPPORT's C", 0.615))
    known = _complete(found, model, REAL) and _complete(found, "paper", REAL)
    made += _cells(against(found, model), known)
    made.append(_truth(found, model))
    made.append(_most(None if speed is None else speed["ratio"], "METABRIC fit over XGBoost's five folds", 3.0))
    return made


def mean_bars(found: Found, real: Sequence[str] = tuple(REAL), model: str = "default") -> list[Bar]:
    """The bars on means and ranks over the real sets, which may be told otherwise than in the study."""
    known = _complete(found, model, real)
    made = [
        _most(found.over(model, real, metric) if known else None, f"mean {label} over the seven real sets", most)
        for label, metric, most in _MEANS
    ]
    mean_c = found.over(model, real, "harrell_c") if known else None
    made.append(_least(mean_c, "mean C over the seven real sets", 0.675))
    made.append(_rank(found, model, real))
    return made


def bar_table(made: Sequence[Bar]) -> str:
    """Markdown."""
    words = {True: "met", False: "**not met**", None: "not known yet"}
    return markdown(["bar", "reached", ""], [[bar.asked, bar.reached, words[bar.met]] for bar in made])


def _complete(found: Found, model: str, datasets: Sequence[str]) -> bool:
    return found.count(model, datasets) >= len(datasets) * len(SEEDS["test"])


def _one(found: Found, model: str, dataset: str, metric: str) -> float | None:
    return found.mean(model, dataset, metric) if _complete(found, model, [dataset]) else None


def _most(value: float | None, label: str, most: float) -> Bar:
    return Bar(f"{label} ≤ {most:g}", "" if value is None else f"{value:.4f}", None if value is None else value <= most)


def _least(value: float | None, label: str, least: float) -> Bar:
    return Bar(
        f"{label} ≥ {least:g}", "" if value is None else f"{value:.4f}", None if value is None else value >= least
    )


def _rank(found: Found, model: str, real: Sequence[str]) -> Bar:
    asked = "best mean rank over log-loss, IBS, CensDcal and C of all models compared"
    ranks = {name: float(np.mean(each)) for name, each in mean_ranks(found, real).items()}
    if model not in ranks or len(ranks) < 2:
        return Bar(asked, "", None)
    next_best = min((name for name in ranks if name != model), key=lambda name: ranks[name])
    return Bar(asked, f"{ranks[model]:.2f} ({next_best} {ranks[next_best]:.2f})", ranks[model] < ranks[next_best])


def _cells(cells: list[Against], known: bool) -> list[Bar]:
    better = sum(cell.difference < 0 for cell in cells)
    worse = [f"{cell.dataset} {cell.metric}" for cell in cells if cell.difference > 0 and cell.p_value < 0.05]
    return [
        Bar(
            "at least 55 of 63 cells better than the paper's",
            f"{better} of {len(cells)}",
            better >= 55 if known else None,
        ),
        Bar("no cell significantly worse than the paper's", ", ".join(worse) or "none", not worse if known else None),
    ]


def _truth(found: Found, model: str) -> Bar:
    asked = "expected CRPS within 5 % of the best on each of the 14 synthetic sets"
    ratios = true_ratios(found, model)
    if not ratios:
        return Bar(asked, "", None)
    beyond = [f"{name} {ratio:.3f}" for name, (ratio, _) in ratios.items() if ratio > 1.05]
    reached = f"{len(ratios) - len(beyond)} of {len(ratios)}" + (f"; beyond: {', '.join(beyond)}" if beyond else "")
    return Bar(asked, reached, not beyond if _complete(found, model, SYNTHETIC) else None)

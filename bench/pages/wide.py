"""Values of docs/wide.md: wide tables beside scikit-survival and Kaplan-Meier."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.pages.markdown import table
from bench.pages.results import MODELS, origins, read_section

__all__ = ["values"]

_SECTION = "wide tables"
# By kind of table, model and seed: what was measured.
Measured = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]


def values() -> dict[str, str]:
    """By name."""
    measured: Measured = read_section(MODELS, _SECTION)
    return {"wide tables": _listed(measured), "wide date": origins(MODELS)[_SECTION].date}


def _listed(measured: Measured) -> str:
    """A row per kind of table and model: means over the seeds."""
    rows = []
    for kind in sorted(measured, key=_place):
        models = measured[kind]
        for place, (name, seeds) in enumerate(models.items()):
            c, gain, seconds = (_mean(seeds, key) for key in ("C", "gain", "seconds"))
            memory = max(scores.get("megabytes", 0.0) for scores in seeds.values()) / 1024
            of_ours = ["", ""] if np.isnan(gain) else [f"{gain:+.4f}", f"{memory:.1f}"]
            rows.append([kind if place == 0 else "", name, f"{c:.3f}", *of_ours, f"{seconds:.1f}", str(len(seeds))])
    return table(["table", "model", "C", "IBS gain", "GB", "s", "fits"], rows, left=2)


def _place(kind: str) -> tuple[bool, int, int, str]:
    """Of ``"100 x 1000, independent, sparse"``: the real table first, then by size and correlation."""
    size, correlation, *_ = kind.split(", ")
    rows, columns = map(int, size.split(" x "))
    return "breast cancer" not in kind, rows, columns, correlation if correlation == "correlated" else ""


def _mean(seeds: Mapping[str, Mapping[str, float]], key: str) -> float:
    return float(np.mean([scores.get(key, np.nan) for scores in seeds.values()]))

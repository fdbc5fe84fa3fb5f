"""Values of docs/competing_accuracy.md: models with competing causes on tables whose incidences are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.causes.drawn_tables import LAWS
from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["DRAWN", "FILE", "REAL_TABLE", "values"]

FILE, DRAWN, REAL_TABLE = "causes.json", "drawn", "rotterdam"
# By table and model: what was measured.
Measured = Mapping[str, Mapping[str, Mapping[str, Any]]]


def values() -> dict[str, str]:
    """By name."""
    measured: Measured = read_section(FILE, DRAWN)
    return {
        "tables": _tables(measured),
        "excess": _excess(measured),
        "seconds": _seconds(measured),
        "rotterdam": _real(read_section(FILE, REAL_TABLE)),
        "date": origins(FILE)[DRAWN].date,
    }


def _tables(measured: Measured) -> str:
    """A row per table: how many rows are censored and have each cause, and the truth's score by cause."""
    rows = []
    for name, models in measured.items():
        first = next(iter(models.values()))
        shares = [f"{100 * count / sum(first['events']):.0f}" for count in first["events"]]
        truth = [f"{ibs / (1 + excess):.4f}" for ibs, excess in zip(first["ibs"], first["excess"], strict=True)]
        rows.append([LAWS[name].title, *shares, *truth])
    return table(["table", "censored, %", "cause 1, %", "cause 2, %", "IBS 1", "IBS 2"], rows)


def _excess(measured: Measured) -> str:
    """A row per model: by how many percent its score exceeds the truth's, by cause, on each table."""
    rows = []
    for model in _models(measured):
        scores = [models[model]["excess"] if model in models else None for models in measured.values()]
        known = [each for each in scores if each is not None]
        mean = number(100 * float(np.mean(known))) if len(known) == len(scores) else ""
        rows.append([model, *("" if each is None else _percent(each) for each in scores), mean])
    return table(["model", *(LAWS[name].title for name in measured), "mean"], rows)


def _seconds(measured: Measured) -> str:
    rows = []
    for model in _models(measured):
        found = [models[model]["seconds"] if model in models else None for models in measured.values()]
        rows.append([model, *("" if each is None else number(each) for each in found)])
    return table(["model", *(LAWS[name].title for name in measured)], rows)


def _real(measured: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A row per model: means over the splits."""
    rows = []
    for model, splits in measured.items():
        first, second = np.mean([split["ibs"] for split in splits], axis=0)
        seconds = float(np.mean([split["seconds"] for split in splits]))
        rows.append([model, f"{first:.4f}", f"{second:.4f}", number(seconds), str(len(splits))])
    return table(["model", "IBS, recurrence", "IBS, death", "s", "splits"], rows)


def _models(measured: Measured) -> list[str]:
    return list(dict.fromkeys(name for models in measured.values() for name in models))


def _percent(excess: Sequence[float]) -> str:
    return " / ".join(number(100 * each) for each in excess)

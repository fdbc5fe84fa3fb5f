"""Models and tables for the tests of ``evaluate`` and ``compare``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import CoxRegression, SurvivalData, WeibullAFT
from aldsurv.cli.shared.outcome_options import OutcomeColumns

COLUMNS = OutcomeColumns(time="months", event="status")


def people(n: int, seed: int) -> dict[str, list[Any]]:
    """Columns of a table in which only ``age`` matters for the time."""
    rng = np.random.default_rng(seed)
    age, dose = rng.normal(50, 10, n).round(1), rng.uniform(0, 4, n).round(2)
    time, end = 30 * np.exp(-0.06 * (age - 50)) * rng.weibull(1.3, n), rng.uniform(5, 80, n)
    return {
        "age": age.tolist(),
        "dose": dose.tolist(),
        "months": np.minimum(time, end).round(2).clip(0.01).tolist(),
        "status": (time <= end).astype(int).tolist(),
        "centre": [("01", "02", "03")[k % 3] for k in range(n)],
    }


def write(path: Path, columns: dict[str, Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def outcome(columns: dict[str, Sequence[Any]]) -> SurvivalData:
    return SurvivalData.right(columns["months"], columns["status"])


def covariates(columns: dict[str, Sequence[Any]], names: Sequence[str] = ("age", "dose")) -> dict[str, np.ndarray]:
    return {name: np.asarray(columns[name]) for name in names}


def save_model(
    path: Path,
    train: dict[str, Sequence[Any]],
    kind: type = WeibullAFT,
    names: Sequence[str] = ("age", "dose"),
    remember: OutcomeColumns | None = COLUMNS,
    **options: Any,
) -> Path:
    model = kind(unit="months", **options).fit(covariates(train, names), outcome(train))
    if remember is not None:
        model.set_outcome_columns(remember.given)
    model.save(path)
    return path


def note_on_late_rows(train: dict[str, Sequence[Any]], test: dict[str, Sequence[Any]]) -> str:
    """The note on rows that were followed for longer than any of training, if there are any."""
    last = max(train["months"])
    late = sum(time > last for time in test["months"])
    if not late:
        return ""
    told = f"{late} of {len(test['months'])} rows were followed beyond {last:.4g}, the last time of training."
    return f"aldsurv: note: {told}\n"


__all__ = [
    "COLUMNS",
    "CoxRegression",
    "WeibullAFT",
    "covariates",
    "note_on_late_rows",
    "outcome",
    "people",
    "save_model",
    "write",
]

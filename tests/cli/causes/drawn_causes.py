"""A table with two causes whose rates are known, and models of it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from aldsurv import DeepHit, SurvivalData
from aldsurv.cli.shared.outcome_options import OutcomeColumns

COLUMNS = OutcomeColumns(time="t", event="status", event_values="1=relapse,2=death,0=censored")


def drawn(n: int = 150, seed: int = 0) -> dict[str, np.ndarray]:
    """Relapse depends on ``grade``, death on ``age``; both have exponential times."""
    rng = np.random.default_rng(seed)
    age, grade = rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    relapse, death = rng.exponential(12 * np.exp(-grade)), rng.exponential(30 * np.exp(-age))
    end = rng.uniform(5, 60, n)
    time = np.minimum(np.minimum(relapse, death), end)
    status = np.select([time == relapse, time == death], [1, 2], 0)
    return {"age": age, "grade": grade, "t": time.round(3).clip(0.001), "status": status}


def write(path: str | Path, columns: dict[str, np.ndarray]) -> Path:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return Path(path)


def covariates(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: columns[name] for name in ("age", "grade")}


def outcome(columns: dict[str, np.ndarray]) -> SurvivalData:
    return SurvivalData.competing(columns["t"], columns["status"], names=["relapse", "death"])


def save_deephit(path: str | Path, columns: dict[str, np.ndarray], **settings: object) -> Path:
    settings = {"members": 1, "max_epochs": 8, "hidden": [6], "durations": 6, "random_state": 0, **settings}
    model = DeepHit(unit="months", **settings).fit(covariates(columns), outcome(columns))
    model.set_outcome_columns(COLUMNS.given)
    return model.save(path)

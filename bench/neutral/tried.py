"""Settings that were compared on inner splits of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

__all__ = ["DEFAULT", "WITHOUT_COVARIATES", "tried_settings"]

# What every setting is compared with, and what its scores are relative to.
DEFAULT, WITHOUT_COVARIATES = "ald", "kaplan_meier"
_CELL = ["dataset", "iteration", "fold"]


def tried_settings(lines: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """For each setting its means over datasets, and on how many of them it is better than the default.

    ``isbs`` is relative to that of Kaplan-Meier on the same rows. Settings are compared on the splits that both were
    run on. A model that was set in several ways while choices were made counts once for each: the latest has the
    plain name, the others their fingerprint beside it.

    Raises
    ------
    ValueError
        If Kaplan-Meier or the default was not run.
    """
    frame = pd.DataFrame([line for line in lines if "error" not in line])
    latest = frame.groupby("model")["settings"].last()
    earlier = frame["settings"] != frame["model"].map(latest)
    frame["label"] = frame["model"].where(~earlier, frame["model"] + ", " + frame["settings"])
    labels = list(dict.fromkeys(frame["label"]))
    for needed in (WITHOUT_COVARIATES, DEFAULT):
        if needed not in labels:
            raise ValueError(f"inner splits have no results of {needed}: run python -m bench.neutral inner for it")
    tables = {
        name: frame.pivot_table(index=_CELL, columns="label", values=name, aggfunc="last")
        for name in ("isbs", "harrell_c", "seconds")
    }
    found = {}
    for label in labels:
        if label == WITHOUT_COVARIATES:
            continue
        relative = _means(tables["isbs"], label, WITHOUT_COVARIATES)
        by_default = _means(tables["isbs"], label, DEFAULT)
        c_by_default = _means(tables["harrell_c"], label, DEFAULT)
        found[label] = {
            "splits": int(tables["isbs"][label].notna().sum()),
            "datasets": len(by_default),
            "isbs": float((relative[label] / relative[WITHOUT_COVARIATES]).mean()),
            "harrell_c": float(tables["harrell_c"][label].groupby("dataset").mean().mean()),
            "wins_isbs": int((by_default[label] < by_default[DEFAULT]).sum()),
            "wins_harrell_c": int((c_by_default[label] > c_by_default[DEFAULT]).sum()),
            "seconds": float(tables["seconds"][label].groupby("dataset").mean().mean()),
        }
    return found


def _means(table: pd.DataFrame, label: str, other: str) -> pd.DataFrame:
    """Means by dataset of two settings over the splits that both have."""
    return table[list(dict.fromkeys([label, other]))].dropna().groupby("dataset").mean()

"""Where models stand among the learners of the study: mean ranks, wins and signed-rank tests over datasets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pandas as pd
from scipy.stats import rankdata, wilcoxon

from bench.neutral.scores import MEASURES

__all__ = ["Place", "Versus", "dataset_means", "place", "published_means", "versus"]

# What a learner was tuned for to count in a measure.
_TUNED_FOR = {"isbs": "isbs", "isll": "isbs", "harrell_c": "harrell_c"}


@final
@dataclass(frozen=True)
class Place:
    """A model among the published learners: mean ranks over datasets by learner, the model's own among them."""

    model: str
    measure: str
    datasets: int
    mean_ranks: dict[str, float]

    @property
    def rank(self) -> float:
        """The model's mean rank."""
        return self.mean_ranks[self.model]


@final
@dataclass(frozen=True)
class Versus:
    """A model against one learner: datasets on which it is better, all datasets, and Wilcoxon's two-sided p."""

    wins: int
    datasets: int
    p_value: float


def published_means(published: pd.DataFrame, measure: str, iterations: int) -> pd.DataFrame:
    """Means of the published scores (datasets, learners) over the first iterations; NaN if a learner has none."""
    tuned = published["tune_measure"].str.contains(_TUNED_FOR[measure])
    rows = published[tuned & (published["iteration"] <= iterations)]
    return rows.pivot_table(index="dataset", columns="learner", values=measure, aggfunc="mean")


def dataset_means(lines: Iterable[dict[str, Any]], model: str, measure: str, iterations: int) -> pd.Series[float]:
    """Means of a model's scores over the first iterations of each dataset."""
    rows = [
        line for line in lines if line["model"] == model and "error" not in line and line["iteration"] <= iterations
    ]
    return pd.DataFrame(rows).groupby("dataset")[measure].mean()


def place(model: str, own: pd.Series[float], learners: pd.DataFrame, measure: str) -> Place:
    """Rank a model together with the learners on each dataset; a learner without a score there is not ranked."""
    table = learners.loc[learners.index.intersection(own.index)].copy()
    table[model] = own
    signed = -table if MEASURES[measure] else table
    ranks = signed.apply(lambda row: pd.Series(rankdata(row, nan_policy="omit"), row.index), axis=1)
    means = ranks.mean().dropna().sort_values()
    return Place(model, measure, len(table), {str(name): float(rank) for name, rank in means.items()})


def versus(own: pd.Series[float], other: pd.Series[float], measure: str) -> Versus:
    """Compare the means of the datasets that both have."""
    both = pd.concat([own, other], axis=1, keys=["own", "other"]).dropna()
    gain = (both["own"] - both["other"]).to_numpy() * (1 if MEASURES[measure] else -1)
    p = float(wilcoxon(gain).pvalue) if np.any(gain) else 1.0
    return Versus(int((gain > 0).sum()), len(gain), p)

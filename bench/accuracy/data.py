"""The 21 datasets without leaks, and which of their rows a stage of the study may see."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, datasets
from aldsurv.datasets import Dataset
from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import ParameterError
from bench.paper_data import REAL, SYNTHETIC

__all__ = [
    "AS_ASKED", "DATASETS", "DECISION", "DISTINCT", "KEPT_OUT", "REAL", "SEEDS", "STAGES", "SYNTHETIC", "Part", "parts",
]  # fmt: skip

# Chosen by name before there was any result. The two real ones differ in size as those that stay do, have few columns
# of cancer patients as most of those, and times of 0. Of the synthetic ones, one of each kind: a smooth hazard in
# one dimension, wide normal times under heavy uniform censoring, four dimensions with little censoring, eight with
# much.
KEPT_OUT = ("lgggbm", "tmbimmuno", "weibull", "norm_uniform", "norm_light", "lognorm_heavy")
DATASETS = (*REAL, *SYNTHETIC)
# WHAS without rows that are the same in every column: 735, of 557 patients. The bars were set on these rows.
DISTINCT = "whas_distinct"
AS_ASKED = tuple(DISTINCT if name == "whas" else name for name in REAL)
DECISION = tuple(name for name in DATASETS if name not in KEPT_OUT)

# A stage's seeds if none are named; the ten of the paper for the test rows.
SEEDS = {"validation": range(3), "test": range(10)}
STAGES = tuple(SEEDS)
_LEARNING_SHARE = 0.8


class Part(NamedTuple):
    """Rows to learn from, or to judge by; `rows` are their numbers in the dataset, `truth` is None for real data."""

    x: NDArray[np.float64]
    y: SurvivalData
    truth: SurvivalDistribution | None
    rows: NDArray[np.intp]


def parts(stage: str, name: str, seed: int) -> tuple[Part, Part]:
    """What a model learns from, and what it is judged by.

    In stage ``validation`` both come out of the protocol's training part, in stage ``test`` they are its training and
    test part. A dataset that is kept out has no validation stage: nothing may be decided on it.
    """
    if stage not in STAGES:
        raise ParameterError(f"stage must be one of {', '.join(STAGES)}, but is {stage!r}.")
    if name not in (*DATASETS, DISTINCT):
        raise ParameterError(f"unknown dataset {name!r}. Known: {', '.join(DATASETS)}.")
    if stage == "test":
        train, test = _split(name, seed)
        return _part(train), _part(test)
    if name in (*KEPT_OUT, DISTINCT):
        raise ParameterError(f"{name} is kept out of every decision: it may be seen in stage test only.")
    train, test = _split(name, seed)
    order = np.random.default_rng([seed, 99]).permutation(len(train))
    n = round(_LEARNING_SHARE * len(order))
    learn, held = _part(train[order[:n]]), _part(train[order[n:]])
    seen = np.concatenate([learn.rows, held.rows])
    if np.isin(seen, _part(test).rows).any() or len(np.unique(seen)) < len(seen):
        raise AssertionError("rows of the test part, or the same row twice, among those of the validation stage")
    return learn, held


def _split(name: str, seed: int) -> tuple[Dataset, Dataset]:
    """The protocol's two parts; of rows that belong together (WHAS, BreastMSK) only the first is there."""
    kept = "whas" if name == DISTINCT else name
    data = datasets.load(kept, seed=seed, definition="released" if name in SYNTHETIC else "printed")
    if name == DISTINCT:
        same = np.unique(np.column_stack([data.x, data.y.time, data.y.event]), axis=0, return_index=True)[1]
        data = data[np.sort(same)]
    elif data.groups is not None:
        data = data[np.sort(np.unique(data.groups, return_index=True)[1])]
    # Every row a group of its own: so that its number goes where the row goes.
    return replace(data, groups=np.arange(len(data))).split(seed)


def _part(data: Dataset) -> Part:
    assert data.groups is not None
    return Part(data.x, data.y, data.truth, np.asarray(data.groups, np.intp))

"""Settings of the rounds of boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

__all__ = ["BoostingSettings"]


@final
@dataclass(frozen=True, kw_only=True)
class BoostingSettings:
    """Parameters of `BoostedALD` that concern one member."""

    learning_rate: float
    max_depth: int
    min_child_weight: float
    l2: float
    subsample: float
    colsample: float
    max_rounds: int
    patience: int
    n_jobs: int

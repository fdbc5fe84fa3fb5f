"""Settings of the rounds of boosting, and what large tables change in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

__all__ = ["LARGE_ROWS", "BoostingSettings", "rows_of_members"]

# From so many rows on a table is large: rounds spend their time on rows that teach them little new.
LARGE_ROWS = 50_000


@final
@dataclass(frozen=True, kw_only=True)
class BoostingSettings:
    """Parameters of `BoostedALD` that concern one member, and bounds on the rows that it looks at.

    Attributes
    ----------
    learning_rate, max_depth, min_child_weight, l2, subsample, colsample, max_rounds, patience
        As of `BoostedALD`.
    refresh
        Rounds after which constants are fitted again.
    train_rows, watched_rows, constant_rows
        Most rows that a member grows on, that decide when it stops, and by which start and constants are found; None:
        all.
    single
        Whether slopes are computed in single precision.
    """

    learning_rate: float
    max_depth: int
    min_child_weight: float
    l2: float
    subsample: float
    colsample: float
    max_rounds: int
    patience: int
    refresh: int = 5
    train_rows: int | None = None
    watched_rows: int | None = None
    constant_rows: int | None = None
    single: bool = False

    @classmethod
    def for_rows(cls, rows: int, **parameters: Any) -> BoostingSettings:
        """Settings for a table with so many rows, from the parameters of `BoostedALD`."""
        return cls(**parameters, **(_LARGE if rows >= LARGE_ROWS else {}))


# What a member grows on at most, so that a table of many millions of rows takes no longer than one of a million.
_TRAIN_ROWS = 200_000
_LARGE: dict[str, Any] = {
    "refresh": 10,
    "train_rows": _TRAIN_ROWS,
    "watched_rows": 20_000,
    "constant_rows": 10_000,
    "single": True,
}


def rows_of_members(members: int, validation: float) -> int:
    """How many rows of a very large table all members together look at."""
    return int(members * _TRAIN_ROWS / (1 - validation))

"""Settings of the rounds of boosting, and what large tables change in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

__all__ = ["AUTO", "LARGE_ROWS", "BoostingSettings", "chosen_by_size", "rows_of_members"]

# From so many rows on a table is large: rounds spend their time on rows that teach them little new.
LARGE_ROWS = 50_000
AUTO = "auto"


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
    look
        Rounds after which the held-out rows are looked at.
    train_rows, watched_rows, constant_rows
        Most rows that a member grows on, that decide when it stops, and by which start and constants are found; None:
        all.
    parts
        Into how many parts the rows that a member grows on are divided, of which each round sees the next.
    renewed
        Whether each round computes again which share of the information rows give, and takes into account that all
        logits move at once. Long steps need it.
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
    look: int = 1
    train_rows: int | None = None
    watched_rows: int | None = None
    constant_rows: int | None = None
    parts: int = 1
    renewed: bool = False
    single: bool = False

    @classmethod
    def for_rows(cls, rows: int, **parameters: Any) -> BoostingSettings:
        """Settings for a table with so many rows, from the parameters of `BoostedALD`."""
        return cls(**chosen_by_size(rows, parameters), **(_LARGE if rows >= LARGE_ROWS else {}))


# What a member grows on at most, so that a table of many millions of rows takes no longer than one of a million.
_TRAIN_ROWS = 200_000
_LARGE: dict[str, Any] = {
    "refresh": 10,
    "look": 5,
    "train_rows": _TRAIN_ROWS,
    "watched_rows": 20_000,
    "constant_rows": 10_000,
    "parts": 2,
    "renewed": True,
    "single": True,
}
# What parameters that are "auto" stand for, from so many rows on.
_AUTO: dict[int, dict[str, Any]] = {
    0: {"learning_rate": 0.1, "subsample": 0.8, "max_rounds": 1000},
    LARGE_ROWS: {"learning_rate": 0.3, "subsample": 1.0, "max_rounds": 170},
    200_000: {"learning_rate": 0.3, "subsample": 1.0, "max_rounds": 400},
}


def chosen_by_size(rows: float, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of `BoostedALD`, with numbers in place of ``"auto"``.

    Parameters
    ----------
    rows
        Of the table.
    parameters
        As given.
    """
    chosen = _AUTO[max(least for least in _AUTO if least <= rows)]
    return {name: chosen[name] if value == AUTO and name in chosen else value for name, value in parameters.items()}


def rows_of_members(members: int, validation: float) -> int:
    """How many rows of a very large table all members together look at."""
    return int(members * _TRAIN_ROWS / (1 - validation))

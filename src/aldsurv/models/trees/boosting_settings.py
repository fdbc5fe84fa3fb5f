"""Settings of the rounds of boosting, and what large tables change in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

__all__ = ["LARGE_ROWS", "BoostingSettings"]

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
        Rounds after which constants are fitted anew.
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
    def for_rows(
        cls, rows: int, *, learning_rate: float | str, max_depth: int | str, **others: Any
    ) -> BoostingSettings:
        """Settings for a table with so many rows, from parameters of `BoostedALD` of which some may be ``"auto"``."""
        chosen = _LARGE if rows >= LARGE_ROWS else _SMALL
        return cls(
            learning_rate=chosen.learning_rate if isinstance(learning_rate, str) else learning_rate,
            max_depth=chosen.max_depth if isinstance(max_depth, str) else max_depth,
            refresh=chosen.refresh,
            train_rows=chosen.train_rows,
            watched_rows=chosen.watched_rows,
            constant_rows=chosen.constant_rows,
            single=chosen.single,
            **others,
        )


class _BySize(NamedTuple):
    """What depends on the number of rows."""

    learning_rate: float
    max_depth: int
    refresh: int = 5
    train_rows: int | None = None
    watched_rows: int | None = None
    constant_rows: int | None = None
    single: bool = False


_SMALL = _BySize(0.1, 2)
_LARGE = _BySize(0.2, 4, 10, 200_000, 10_000, 4_000, True)

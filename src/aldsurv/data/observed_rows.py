"""What can be read off rows of survival data: kinds of censoring, times, counts."""

from __future__ import annotations

from abc import ABC

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import BoolArray, FloatArray, IntArray
from aldsurv.data.group_column import count_groups, joined_groups
from aldsurv.data.rows.row_splitting import split_rows
from aldsurv.data.summary_line import summary_line
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["ObservedRows"]


class ObservedRows(ABC):
    """Columns of `SurvivalData`, whose docstring says what they are, and what follows from them."""

    lower: FloatArray
    upper: FloatArray
    entry: FloatArray | None
    weight: FloatArray | None
    cause: IntArray | None
    causes: tuple[str, ...] | None
    group: IntArray | None
    person: IntArray | None

    def __len__(self) -> int:
        return int(self.lower.size)

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: by this scikit-learn knows that rows can be chosen by their numbers."""
        return (len(self),)

    @property
    def exact(self) -> BoolArray:
        """Rows whose event was observed at a known time."""
        return np.equal(self.lower, self.upper)

    @property
    def right_censored(self) -> BoolArray:
        """Rows whose event came after `lower`."""
        return np.isposinf(self.upper)

    @property
    def left_censored(self) -> BoolArray:
        """Rows whose event came at or before `upper`."""
        return np.isneginf(self.lower)

    @property
    def interval_censored(self) -> BoolArray:
        """Rows whose event came in (lower, upper], both finite and apart."""
        return (self.lower < self.upper) & np.isfinite(self.lower) & np.isfinite(self.upper)

    @property
    def time(self) -> FloatArray:
        """Time of the event or of right-censoring (n,); `CensoringError` for rows that have no such time."""
        bounded = ~(self.exact | self.right_censored)
        if bounded.any():
            row = int(np.argmax(bounded))
            raise CensoringError(
                "time and event exist for exact and right-censored rows only, but "
                f"{np.count_nonzero(bounded)} of {len(self)} rows have left- or interval-censoring, "
                f"first ({self.lower[row]:g}, {self.upper[row]:g}]",
                row=row,
                advice="Use lower and upper, or only the rows data[data.exact | data.right_censored].",
            )
        return self.lower

    @property
    def event(self) -> BoolArray:
        """Whether the event was observed (n,); `CensoringError` as for `time`."""
        _ = self.time
        return self.exact

    @property
    def n_events(self) -> int:
        """Number of rows with an exactly observed event."""
        return int(np.count_nonzero(self.exact))

    @property
    def weights(self) -> FloatArray:
        """Weight of each row (n,), ones when none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """Sum of the weights: the number of rows when none were given."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def n_groups(self) -> int:
        """Number of groups: the number of rows when none were given."""
        return len(self) if self.group is None else count_groups(self.group)

    @property
    def n_persons(self) -> int:
        """Number of persons: the number of rows unless they are episodes."""
        return len(self) if self.person is None else count_groups(self.person)

    def split_rows(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row numbers of a random training and test part, each in ascending order.

        Rows of one group stay on one side.

        Parameters
        ----------
        test
            Share of the rows in the test part, which has ``round(test * n)`` of them, with groups about as many.
        random_state
            Seed or generator.
        stratify
            Keep the share of exactly observed events in both parts to within one row, with groups about the same.
        """
        groups = None if self.group is None else joined_groups(self.group)
        return split_rows(self.exact if stratify else None, len(self), test, random_state, groups, by_lot=True)

    def to_structured(self, event: str = "event", time: str = "time") -> NDArray[np.void]:
        """scikit-survival's structured array; entry and weights have no place in it."""
        if event == time:
            problem = f"event and time must have different names, but both are {quoted(time)}."
            raise ParameterError(problem, argument="time")
        array = np.empty(len(self), dtype=[(event, np.bool_), (time, np.float64)])
        array[event], array[time] = self.event, self.time
        return array

    def summary(self) -> str:
        """One line: rows, events, range of time, and what else there is."""
        return summary_line(self)

    def __str__(self) -> str:
        return self.summary()

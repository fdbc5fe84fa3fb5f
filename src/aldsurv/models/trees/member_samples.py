"""Which rows each member of a boosted ensemble sees: all that it may, or of a large table a part of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.rows.member_rows import Rows
from aldsurv.models.rows.time_units import even_weights
from aldsurv.models.trees.boosting_settings import BoostingSettings

__all__ = ["MemberRows", "RowsInMemory", "Sample"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(frozen=True)
class Sample:
    """Rows: columns, times in the unit inside, weights with mean 1 over all rows of the table."""

    x: NDArray[np.float32]
    data: SurvivalData
    weight: FloatArray

    def every(self, step: int, first: int = 0) -> Sample:
        """Each step-th of the rows."""
        rows = slice(first, None, step)
        return self if step == 1 else Sample(self.x[rows], self.data[rows], self.weight[rows])

    def divided(self, parts: int) -> list[Sample]:
        """So many samples, of every kind of row as many in each."""
        return [self.every(parts, first) for first in range(parts)]


class MemberRows(Protocol):
    """Where members get their rows from."""

    def start(self) -> Sample:
        """Rows by which the start of all members is found."""

    def train(self, member: int) -> Sample:
        """Rows that a member grows on."""

    def held_out(self, member: int) -> Sample | None:
        """Rows by which it stops; None if none are held out."""


@final
class RowsInMemory:
    """Rows of a table that is in memory.

    Where members see a part of the rows only, they see different ones: the rows are put into a random order, and each
    member begins at another place of it.

    Parameters
    ----------
    x, data
        All rows.
    rows
        Which of them each member may learn from, and which it holds out.
    settings
        How many a member sees at most.
    generator
        Decides the order.
    """

    def __init__(
        self,
        x: NDArray[np.float32],
        data: SurvivalData,
        rows: Rows,
        settings: BoostingSettings,
        generator: np.random.Generator,
    ) -> None:
        even = even_weights(data)
        self._x, self._data, self._rows, self._settings = x, data, rows, settings
        self._weight = np.ones(len(data)) if even is None else even
        self._place = None if settings.train_rows is None else generator.permutation(len(data))

    def start(self) -> Sample:
        """As of `MemberRows`."""
        return self._sample(np.flatnonzero(self._weight > 0), self._settings.constant_rows, 0)

    def train(self, member: int) -> Sample:
        """As of `MemberRows`."""
        return self._sample(self._rows.train[member], self._settings.train_rows, member)

    def held_out(self, member: int) -> Sample | None:
        """As of `MemberRows`."""
        if self._rows.validation is None:
            return None
        return self._sample(self._rows.validation[member], self._settings.watched_rows, member)

    def _sample(self, rows: IntArray, most: int | None, member: int) -> Sample:
        if most is not None and self._place is not None:
            n = len(self._data)
            place = (self._place[rows] - member * n // len(self._rows.train)) % n
            rows = rows[np.argpartition(place, most)[:most]] if len(rows) > most else rows
            # Rows of the same kind of censoring lie together: so they are computed without being collected first.
            rows = rows[np.lexsort((rows, self._data.right_censored[rows], ~self._data.exact[rows]))]
        return Sample(self._x[rows], self._data[rows], self._weight[rows])

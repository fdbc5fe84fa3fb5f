"""Predictions of rows that have some of their columns from a row to explain and the others from the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.inspection.covariate_table import CovariateTable

__all__ = ["BLOCK", "MixedRows", "row_blocks"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

# Rows predicted at once: enough to keep the processor busy, few enough for its cache.
BLOCK = 4096


def row_blocks(count: int) -> list[IntArray]:
    """Places of `count` rows, in parts that are predicted at once."""
    return [np.arange(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]


@final
@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows to explain, and the background rows that replace some of their columns.

    Parameters
    ----------
    predicted
        Gives numbers (n, m) for covariates.
    table
        The rows to explain.
    usual
        The background, with the same columns.
    """

    predicted: Callable[[Any], FloatArray]
    table: CovariateTable
    usual: CovariateTable

    def predict(self, rows: Sequence[int], present: BoolArray, places: IntArray) -> list[FloatArray]:
        """Predictions (k, m) for each of some rows.

        Parameters
        ----------
        rows
            Places of the rows in the table.
        present
            Which columns (k, d) are from the row; the others are from the background.
        places
            The background row (k,) of each.
        """
        if not len(places):
            return [np.empty((0, 1)) for _ in rows]
        needed, again = zip(*(self._distinct(row, present, places) for row in rows), strict=True)
        counts = [len(chosen) for chosen, _ in needed]
        chosen = np.concatenate([part for part, _ in needed])
        columns = np.concatenate([part for _, part in needed])
        row_of = np.repeat(rows, counts)
        blocks = [self._mixed(row_of[k], columns[k], places[chosen[k]]).given for k in row_blocks(len(chosen))]
        predictions = np.concatenate([self.predicted(block) for block in blocks])
        return [part[k] for part, k in zip(np.split(predictions, np.cumsum(counts)[:-1]), again, strict=True)]

    def _distinct(self, row: int, present: BoolArray, places: IntArray) -> tuple[tuple[IntArray, BoolArray], IntArray]:
        """Which of the mixed rows are needed, their columns from the row, and which of them each of the k is.

        A column that has the same value in both rows makes no difference: of columns with few levels most mixed rows
        are equal.
        """
        pairs = zip(self.table.columns, self.usual.columns, strict=True)
        differs = np.stack([~_same(other, own[row]) for own, other in pairs], axis=1)
        present = present & differs[places]
        code = np.concatenate([places.astype(np.uint32)[:, None].view(np.uint8), np.packbits(present, axis=1)], axis=1)
        _, first, again = np.unique(code.view(f"V{code.shape[1]}")[:, 0], return_index=True, return_inverse=True)
        return (first, present[first]), again

    def _mixed(self, row_of: IntArray, present: BoolArray, places: IntArray) -> CovariateTable:
        columns = []
        for k, (own, other) in enumerate(zip(self.table.columns, self.usual.columns, strict=True)):
            values = other[places]
            if values.dtype != own.dtype:
                values = values.astype(np.result_type(values.dtype, own.dtype))
            values[present[:, k]] = own[row_of[present[:, k]]]
            columns.append(values)
        whole = None if self.table.whole is None else np.stack(columns, axis=1)
        return CovariateTable(self.table.keys, tuple(columns), whole)


def _same(values: NDArray[Any], value: Any) -> BoolArray:
    """Which values (n,) of a column equal one; gaps of one kind do."""
    if value is None or value != value:
        return np.array([each is value or (each is not None and value is not None and each != each) for each in values])
    return np.asarray(values == value, np.bool_)

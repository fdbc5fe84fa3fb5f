"""A table that was read from a file: covariates, times, and how each column is used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.row_copies import find_groups
from aldsurv.data.rows.row_splitting import split_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError

__all__ = ["Table", "TableColumn"]

_MOST_SHOWN = 60
_KINDS = {"b": "yes/no", "i": "whole numbers", "u": "whole numbers", "f": "numbers", "M": "dates", "m": "time spans"}


class TableColumn(NamedTuple):
    """A column of the file and what it is used as: a role such as ``"time"``, ``"feature"`` or ``"left out"``."""

    name: str
    use: str


@final
@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of a file, made by `aldsurv.datasets.read_table`; ``table[rows]`` are some of them.

    Parameters
    ----------
    x
        Covariates: columns (n,) by name. Numbers have NaN for gaps, text is objects with None for gaps.
    y
        Times; None if no columns were named for them.
    columns
        Every column of the file, in its order.
    categorical
        Covariates whose values are codes: for the parameter of that name of a model.
    path, written
        The file, and how it is written down.
    event_values
        Different values of the column of events, where these stand for causes; None is a gap.
    places
        Row of the file in which each row stands, counted from 0; None: it has all of them, in order.
    """

    x: dict[str, NDArray[Any]]
    y: SurvivalData | None
    columns: tuple[TableColumn, ...]
    categorical: tuple[str, ...]
    path: Path
    written: str
    event_values: tuple[object, ...] = ()
    places: NDArray[np.intp] | None = None

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """Number of each row in the file, counted from 1."""
        return (np.arange(len(self)) if self.places is None else self.places) + 1

    @property
    def feature_names(self) -> list[str]:
        """Names of the covariates, in the order of the file."""
        return list(self.x)

    def __len__(self) -> int:
        return len(self.y) if self.y is not None else next(iter(self.x.values())).size

    def __getitem__(self, rows: Any) -> Table:
        """Rows by slice, integer (one row), integers or bool mask, in the order of numpy."""
        if not isinstance(rows, slice):
            rows = np.atleast_1d(rows)
            rows = rows if rows.size else rows.astype(np.intp)
        y = None if self.y is None else self.y[rows]
        x = {name: column[rows] for name, column in self.x.items()}
        return replace(self, x=x, y=y, places=self.row_numbers[rows] - 1)

    def split(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[Table, Table]:
        """A random training and test part; the parameters are those of `SurvivalData.split_rows`.

        Rows of one group stay on one side, and so do exact copies of a row: see
        `aldsurv.columns.row_copies.find_groups`.
        """
        train_rows, test_rows = self.split_rows(test, random_state=random_state, stratify=stratify)
        return self[train_rows], self[test_rows]

    def split_rows(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the rows of the two parts of `split`, each in ascending order."""
        if self.y is None:
            raise DataError(
                "only a table with times can be split",
                argument="time",
                advice="Name their columns, such as time='months'.",
            )
        exact = self.y.exact if stratify else None
        groups, by_lot = find_groups(self.x, self.y), self.y.group is not None
        return split_rows(exact, len(self), test, random_state, groups, by_lot=by_lot)

    def summary(self) -> str:
        """Rows, events, and how each column is used."""
        n, n_columns = len(self), len(self.columns)
        rows, columns = f"{n} row{'s' * (n != 1)}", f"{n_columns} column{'s' * (n_columns != 1)}"
        lines = [
            f"{self.path.name}: {rows}, {columns} ({self.written})",
            f"  {'no times' if self.y is None else self.y.summary()}",
        ]
        shown = self.columns[:_MOST_SHOWN]
        width = min(max(len(column.name.strip() or "(no name)") for column in shown), 40)
        lines += [f"  {column.name.strip() or '(no name)':<{width}}  {self._use(column)}" for column in shown]
        if n_columns > len(shown):
            lines.append(f"  and {n_columns - len(shown)} more columns")
        return "\n".join(lines)

    __str__ = summary

    def __repr__(self) -> str:
        return f"Table(n={len(self)}, features={len(self.x)})"

    def _use(self, column: TableColumn) -> str:
        if column.name not in self.x:
            return column.use
        values = self.x[column.name]
        if values.dtype.kind in "fMm":
            gaps = int(np.count_nonzero(values != values))
        else:
            gaps = sum(value is None for value in values.tolist()) if values.dtype == object else 0
        if values.dtype == object:
            distinct = set(values.tolist()) - {None}
            kind = "yes/no" if distinct <= {True, False} else f"text, {len(distinct)} different"
        else:
            kind = _KINDS[values.dtype.kind]
        return f"{column.use}: {kind}" + (f", {gaps} gap{'s' * (gaps != 1)}" if gaps else "")

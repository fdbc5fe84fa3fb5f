"""Columns of a linear model: numbers centred and scaled, levels against the first one, strata apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_plans import Levels, Number
from aldsurv.columns.features import Features
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import require
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.parted.table_summary import TableSummary
from aldsurv.models.rows.strata import Stratum, has_names, ordered_strata, strata_numbers, strata_of
from aldsurv.tables.parts.parted_table import PartedTable, TablePart

__all__ = ["Design"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(frozen=True)
class Design:
    """How rows of a table become numbers for a linear model, float64.

    Numbers are centred and scaled; of the levels of a category the first is the reference, which has no column, so
    that columns are not dependent by construction. A level that was not in the training rows is read as the reference.

    Attributes
    ----------
    features
        Plans of all columns of the table, of which those of strata are not used.
    columns
        Those of them that are strata, by name or position.
    strata
        The combinations of their levels that training had.
    """

    features: Features
    columns: tuple[str | int, ...]
    strata: tuple[Stratum, ...]

    @classmethod
    def learn(cls, X: object, *, categorical: Sequence[str | int] | None, strata: Any, owner: str) -> Design:
        """Learn from training rows."""
        columns = _strata_columns(strata)
        levels = strata_of(X, columns)[0] if columns else []
        if columns and not isinstance(categorical, str):
            # As levels, strata may hold values of any kind.
            categorical = [*(categorical or ()), *columns]
        return cls(Features.learn(X, categorical=categorical, exact=True, owner=owner), columns, tuple(levels))

    @classmethod
    def learn_parts(
        cls, table: PartedTable, summary: TableSummary, codes: Sequence[str], *, strata: Any, owner: str
    ) -> Design:
        """Learn from a table in parts and the summary of its rows; `codes` are its columns of categories."""
        columns = _strata_columns(strata)
        levels: set[Stratum] = set()
        if columns:
            levels.update(*current_engine().map(partial(_strata_of_part, columns), table.parts))
        features = summary.features(categorical=codes, exact=True, owner=owner)
        return cls(features, columns, tuple(ordered_strata(levels)))

    @staticmethod
    def categorical(categorical: Sequence[str | int] | None, strata: Any) -> Sequence[str | int]:
        """What a user gave as categorical, and the strata: as levels, they may hold values of any kind."""
        return [*(categorical or ()), *_strata_columns(strata)]

    @property
    def _positions(self) -> set[int]:
        """Positions of the columns that are strata."""
        names = self.features.names_in or ()
        return {names.index(column) if isinstance(column, str) else column for column in self.columns}

    @property
    def _uses(self) -> list[tuple[str, float, float] | None]:
        """Of each column of numbers its name, centre and scale; None if it is not used."""
        uses: list[tuple[str, float, float] | None] = []
        strata = self._positions
        for position, plan in enumerate(self.features.columns):
            columns: list[tuple[str, float, float] | None] = [(name, 0.0, 1.0) for name in plan.names_out]
            if isinstance(plan, Number):
                columns[0] = (plan.name, plan.mean, plan.scale)
            elif isinstance(plan, Levels):
                columns[0] = None
            uses += [None] * len(columns) if position in strata else columns
        return uses

    @property
    def strata_positions(self) -> frozenset[int]:
        """Positions of the columns that are strata."""
        return frozenset(self._positions)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which columns of numbers of `features` are used: all but those of strata and of reference levels."""
        return np.array([use is not None for use in self._uses], np.bool_)

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers (d,)."""
        return [use[0] for use in self._uses if use is not None]

    @property
    def centres(self) -> FloatArray:
        """What is taken off each column (d,)."""
        return np.array([use[1] for use in self._uses if use is not None], np.float64)

    @property
    def scales(self) -> FloatArray:
        """What each column is then divided by (d,)."""
        return np.array([use[2] for use in self._uses if use is not None], np.float64)

    @property
    def per_unit(self) -> FloatArray:
        """What coefficients of scaled columns are multiplied by to be those of one unit of a column (d,)."""
        # A file may hold scales of any size.
        with np.errstate(over="ignore"):
            return np.asarray(1 / self.scales)

    def numbers(self, X: object, owner: str) -> FloatArray:
        """The rows as numbers (n, d)."""
        # Rounded to float32, columns would be in every digit of a coefficient from the eighth on.
        every = self.features.transform_exactly(X, owner=owner, without=self._positions)
        used = self.used
        return every if used.all() else every[:, used]

    def codes(self, X: object) -> IntArray | None:
        """Number of each row's stratum, None if there are no strata."""
        names = self.features.names_in
        if names is None or not has_names(X):
            columns = self.columns
        else:
            # A number was that of a column of training; in X it may stand elsewhere.
            columns = tuple(column if isinstance(column, str) else names[column] for column in self.columns)
        return strata_numbers(X, columns, self.strata) if columns else None

    def to_plain(self) -> dict[str, Any]:
        """What was learned, as JSON can hold it."""
        strata = [list(stratum) for stratum in self.strata]
        return {"features": self.features.to_dict(), "columns": list(self.columns), "strata": strata}

    @classmethod
    def from_plain(cls, plain: Any) -> Design:
        """Read back what `to_plain` gave; anything else is refused."""
        require(isinstance(plain, dict) and set(plain) == {"features", "columns", "strata"}, "its columns are unclear")
        features, columns, strata = Features.from_dict(plain["features"]), plain["columns"], plain["strata"]
        require(isinstance(columns, list) and isinstance(strata, list), "its strata are unclear")
        for column in columns:
            named = isinstance(column, str) and column in (features.names_in or ())
            numbered = type(column) is int and 0 <= column < features.n_features_in
            require(named or numbered, "its strata are not columns of the model")
        sizes = {len(stratum) if isinstance(stratum, list) else -1 for stratum in strata}
        require(sizes == ({len(columns)} if columns else set()), "its strata are not those of their columns")
        levels = [level for stratum in strata for level in stratum]
        require(all(level is None or isinstance(level, (str, int, float)) for level in levels), "strata are unclear")
        distinct = tuple(tuple(stratum) for stratum in strata)
        require(len(set(distinct)) == len(distinct), "its strata must differ")
        return cls(features, tuple(columns), distinct)


def _strata_of_part(columns: tuple[str | int, ...], part: TablePart) -> set[Stratum]:
    return {stratum for block in part.blocks() for stratum in strata_of(block.x, columns)[0]}


def _strata_columns(strata: Any) -> tuple[str | int, ...]:
    if strata is None:
        return ()
    columns = tuple(strata) if isinstance(strata, (list, tuple)) else (strata,)
    for column in columns:
        if not isinstance(column, (str, int, np.integer)) or isinstance(column, bool):
            raise ParameterError(f"strata must be columns of X by name or number, but holds {column!r:.60}.")
    return tuple(column if isinstance(column, str) else int(column) for column in columns)

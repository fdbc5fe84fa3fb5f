"""Columns that give the outcome away, and columns that are no covariates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import ColumnKey
from aldsurv.columns.column_learning import looks_like_identifier
from aldsurv.columns.covariates import Covariates, read_covariates
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.inspection.column_values import column_values
from aldsurv.inspection.known_outcome import KnownOutcome
from aldsurv.inspection.leak_signs import NOTE_KINDS, Sign, block_signs
from aldsurv.inspection.outcome_names import is_outcome_name
from aldsurv.quoting import quoted

__all__ = ["SuspiciousColumn", "suspicious_columns"]

FloatArray = NDArray[np.float64]

# More rows than these say no more about a column; of many columns fewer are looked at, and so many at a time.
_MOST_ROWS, _FEWEST_ROWS, _MOST_VALUES, _COLUMNS_AT_A_TIME = 5000, 500, 20_000_000, 256
# Enough to see that numbers are not whole, or not all different.
_FIRST_ROWS = 20


@final
@dataclass(frozen=True)
class SuspiciousColumn:
    """A column that should be looked at before a model learns from it.

    Attributes
    ----------
    column
        Its name, or its position where columns have no names.
    signs
        What is suspicious about it, one or more.
    """

    column: ColumnKey
    signs: tuple[Sign, ...]

    @property
    def is_leak(self) -> bool:
        """Whether it may give the outcome away; otherwise it only is no covariate."""
        return any(sign.kind not in NOTE_KINDS for sign in self.signs)

    @property
    def description(self) -> str:
        """All signs as one part of a sentence."""
        return " and ".join(sign.description for sign in self.signs)

    def __str__(self) -> str:
        return f"column {quoted(self.column)} {self.description}"


def suspicious_columns(X: object, y: object, *, random_state: int | np.random.Generator = 0) -> list[SuspiciousColumn]:
    """Columns that may give the outcome away, and columns that are no covariates, in the order of the table.

    A model that learns from what is only known afterwards predicts well in every test and is of no use. Such a column
    has one of these signs:

    ``"name"``
        It is named like an outcome: ``death_date``, ``lastSeen``, ``os_months``; by whole words.
    ``"event"``
        It says whether the event came, in whatever words: it has at most 20 levels, and their shares among the events
        and among the other rows are at least 95 % apart.
    ``"time"``
        It has the order of the times of the events (20 or more), as their dates and other units have: without
        exception, or with a rank correlation of 0.999.
    ``"gaps"``
        It is known where the event came and not where it did not, or the other way round: the shares of known values
        differ by 80 %, or by 30 % where one of them is 0.
    ``"order"``
        Alone it has a concordance above 0.9, or below 0.1, with 30 events or more; its limit is above 0.85, which
        strong covariates reach.

    ``"event"`` and ``"gaps"`` must be beyond what chance shows once in 1000 tables with as many columns. Two kinds say
    nothing about the outcome: ``"numbering"`` (whole numbers that count rows or persons) and ``"constant"``.

    Fitting a model does not call this: many tables are meant as they are. ``aldsurv fit`` and ``aldsurv check`` do, and
    warn.

    Parameters
    ----------
    X, y
        Covariates and times as a model takes them. Columns may hold dates, too.
    random_state
        Seed or generator for the rows that are looked at, if there are more than 5,000.

    Examples
    --------
    >>> died = [1, 0, 1, 1, 0] * 8
    >>> X = {"age": [50, 61, 47, 70] * 10, "cause_of_death": ["heart" if e else None for e in died]}
    >>> for column in suspicious_columns(X, SurvivalData.right(range(1, 41), died)):
    ...     print(column.column, [sign.kind for sign in column.signs])
    cause_of_death ['name', 'gaps']
    """
    table, data = read_covariates(X), SurvivalData.of(y)
    if table.n_rows != len(data):
        raise DataError(
            f"X has {table.n_rows} rows, but y has {len(data)}", argument="y", advice="Give one time per row of X."
        )
    generator = np.random.default_rng(random_state)
    n_columns = len(table.keys)
    most = min(max(_MOST_VALUES // n_columns, _FEWEST_ROWS), _MOST_ROWS)
    outcome = KnownOutcome.of(data, most, generator)
    signs: dict[int, list[Sign]] = defaultdict(list)
    for j, name in enumerate(table.names or ()):
        if is_outcome_name(name):
            signs[j].append(Sign("name", "is named like an outcome"))
    for j, sign in _value_signs(table, outcome):
        signs[j].append(sign)
    return [SuspiciousColumn(table.keys[j], _without_repetition(signs[j])) for j in sorted(signs)]


def _value_signs(table: Covariates, outcome: KnownOutcome) -> Iterator[tuple[int, Sign]]:
    """Signs in the values of all columns, with the positions of the columns."""
    n_columns = len(table.keys)
    for start in range(0, n_columns, _COLUMNS_AT_A_TIME):
        places = range(start, min(start + _COLUMNS_AT_A_TIME, n_columns))
        block = np.empty((len(places), len(outcome)))
        ordered = np.empty(len(places), np.bool_)
        for k, j in enumerate(places):
            block[k], ordered[k] = column_values(table.read(j)[outcome.rows])
        for k, sign in block_signs(block, ordered, outcome, n_columns):
            yield start + k, sign
        yield from ((start + k, sign) for k, sign in _notes(table, start, block, ordered))


def _notes(table: Covariates, start: int, block: FloatArray, ordered: NDArray[np.bool_]) -> Iterator[tuple[int, Sign]]:
    """Columns of one value, and of whole numbers that count rows or persons."""
    low, high = np.fmin.reduce(block, axis=1), np.fmax.reduce(block, axis=1)
    for k in np.flatnonzero((low == high) & ~np.isnan(block).any(axis=1)):
        raw = table.read(start + int(k))
        if bool((raw == raw[0]).all()):
            yield int(k), Sign("constant", "holds one value only")
    # Most columns of whole numbers repeat some in their first rows.
    first = np.sort(block[:, :_FIRST_ROWS], axis=1)
    differ = (first[:, 1:] > first[:, :-1]) | np.isnan(first[:, 1:])
    whole = (np.floor(first) == first) | np.isnan(first)
    for k in np.flatnonzero(ordered & (low < high) & whole.all(axis=1) & differ.all(axis=1)):
        values = column_values(table.read(start + int(k))).numbers
        known = values[~np.isnan(values)]
        if looks_like_identifier(known, str(table.keys[start + int(k)]), float(known.min()), float(known.max())):
            yield int(k), Sign("numbering", "numbers the rows or persons")


def _without_repetition(signs: list[Sign]) -> tuple[Sign, ...]:
    """Without what follows from another sign: of gaps that give the event, that their levels do."""
    kinds = {sign.kind for sign in signs}
    implied = {"event"} if "gaps" in kinds else set()
    implied |= {"order"} if kinds & {"time", "event"} else set()
    return tuple(sign for sign in signs if sign.kind not in implied)

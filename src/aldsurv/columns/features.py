"""Tables of covariates turned into numbers, by what was learned from the training rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aldsurv.checks import Number, WholeNumber, check, is_whole_number, listed
from aldsurv.columns.column_learning import LearnedColumn, learn_column
from aldsurv.columns.column_plans import MOST_BINS, ColumnPlan, LeftOut, UnseenValues
from aldsurv.columns.column_summary import ColumnSummary
from aldsurv.columns.covariates import Covariates, read_covariates
from aldsurv.columns.plan_reading import plan_from_dict, require_bool, require_keys, require_number
from aldsurv.errors import (
    ColumnWarning,
    DataError,
    IgnoredColumnsWarning,
    LeftOutWarning,
    ParameterError,
    UnknownNameError,
    UnseenValuesWarning,
)
from aldsurv.notices import warn
from aldsurv.quoting import printable, quoted, shortened

__all__ = ["ColumnUse", "Features"]

_DAMAGED = "Is the file damaged?"


class ColumnUse(NamedTuple):
    """One line of a table of columns: its name, how it is used, what becomes of its gaps."""

    name: str
    use: str
    gaps: str


@final
@dataclass(frozen=True)
class Features:
    """What was learned of a table of covariates: one plan per column.

    Attributes
    ----------
    columns
        One plan for each column of the table, in its order.
    named
        Whether the table had names for its columns, all of them text.
    clip
        Bound on the absolute value of a number after scaling.

    Examples
    --------
    >>> features = Features.learn({"age": [40, 50, None, 60], "grade": ["I", "II", "II", "I"]})
    >>> features.names_out
    ['age', 'age missing', 'grade=I', 'grade=II']
    >>> features.transform({"age": [50], "grade": ["II"]})
    array([[0., 0., 0., 1.]], dtype=float32)
    """

    columns: tuple[ColumnPlan, ...]
    named: bool
    clip: float | None

    @classmethod
    def learn(
        cls,
        X: object,
        *,
        categorical: Sequence[str | int] | None = None,
        scale: bool = True,
        clip: float | None = None,
        max_levels: int = 50,
        bins: int = 0,
        exact: bool = False,
        owner: str = "this model",
    ) -> Features:
        """Learn from training rows how each column becomes numbers.

        Parameters
        ----------
        X
            A pandas or polars frame, a table of Arrow, a dict of columns, a 2-D array or a list of rows.
        categorical
            Columns to read as categories whatever they hold, by name or by position. Text and categorical types
            are read so without being listed.
        scale
            Whether numbers are centred and divided by their standard deviation.
        clip
            Numbers are cut to at most this absolute value, after scaling.
        max_levels
            Of a column with more levels, the most frequent ones are kept and the others share one.
        bins
            Pieces into which quantiles divide each column of numbers; 0 for none.
        exact
            Whether means and scales are those of the numbers in all their digits, for `transform_exactly`. If not,
            they are the same for a column in float32 and in float64.
        owner
            What messages call the model.
        """
        table = read_covariates(X)
        names = table.names or [f"x{j}" for j in range(len(table.keys))]
        given = {"scale": scale, "max_levels": max_levels, "bins": bins, "exact": exact}
        return cls._learned(table, names, [learn_column] * len(names), categorical, clip, owner, given)

    @classmethod
    def of_summaries(
        cls,
        summaries: Mapping[str, ColumnSummary],
        sample: Mapping[str, NDArray[Any]],
        *,
        categorical: Sequence[str | int] | None = None,
        scale: bool = True,
        clip: float | None = None,
        max_levels: int = 50,
        bins: int = 0,
        exact: bool = False,
        owner: str = "this model",
    ) -> Features:
        """What `learn` would learn of a table of which only summaries of the columns, by name, and a sample are known.

        Parameters
        ----------
        summaries
            Of all rows; numbers of columns in `categorical` are summarised as levels.
        sample
            The columns of some of the rows, for quantiles.
        categorical, scale, clip, max_levels, bins, exact, owner
            As in `learn`.
        """
        learners = [summary.plan for summary in summaries.values()]
        given = {"scale": scale, "max_levels": max_levels, "bins": bins, "exact": exact}
        return cls._learned(read_covariates(sample), list(summaries), learners, categorical, clip, owner, given)

    @classmethod
    def _learned(
        cls,
        table: Covariates,
        names: Sequence[str],
        learners: Sequence[Callable[..., LearnedColumn]],
        categorical: Sequence[str | int] | None,
        clip: float | None,
        owner: str,
        given: Mapping[str, Any],
    ) -> Features:
        """What each learner makes of its column of the table."""
        check("clip", clip, Number(0, above=True), none=True)
        check("max_levels", given["max_levels"], WholeNumber(1))
        check("bins", given["bins"], WholeNumber(0, MOST_BINS, meaning="0: none"))
        positions = _positions(categorical, table)
        learned = [
            learn(
                table.read(j), name, table.keys[j], listed=j in positions, categorical=table.is_categorical(j), **given
            )
            for j, (name, learn) in enumerate(zip(names, learners, strict=True))
        ]
        _warn_of_learned(learned, table, owner)
        return cls(
            tuple(column.plan for column in learned), table.names is not None, None if clip is None else float(clip)
        )

    def transform(self, X: object, *, owner: str = "this model") -> NDArray[np.float32]:
        """Numbers of shape (n, width), a row of them for each row of X and independent of the other rows."""
        return self._filled(X, owner, np.float32, frozenset())

    def transform_exactly(
        self, X: object, *, owner: str = "this model", without: Set[int] = frozenset()
    ) -> NDArray[np.float64]:
        """The same in float64, for models with a coefficient per number; columns in `without` are not read and 0."""
        return self._filled(X, owner, np.float64, without)

    def _filled(self, X: object, owner: str, dtype: DTypeLike, without: Set[int]) -> NDArray[Any]:
        table = self._checked_table(X, owner)
        out: NDArray[Any] = np.zeros((table.n_rows, self.width), dtype)
        unseen, start = [], 0
        for j, plan in enumerate(self.columns):
            part = out[:, start : start + plan.width]
            read = j not in without
            unseen.append(plan.fill(table.read(j), table.keys[j], part, self.clip) if read else UnseenValues())
            start += plan.width
        self._warn_of_unseen(unseen, table)
        return out

    def outside(self, X: object, *, owner: str = "this model") -> NDArray[np.bool_]:
        """Whether a value lies beyond those of training, of shape (n, n_features_in).

        Numbers do below the smallest or above the largest, levels when they are unknown; gaps and columns that
        are left out never do.
        """
        table = self._checked_table(X, owner)
        out = np.zeros((table.n_rows, self.n_features_in), np.bool_)
        for j, plan in enumerate(self.columns):
            out[:, j] = plan.outside(table.read(j), table.keys[j])
        return out

    @property
    def n_features_in(self) -> int:
        """Number of columns of the table."""
        return len(self.columns)

    @property
    def names_in(self) -> tuple[str, ...] | None:
        """Names of the columns of the table, if it had any."""
        return tuple(plan.name for plan in self.columns) if self.named else None

    @property
    def names_out(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for plan in self.columns for name in plan.names_out]

    @property
    def piece_columns(self) -> NDArray[np.bool_]:
        """Which columns of numbers (width,) say how far a value has come through a piece of its column."""
        counts = [(plan.width - plan.pieces, plan.pieces) for plan in self.columns]
        return np.repeat(np.tile([False, True], len(counts)), np.ravel(counts))

    @property
    def width(self) -> int:
        """Number of columns of numbers."""
        return sum(plan.width for plan in self.columns)

    def summary(self) -> list[ColumnUse]:
        """How each column is used, for display."""
        return [ColumnUse(plan.name, plan.use, plan.gap_rule) for plan in self.columns]

    def to_dict(self) -> dict[str, object]:
        """What was learned, as dicts, lists, text, numbers and bools that JSON can hold."""
        return {"named": self.named, "clip": self.clip, "columns": [plan.to_dict() for plan in self.columns]}

    @classmethod
    def from_dict(cls, data: object) -> Features:
        """Read back what `to_dict` gave; anything else is refused by a `DataError`."""
        if not isinstance(data, Mapping):
            raise DataError(f"features must be an object, but are of type {type(data).__name__}", advice=_DAMAGED)
        require_keys(data, {"named", "clip", "columns"}, "features")
        named = require_bool(data["named"], "features: named")
        clip = None if data["clip"] is None else require_number(data["clip"], "features: clip")
        if clip is not None and not clip > 0:
            raise DataError(f"features: clip must be positive, but is {clip:g}", advice=_DAMAGED)
        entries = data["columns"]
        if not isinstance(entries, list) or not entries:
            raise DataError("features: columns must be a list that is not empty", advice=_DAMAGED)
        plans = tuple(plan_from_dict(entry, f"features: column {j}") for j, entry in enumerate(entries))
        names = [plan.name for plan in plans]
        if named and len(set(names)) < len(names):
            raise DataError("features: names of columns must differ", advice=_DAMAGED)
        if not named and names != [f"x{j}" for j in range(len(names))]:
            raise DataError("features: columns without names must be called x0, x1, … in order", advice=_DAMAGED)
        return cls(plans, named, clip)

    def _checked_table(self, X: object, owner: str) -> Covariates:
        """X as a table with the columns of training; named ones are found by their names, in any order."""
        table, expected = read_covariates(X), self.names_in
        if expected is not None and table.names is not None and table.names != expected:
            # What is not used need not be there: those whose rows are predicted for may have no names or notes.
            unused = {plan.name for plan in self.columns if isinstance(plan, LeftOut)}
            table = _by_name(table, table.names, expected, owner, unused)
        if expected is None and table.names is not None:
            warn(f"X has feature names, but {owner} was fitted without feature names", ColumnWarning)
        if expected is not None and table.names is None:
            message = f"X does not have valid feature names, but {owner} was fitted with feature names"
            warn(message, ColumnWarning)
        if len(table.keys) != self.n_features_in:
            raise DataError(
                f"X has {len(table.keys)} features, but {owner} is expecting {self.n_features_in} features as input",
                argument="X",
                advice="Give the columns of training.",
            )
        return table

    def _warn_of_unseen(self, unseen: list[UnseenValues], table: Covariates) -> None:
        gaps, unknown = [], []
        for values, plan, label in zip(unseen, self.columns, table.labels, strict=True):
            if values.gaps:
                gaps.append(f"{label} in {values.gaps} of {table.n_rows} rows ({plan.gap_rule})")
            if values.unknown:
                unknown.append(f"{label} in {values.unknown} of {table.n_rows} rows ({values.examples})")
        if gaps:
            warn(f"gaps where training had none: {_first_labels(gaps, '; ')}.", UnseenValuesWarning)
        if unknown:
            message = f"levels that training had not shown, read as none of the levels: {_first_labels(unknown, '; ')}."
            warn(message, UnseenValuesWarning)


def _by_name(
    table: Covariates, names: tuple[str, ...], expected: tuple[str, ...], owner: str, optional: Set[str]
) -> Covariates:
    """The columns of training out of a table that has them in another order, or others beside them.

    Those that are `optional` hold gaps where the table has no such column.
    """
    place = {name: j for j, name in enumerate(names)}
    if not set(expected) - optional <= set(place):
        raise _name_error(tuple(name for name in expected if name in place or name not in optional), names)
    needed = set(expected)
    unused = [f"column {quoted(name)}" for name in place if name not in needed]
    if unused:
        message = f"X has columns that {owner} was not fitted to, which are not used: {_first_labels(unused)}."
        warn(message, IgnoredColumnsWarning, level=logging.INFO)

    def column(j: int) -> Any:
        position = place.get(expected[j])
        return np.full(table.n_rows, np.nan) if position is None else table.column(position)

    return Covariates(expected, expected, table.n_rows, column)


def _name_error(expected: tuple[str, ...], given: tuple[str, ...]) -> DataError:
    """scikit-learn's words for columns that are not those of training, and what to do."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(expected)), sorted(set(expected) - set(given))
    for names, what in ((unseen, "unseen at fit time"), (missing, "seen at fit time, yet now missing")):
        if names:
            lines = [f"- {shortened(printable(name), 72)}\n" for name in names[:5]] + ["- ...\n"] * (len(names) > 5)
            message += f"Feature names {what}:\n{''.join(lines)}"
    hints = ""
    for name in missing[:5]:
        # Capitals and spaces are what most often differs between two exports of one table.
        folded = {_folded(other): other for other in reversed(unseen)}
        near = get_close_matches(_folded(name), folded, n=1, cutoff=0.6)
        if near:
            hints += f"Is {quoted(folded[near[0]])} what was {quoted(name)} in training? "
    return DataError(f"{message}{hints}Give the columns of training: {listed(expected)}.", argument="X")


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def _first_labels(labels: Sequence[str], between: str = ", ", most: int = 12) -> str:
    """Labels of the first few columns, and how many more there are."""
    more = f"{between}and {len(labels) - most} more" if len(labels) > most else ""
    return between.join(labels[:most]) + more


def _positions(categorical: Sequence[str | int] | None, table: Covariates) -> set[int]:
    """Positions of the columns that the user calls categorical."""
    if isinstance(categorical, str):
        raise ParameterError(
            f"categorical must be a list of columns, but is {quoted(categorical)}",
            argument="categorical",
            advice=f"Give [{quoted(categorical)}].",
        )
    positions, n_columns = set(), len(table.keys)
    for column in [] if categorical is None else categorical:
        if isinstance(column, str):
            names = table.names or ()
            if column not in names:
                near = get_close_matches(column, names, n=1, cutoff=0.5)
                hint = f"Did you mean {quoted(near[0])}? " if near else ""
                raise UnknownNameError(
                    f"categorical lists {quoted(column)}, which is not a column of X",
                    argument="categorical",
                    suggestion=near[0] if near else None,
                    advice=f"{hint}Columns: {listed(names) or 'without names; give positions'}.",
                )
            positions.add(names.index(column))
        elif is_whole_number(column) and 0 <= column < n_columns:
            positions.add(int(column))
        else:
            raise ParameterError(
                f"categorical must list names or positions from 0 to {n_columns - 1}, but lists {quoted(column)}.",
                argument="categorical",
            )
    return positions


def _warn_of_learned(learned: list[LearnedColumn], table: Covariates, owner: str) -> None:
    """One warning for each sort of column that is left out or looks wrong."""
    reasons = {
        "constant": "hold one value only",
        "no values": "hold no values",
        "identifier": "hold text that differs in every row, as identifiers do",
        "nearly unique": "hold text that differs in most rows, as names and notes do",
    }
    plans, labels = [plan for plan, _ in learned], table.labels
    for reason, description in reasons.items():
        chosen = [j for j, plan in enumerate(plans) if isinstance(plan, LeftOut) and plan.reason == reason]
        if chosen:
            left_out = _first_labels([labels[j] for j in chosen])
            problem = f"{owner} leaves out columns that {description}: {left_out}."
            could_stay = reason in ("identifier", "nearly unique")
            keys = tuple(table.keys[j] for j in chosen)
            warn(LeftOutWarning(problem, keys) if could_stay else ColumnWarning(problem))
    suspects = [label for (_, suspect), label in zip(learned, labels, strict=True) if suspect]
    if suspects:
        message = (
            f"{owner} uses columns of numbers that look like identifiers: {_first_labels(suspects)}. If they are, drop "
            "them."
        )
        warn(message, ColumnWarning)

"""Tables of covariates as people have them, turned into numbers; what was learned is plain data.

Neither pandas nor polars is imported: `numpy.asarray` reads their columns, one at a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import NotPlainError
from aldsurv.columns.column_plans import MOST_BINS, ColumnPlan, Learned, LeftOut, Surprise, learn_column
from aldsurv.columns.plan_reading import plan_from_plain, require_bool, require_keys, require_number
from aldsurv.data.outcome_columns import Column, listed, one_column
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import printable, quoted, shortened

__all__ = ["ColumnUse", "Features", "raw_columns"]

_CATEGORICAL_TYPES = {"CategoricalDtype", "Categorical", "Enum"}


class ColumnUse(NamedTuple):
    """One line of a table of columns: its name, how it is used, what becomes of its gaps."""

    name: str
    use: str
    gaps: str


@final
@dataclass(frozen=True)
class Features:
    """What was learned of a table of covariates: one plan a column.

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
        X: Any,
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
            A pandas or polars frame, a dict of columns, a 2-D array or a list of rows.
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
        _check_settings(clip, max_levels, bins)
        table = _table(X)
        listed = _positions(categorical, table)
        learned = [
            learn_column(
                table.read(j),
                name,
                table.labels[j],
                listed=j in listed,
                categorical=table.is_categorical(j),
                scale=scale,
                max_levels=max_levels,
                bins=bins,
                exact=exact,
            )
            for j, name in enumerate(table.names or [f"x{j}" for j in range(len(table.labels))])
        ]
        _warn_of_learned(learned, table.labels, owner)
        plans = tuple(column.plan for column in learned)
        return cls(plans, table.names is not None, None if clip is None else float(clip))

    def transform(self, X: Any, *, owner: str = "this model") -> NDArray[np.float32]:
        """Numbers of shape (n, width), a row of them for each row of X and independent of the other rows."""
        return self._filled(X, owner, np.float32, frozenset())

    def transform_exactly(
        self, X: Any, *, owner: str = "this model", without: Set[int] = frozenset()
    ) -> NDArray[np.float64]:
        """The same in float64, for models with a coefficient a number; columns in `without` are not read and 0."""
        return self._filled(X, owner, np.float64, without)

    def _filled(self, X: Any, owner: str, kind: Any, without: Set[int]) -> NDArray[Any]:
        table = self._checked_table(X, owner)
        out: NDArray[Any] = np.zeros((table.n_rows, self.width), kind)
        surprises, start = [], 0
        for j, plan in enumerate(self.columns):
            part = out[:, start : start + plan.width]
            read = j not in without
            surprises.append(plan.fill(table.read(j), table.labels[j], part, self.clip) if read else Surprise())
            start += plan.width
        self._warn_of_surprises(surprises, table)
        return out

    def outside(self, X: Any, *, owner: str = "this model") -> NDArray[np.bool_]:
        """Whether a value lies beyond those of training, of shape (n, n_features_in).

        Numbers do below the smallest or above the largest, levels when they are unknown; gaps and columns that
        are left out never do.
        """
        table = self._checked_table(X, owner)
        out = np.zeros((table.n_rows, self.n_features_in), np.bool_)
        for j, plan in enumerate(self.columns):
            out[:, j] = plan.outside(table.read(j), table.labels[j])
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
    def width(self) -> int:
        """Number of columns of numbers."""
        return sum(plan.width for plan in self.columns)

    def summary(self) -> list[ColumnUse]:
        """How each column is used, for display."""
        return [ColumnUse(plan.name, plan.use, plan.gap_rule) for plan in self.columns]

    def to_plain(self) -> dict[str, Any]:
        """What was learned, as dicts, lists, text, numbers and bools that JSON can hold."""
        return {"named": self.named, "clip": self.clip, "columns": [plan.to_plain() for plan in self.columns]}

    @classmethod
    def from_plain(cls, plain: object) -> Features:
        """Read back what `to_plain` gave; anything else is refused by a `DataError`."""
        if not isinstance(plain, Mapping):
            raise DataError(f"features must be an object, but are of type {type(plain).__name__}. Is the file damaged?")
        require_keys(plain, {"named", "clip", "columns"}, "features")
        named = require_bool(plain["named"], "features: named")
        clip = None if plain["clip"] is None else require_number(plain["clip"], "features: clip")
        if clip is not None and not clip > 0:
            raise DataError(f"features: clip must be positive, but is {clip:g}. Is the file damaged?")
        entries = plain["columns"]
        if not isinstance(entries, list) or not entries:
            raise DataError("features: columns must be a list that is not empty. Is the file damaged?")
        plans = tuple(plan_from_plain(entry, f"features: column {j}") for j, entry in enumerate(entries))
        names = [plan.name for plan in plans]
        if named and len(set(names)) < len(names):
            raise DataError("features: names of columns must differ. Is the file damaged?")
        if not named and names != [f"x{j}" for j in range(len(names))]:
            raise DataError("features: columns without names must be called x0, x1, … in order. Is the file damaged?")
        return cls(plans, named, clip)

    def _checked_table(self, X: Any, owner: str) -> _Table:
        """X as a table with the columns of training; named ones are found by their names, in any order."""
        table, expected = _table(X), self.names_in
        if expected is not None and table.names is not None and table.names != expected:
            table = _by_name(table, table.names, expected, owner)
        if expected is None and table.names is not None:
            warnings.warn(f"X has feature names, but {owner} was fitted without feature names", stacklevel=3)
        if expected is not None and table.names is None:
            message = f"X does not have valid feature names, but {owner} was fitted with feature names"
            warnings.warn(message, stacklevel=3)
        if len(table.labels) != self.n_features_in:
            raise DataError(
                f"X has {len(table.labels)} features, but {owner} is expecting {self.n_features_in} features as input. "
                "Give the columns of training."
            )
        return table

    def _warn_of_surprises(self, surprises: list[Surprise], table: _Table) -> None:
        gaps, unknown = [], []
        for surprise, plan, label in zip(surprises, self.columns, table.labels, strict=True):
            if surprise.gaps:
                gaps.append(f"{label} in {surprise.gaps} of {table.n_rows} rows ({plan.gap_rule})")
            if surprise.unknown:
                unknown.append(f"{label} in {surprise.unknown} of {table.n_rows} rows ({surprise.examples})")
        if gaps:
            warnings.warn(f"gaps where training had none: {_first_labels(gaps, '; ')}.", stacklevel=4)
        if unknown:
            message = f"levels that training had not shown, read as none of the levels: {_first_labels(unknown, '; ')}."
            warnings.warn(message, stacklevel=4)


class _Table(NamedTuple):
    """A table of any sort: its names if all are text, what messages call its columns, and how to get at one."""

    names: tuple[str, ...] | None
    labels: list[str]
    n_rows: int
    column: Callable[[int], Any]

    def read(self, j: int) -> NDArray[Any]:
        """Column j as a one-dimensional array."""
        raw = one_column(Column(self.column(j), self.labels[j]))
        if raw.size != self.n_rows:
            raise DataError(
                f"{self.labels[j]} has {raw.size} values, but {self.labels[0]} has {self.n_rows}. "
                "Give columns of equal length: one value a row."
            )
        return raw

    def is_categorical(self, j: int) -> bool:
        """Whether the type of column j says that it holds categories."""
        column = self.column(j)
        return type(getattr(column, "dtype", None)).__name__ in _CATEGORICAL_TYPES


def raw_columns(X: Any) -> Iterator[NDArray[Any]]:
    """The columns (n,) of a table of any sort as they are, one at a time; of an array of more axes its numbers."""
    if isinstance(X, np.ndarray) and X.ndim > 2:
        X = X.reshape(len(X), -1)
    table = _table(X)
    for j in range(len(table.labels)):
        yield table.read(j)


def _table(X: Any) -> _Table:
    """Any table that is accepted, not yet read."""
    if any("sparse" in base.__module__.split(".") for base in type(X).__mro__):
        raise DataError("X must be dense, but is a sparse matrix. Convert it to a dense array, as by X.toarray().")
    if not isinstance(X, Sized) and "collect" in dir(type(X)):
        raise DataError(f"X must hold rows, but is a {type(X).__name__}: collect it first, by X.collect().")
    if isinstance(X, Mapping):
        keys = list(X)
        n_rows = one_column(Column(X[keys[0]], f"column {quoted(keys[0])}")).size if keys else 0
    elif isinstance(X, (np.ndarray, list, tuple)) or getattr(X, "columns", None) is None:
        return _array_table(X)
    else:
        keys, n_rows = list(X.columns), len(X)
    _require_shape(n_rows, len(keys))
    return _Table(_text_names(keys), [f"column {quoted(key)}" for key in keys], n_rows, lambda j: X[keys[j]])


def _array_table(X: Any) -> _Table:
    try:
        array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
        if array.dtype.kind in "US" and isinstance(X, (list, tuple)):
            # Among text numpy would write numbers and gaps as text, too.
            array = np.array(X, dtype=object)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"X cannot be read as a table ({error}). Give rows of equal length.") from None
    if array.dtype.kind == "V":
        raise DataError(
            "X must not be a structured array. Give a frame, or a dict of columns such as {'age': X['age']}."
        )
    if array.ndim < 2:
        found = "1D" if array.ndim else "scalar"
        raise DataError(
            f"Expected 2D array, got {found} array instead (shape {array.shape}). Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
            "single sample."
        )
    if array.ndim > 2:
        raise DataError(f"Found array with dim {array.ndim}, but X must have 2: rows and columns. Reshape your data.")
    _require_shape(*array.shape)
    return _Table(None, [f"column {j}" for j in range(array.shape[1])], array.shape[0], lambda j: array[:, j])


def _require_shape(n_rows: int, n_columns: int) -> None:
    # scikit-learn's words, by which its users and its checks know these errors.
    for count, what in ((n_rows if n_columns else 1, "sample"), (n_columns, "feature")):
        if count == 0:
            raise DataError(
                f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
            )


def _text_names(keys: list[Any]) -> tuple[str, ...] | None:
    """The names if all are text, None if none is."""
    if not all(isinstance(key, Hashable) for key in keys):
        raise DataError("X is no frame of a kind that is known. Give a pandas or polars frame or a dict of columns.")
    if len(set(keys)) < len(keys):
        twice = next(key for position, key in enumerate(keys) if key in keys[:position])
        raise DataError(
            f"the columns of X must have different names, but {quoted(twice)} occurs twice. Rename one of them."
        )
    text = [isinstance(key, str) for key in keys]
    if all(text):
        return tuple(str(key) for key in keys)
    if any(text):
        types = sorted({type(key).__name__ for key in keys})
        raise NotPlainError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Convert them by X.columns = X.columns.astype(str)."
        )
    return None


def _by_name(table: _Table, names: tuple[str, ...], expected: tuple[str, ...], owner: str) -> _Table:
    """The columns of training out of a table that has them in another order, or others beside them."""
    place = {name: j for j, name in enumerate(names)}
    if not set(expected) <= set(place):
        raise DataError(_name_refusal(expected, names))
    known = set(expected)
    unused = [table.labels[j] for name, j in place.items() if name not in known]
    if unused:
        message = f"X has columns that {owner} was not fitted to, which are not used: {_first_labels(unused)}."
        warnings.warn(message, stacklevel=4)
    chosen = [place[name] for name in expected]
    labels = [table.labels[j] for j in chosen]
    return _Table(expected, labels, table.n_rows, lambda j: table.column(chosen[j]))


def _name_refusal(expected: tuple[str, ...], found: tuple[str, ...]) -> str:
    """scikit-learn's words for columns that are not those of training, and what to do."""
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(found) - set(expected)), sorted(set(expected) - set(found))
    for names, what in ((unseen, "unseen at fit time"), (missing, "seen at fit time, yet now missing")):
        if names:
            lines = [f"- {shortened(printable(name), 72)}\n" for name in names[:5]] + ["- ...\n"] * (len(names) > 5)
            message += f"Feature names {what}:\n{''.join(lines)}"
    for name in missing[:5]:
        near = get_close_matches(name, unseen, n=1, cutoff=0.6)
        if near:
            message += f"Is {quoted(near[0])} what was {quoted(name)} in training? "
    return f"{message}Give the columns of training: {listed(list(expected), 12)}."


def _first_labels(labels: Sequence[str], between: str = ", ", most: int = 12) -> str:
    """Labels of the first few columns, and how many more there are."""
    more = f"{between}and {len(labels) - most} more" if len(labels) > most else ""
    return between.join(labels[:most]) + more


def _positions(categorical: Sequence[str | int] | None, table: _Table) -> set[int]:
    """Positions of the columns that the user calls categorical."""
    if isinstance(categorical, str):
        raise ParameterError(
            f"categorical must be a list of columns, but is {quoted(categorical)}. Give [{quoted(categorical)}]."
        )
    positions, n_columns = set(), len(table.labels)
    for column in [] if categorical is None else categorical:
        if isinstance(column, str):
            names = table.names or ()
            if column not in names:
                near = get_close_matches(column, names, n=1, cutoff=0.5)
                hint = f"Did you mean {quoted(near[0])}? " if near else ""
                raise UnknownNameError(
                    f"categorical lists {quoted(column)}, which is no column of X. {hint}"
                    f"Columns: {listed(list(names), 12) or 'without names; give positions'}."
                )
            positions.add(names.index(column))
        elif isinstance(column, (int, np.integer)) and not isinstance(column, bool) and 0 <= column < n_columns:
            positions.add(int(column))
        else:
            raise ParameterError(
                f"categorical must list names or positions from 0 to {n_columns - 1}, but lists {quoted(column)}."
            )
    return positions


def _check_settings(clip: float | None, max_levels: int, bins: int) -> None:
    if clip is not None and not (isinstance(clip, (int, float, np.number)) and 0 < clip < math.inf):
        raise ParameterError(f"clip must be None or a positive, finite number, but is {quoted(clip)}.")
    if not isinstance(max_levels, (int, np.integer)) or isinstance(max_levels, bool) or max_levels < 1:
        raise ParameterError(f"max_levels must be an integer of at least 1, but is {quoted(max_levels)}.")
    if not isinstance(bins, (int, np.integer)) or isinstance(bins, bool) or not 0 <= bins <= MOST_BINS:
        raise ParameterError(f"bins must be an integer from 0 (none) to {MOST_BINS}, but is {quoted(bins)}.")


def _warn_of_learned(learned: list[Learned], labels: list[str], owner: str) -> None:
    """One warning for each sort of column that is left out or looks wrong."""
    reasons = {
        "constant": "hold one value only",
        "no values": "hold no values",
        "identifier": "hold text that differs in every row, as identifiers do",
    }
    for reason, told in reasons.items():
        pairs = zip(learned, labels, strict=True)
        found = [label for (plan, _), label in pairs if isinstance(plan, LeftOut) and plan.reason == reason]
        if found:
            warnings.warn(f"{owner} leaves out columns that {told}: {_first_labels(found)}.", stacklevel=3)
    found = [label for (_, suspect), label in zip(learned, labels, strict=True) if suspect]
    if found:
        message = (
            f"{owner} uses columns of numbers that look like identifiers: {_first_labels(found)}. Drop them if so."
        )
        warnings.warn(message, stacklevel=3)

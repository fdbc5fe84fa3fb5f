"""Any table of yours, as covariates and times."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from aldsurv.data.outcome_columns import frame_column
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow
from aldsurv.tables.csv_columns import csv_columns
from aldsurv.tables.parquet_columns import parquet_columns
from aldsurv.tables.parse_numbers import settled_numbers
from aldsurv.tables.table import Table, TableColumn
from aldsurv.tables.table_format import DELIMITERS, TextFormat, is_parquet, text_format

__all__ = ["read_table"]

_PAIRS = (["time", "event"], ["lower", "upper"])
# Of R, and of pandas.
_ROW_NAMES = re.compile(r"\s*|__index_level_\d+__")
_NUMBER = re.compile(r"\s*[+-]?[0-9]*[.,]?[0-9]+\s*")
_ROW = re.compile(r"(first: |but )row (\d+)\b")


def read_table(
    path: str | os.PathLike[str],
    *,
    time: str | None = None,
    event: str | None = None,
    event_value: Any = None,
    lower: str | None = None,
    upper: str | None = None,
    entry: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read a table from a CSV, TSV or Parquet file; text may be gzipped.

    What is not named is found out from the file. Columns that are not named are covariates. Without any of `time`,
    `event`, `lower` and `upper` the table has no times: people to predict for.

    Parameters
    ----------
    path
        The file. Text must have a header.
    time, event, event_value
        Columns of right-censored data, and which value of the second is the event; as in `SurvivalData.right`.
    lower, upper
        Columns of bounds, in place of `time` and `event`; as in `SurvivalData.interval`.
    entry, weight
        Columns of delayed entry and of weights.
    drop
        Columns to leave out.
    categorical
        Columns whose values are codes, such as postcodes: of text they are read as they stand, with leading zeros.
        Give ``categorical=table.categorical`` to the model.
    missing
        What stands for a gap in text, beside nothing at all, NA, N/A, NaN, null, a point and a question mark.
    delimiter, decimal, encoding
        How text is written down, where it cannot be found out: the character between fields, ``"."`` or ``","`` in
        numbers, and the name of the encoding.

    Raises
    ------
    DataError
        The file is no table, or its values cannot be what they are said to be; the message names column and line.
    UnknownNameError
        A column is not there.
    OSError
        The file is not there or may not be read.
    """
    named = {"time": time, "event": event, "lower": lower, "upper": upper, "entry": entry, "weight": weight}
    roles = {role: name for role, name in named.items() if name is not None}
    for argument, names in (("drop", drop), ("categorical", categorical), ("missing", missing)):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ParameterError(f"{argument} must be a list of text, but is {quoted(names)}.")
    _check_roles(roles, event_value, drop)
    source = Path(path)
    plan = _Plan(source, roles, tuple(drop), tuple(categorical))
    if is_parquet(source):
        return _table(plan, parquet_columns(source, plan.choose), None, event_value)
    import_arrow("pyarrow")
    found = text_format(source, delimiter=delimiter, decimal=decimal, encoding=encoding)
    columns, found = csv_columns(found, plan.choose, as_text=plan.categorical, missing=missing)
    return _table(plan, _emptied(columns), found, event_value)


@dataclass
class _Plan:
    """What the user named; once the header is known, what becomes of each column."""

    path: Path
    roles: dict[str, str]
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    columns: list[TableColumn] = field(default_factory=list)

    def choose(self, names: list[str]) -> list[str]:
        """The columns to read."""
        for name in (*self.roles.values(), *self.drop, *self.categorical):
            self._require(name, names)
        named = {*self.roles.values(), *self.categorical}
        use = {name: role for role, name in self.roles.items()}
        self.columns = []
        for position, name in enumerate(names):
            left_out = name in self.drop
            if not left_out and name not in named and _ROW_NAMES.fullmatch(name):
                left_out = True
                if position and not name.strip():
                    message = f"{str(self.path)!r}: column {position + 1} has no name and is left out."
                    warnings.warn(message, stacklevel=5)
            self.columns.append(TableColumn(name, "left out" if left_out else use.get(name, "feature")))
        kept = [column.name for column in self.columns if column.use != "left out"]
        if len(set(kept)) < len(kept):
            twice = next(name for position, name in enumerate(kept) if name in kept[:position])
            at = [str(position + 1) for position, name in enumerate(names) if name == twice]
            raise DataError(
                f"{str(self.path)!r} has the column {quoted(twice)} more than once (columns {' and '.join(at)}). "
                "Rename one of them, or leave both out by drop."
            )
        if not kept:
            raise DataError(f"{str(self.path)!r} has no columns but those that are left out. Drop fewer.")
        return kept

    def _require(self, name: str, names: list[str]) -> None:
        try:
            frame_column(dict.fromkeys(names), name)
        except UnknownNameError as error:
            # Names that are numbers are mostly values.
            hint = " Has the file no header?" if all(_NUMBER.fullmatch(known) for known in names) else ""
            raise UnknownNameError(f"{str(self.path)!r}: {error}{hint}") from None


def _check_roles(roles: dict[str, str], event_value: Any, drop: Sequence[str]) -> None:
    pair = [role for role in roles if role not in ("entry", "weight")]
    if pair not in _PAIRS and (pair or roles or event_value is not None):
        raise ParameterError(
            "read_table needs the columns time and event, or lower and upper, but got "
            f"{' and '.join(pair) or 'neither'}. Name one pair, such as time='months', event='status'."
        )
    by_name: dict[str, str] = {}
    for role, name in roles.items():
        if not isinstance(name, str):
            raise ParameterError(f"{role} must be the name of a column, but is {quoted(name)}.")
        if name in drop:
            raise ParameterError(f"column {quoted(name)} cannot be both {role} and dropped. Take it out of drop.")
        if name in by_name:
            raise ParameterError(f"{by_name[name]} and {role} must be different columns, but both are {quoted(name)}.")
        by_name[name] = role


def _emptied(columns: dict[str, ColumnBuilder]) -> Iterator[tuple[str, ColumnBuilder]]:
    """Names and columns; each is forgotten here when it is handed out, to be freed when it was used."""
    for name in list(columns):
        yield name, columns.pop(name)


def _table(
    plan: _Plan, columns: Iterable[tuple[str, ColumnBuilder]], found: TextFormat | None, event_value: Any
) -> Table:
    def place(row: int) -> str:
        line = None if found is None else found.line_of(row)
        return f"row {row}" if line is None else f"line {line}"

    numbers = {name for role, name in plan.roles.items() if role != "event"}
    read: dict[str, NDArray[Any]] = {}
    codes = set(plan.categorical)
    for name, column in columns:
        label = f"column {quoted(name)}"
        if column.is_codes:
            codes.add(name)
        with _located(plan.path, place):
            values = column.finish()
            if found is not None and values.dtype == object and name not in codes and name != plan.roles.get("event"):
                values = settled_numbers(values, label, found.decimal, mixed=name in numbers, place=place)
        if values.size == 0:
            raise DataError(f"{str(plan.path)!r} has a header but no rows. Give at least one.")
        read[name] = values
    outcome = {role: read.pop(name) for role, name in plan.roles.items()}
    y = None
    if outcome:
        with _located(plan.path, place):
            frame = {plan.roles[role]: values for role, values in outcome.items()}
            y = SurvivalData.from_frame(frame, event_value=event_value, **plan.roles)
    categorical = tuple(name for name in read if name in codes)
    return Table(read, y, tuple(plan.columns), categorical, plan.path, _written(found))


@contextmanager
def _located(path: Path, place: Any) -> Iterator[None]:
    """Errors with the file's name, and with its lines in place of rows."""
    try:
        yield
    except (DataError, UnknownNameError) as error:
        told = _ROW.sub(lambda match: f"{match[1]}{place(int(match[2]))}", str(error), count=1)
        raise type(error)(f"{str(path)!r}: {told}") from None


def _written(found: TextFormat | None) -> str:
    if found is None:
        return "Parquet"
    delimiter = DELIMITERS.get(found.delimiter, repr(found.delimiter))
    mark = "comma" if found.decimal == "," else "point"
    zipped = ", gzipped" if found.compressed else ""
    return f"text, delimiter {delimiter}, decimal {mark}, {found.encoding}{zipped}"

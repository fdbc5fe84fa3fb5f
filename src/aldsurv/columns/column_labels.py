"""Labels of columns and of their levels on pages: from a mapping, or from a file of CSV or JSON."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.columns.column_entries import format_value
from aldsurv.columns.column_plans import Levels
from aldsurv.columns.features import Features
from aldsurv.errors import ColumnWarning, ParameterError
from aldsurv.quoting import printable, quoted

__all__ = ["ColumnLabel", "ColumnLabels", "read_labels", "warn_of_unknown_labels"]

_KEYS = ("label", "unit", "levels")
_MOST_BYTES = 10_000_000


@final
@dataclass(frozen=True)
class ColumnLabel:
    """What a column is called on the page.

    Attributes
    ----------
    label, unit
        Its title, empty for the name itself, and the unit of its values, which follows the title in brackets.
    levels
        Titles of its values, by how these are written.
    """

    label: str = ""
    unit: str = ""
    levels: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class ColumnLabels:
    """Labels by the name of the column; columns without one keep their names.

    Examples
    --------
    >>> labels = ColumnLabels.of({"age": {"label": "Age", "unit": "years"}, "sex": {"levels": {"f": "female"}}})
    >>> labels.column("age"), labels.level("sex", "f"), labels.column("grade")
    ('Age (years)', 'female', 'grade')
    """

    columns: Mapping[str, ColumnLabel] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> ColumnLabels:
        """Labels as a mapping or the path of a file; None: none.

        Parameters
        ----------
        given
            By column its label, or a mapping with ``label``, ``unit`` and ``levels`` (a label by value).
        """
        if given is None:
            return cls()
        if isinstance(given, ColumnLabels):
            return given
        if isinstance(given, (str, os.PathLike)):
            return read_labels(given)
        return _from_mapping(given, "labels")

    def column(self, name: str) -> str:
        """What a column is called."""
        given = self.columns.get(name)
        if given is None:
            return name
        return f"{given.label or name} ({given.unit})" if given.unit else given.label or name

    def level(self, name: str, value: object) -> Any:
        """What a value of a column is called: the value itself if it has no label."""
        given = self.columns.get(name)
        if given is None or not given.levels or value is None or value != value:
            return value
        return given.levels.get(_written(value), given.levels.get(str(value), value))

    def values(self, name: str, column: NDArray[Any]) -> NDArray[Any]:
        """The values of a column with their labels, as it is if none has one."""
        given = self.columns.get(name)
        if given is None or not given.levels:
            return column
        labelled = np.empty(column.shape, object)
        labelled[:] = [self.level(name, value) for value in column.tolist()]
        return labelled

    def inputs(self, features: Features | None) -> dict[str, str]:
        """What the numbers that columns become are called, by the names that coefficients have."""
        names: dict[str, str] = {}
        for plan in () if features is None else features.columns:
            title = self.column(plan.name)
            further = [name.removeprefix(plan.name) for name in plan.names_out]
            if isinstance(plan, Levels):
                levels = [f"={format_value(self.level(plan.name, level))}" for level in plan.levels]
                further = [*levels, *further[len(levels) :]]
            names |= {name: f"{title}{end}" for name, end in zip(plan.names_out, further, strict=True)}
        return names

    def unknown(self, known: Sequence[str]) -> tuple[str, ...]:
        """Columns that have a label but are not among those given."""
        return tuple(name for name in self.columns if name not in set(known))


def read_labels(path: str | os.PathLike[str]) -> ColumnLabels:
    """Labels from a file.

    Parameters
    ----------
    path
        JSON (``.json``): an object with a label, or an object with ``label``, ``unit`` and ``levels``, by column. Any
        other file is read as CSV with the columns ``column`` and ``label``, perhaps ``unit``, and ``level`` in rows
        that label a value of the column.
    """
    place, where = Path(path), f"the file of labels {os.fspath(path)!r}"
    try:
        if place.stat().st_size > _MOST_BYTES:
            _refuse(where, "is larger than any list of labels")
        text = place.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        _refuse(where, "is not text in UTF-8")
    except OSError as error:
        _refuse(where, f"cannot be read: {error.strerror}")
    if place.suffix.lower() != ".json":
        return _from_csv(text, where)
    try:
        content = json.loads(text)
    except ValueError as error:
        _refuse(where, f"is not JSON: {error}")
    return _from_mapping(content, where)


def warn_of_unknown_labels(labels: ColumnLabels, known: Sequence[str]) -> None:
    """Warn of labels for columns that are not among those known."""
    unknown = labels.unknown(known)
    if unknown:
        which = "these labels are" if len(unknown) > 1 else "this label is"
        warnings.warn(
            f"labels names {listed(unknown, 8)}, which the model does not use: {which} not shown.",
            ColumnWarning,
            stacklevel=3,
        )


def _from_csv(text: str, where: str) -> ColumnLabels:
    rows = csv.DictReader(text.splitlines(), skipinitialspace=True)
    heads = [str(name).strip() for name in rows.fieldnames or ()]
    rows.fieldnames = heads
    if not {"column", "label"} <= set(heads):
        _refuse(where, f"must have the columns column and label, but has {', '.join(map(quoted, heads)) or 'none'}")
    further = set(heads) - {"column", "label", "unit", "level"}
    if further:
        _refuse(where, f"has the column {quoted(sorted(further)[0])}; it may have column, label, unit and level")
    columns: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, start=2):
        if None in row:
            _refuse(where, f"has more fields than columns in line {number}")
        name, label, unit, level = ((row.get(key) or "").strip() for key in ("column", "label", "unit", "level"))
        if not name:
            _refuse(where, f"names no column in line {number}")
        entry = columns.setdefault(name, {"levels": {}})
        if level:
            if level in entry["levels"]:
                _refuse(where, f"labels {quoted(level)} of {quoted(name)} twice, again in line {number}")
            entry["levels"][level] = label
            continue
        if "label" in entry:
            _refuse(where, f"labels {quoted(name)} twice, again in line {number}")
        entry |= {"label": label, "unit": unit}
    return _from_mapping(columns, where)


def _from_mapping(given: Any, where: str) -> ColumnLabels:
    if not isinstance(given, Mapping):
        _refuse(where, f"must be labels by column, but is of type {type(given).__name__}")
    columns = {str(name): _label(entry, str(name), where) for name, entry in given.items()}
    labels = ColumnLabels(columns)
    titles: dict[str, str] = {}
    for name in columns:
        title = labels.column(name)
        if title in titles:
            _refuse(where, f"gives {quoted(titles[title])} and {quoted(name)} the same label {quoted(title)}")
        titles[title] = name
    return labels


def _label(entry: Any, name: str, where: str) -> ColumnLabel:
    if isinstance(entry, str):
        return ColumnLabel(printable(entry.strip()))
    if not isinstance(entry, Mapping):
        _refuse(where, f"must give {quoted(name)} a text, or label, unit and levels, but has {quoted(entry)}")
    wrong = [str(key) for key in entry if key not in _KEYS]
    if wrong:
        _refuse(where, f"has {quoted(wrong[0])} for {quoted(name)}; it may have {', '.join(_KEYS)}")
    texts = [entry.get(key, "") for key in ("label", "unit")]
    levels = entry.get("levels", {})
    if not all(isinstance(text, str) for text in texts):
        _refuse(where, f"must give {quoted(name)} a label and a unit that are text")
    if not isinstance(levels, Mapping) or not all(isinstance(text, str) for text in levels.values()):
        _refuse(where, f"must give the levels of {quoted(name)} as a text for each value")
    label, unit = (printable(text.strip()) for text in texts)
    return ColumnLabel(label, unit, {_written(value): printable(text.strip()) for value, text in levels.items()})


def _written(value: object) -> str:
    """How a value is written: 1.0 as 1, so that a file need not know the type of a column."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    return str(value).strip()


def _refuse(where: str, problem: str) -> NoReturn:
    advice = 'Give it as {"age": {"label": "Age", "unit": "years"}}, or as CSV with the columns column and label.'
    raise ParameterError(f"{where} {problem}", argument="labels", advice=advice)

"""Models and tables that commands read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from aldsurv.checks import listed
from aldsurv.cli.causes.event_values import possible_mappings, possible_values
from aldsurv.cli.shared.number_text import format_count
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of
from aldsurv.errors import DataError, UnknownNameError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.parts.parted_table import PartedTable
    from aldsurv.tables.table import Table

__all__ = [
    "load_model",
    "open_outcome_table",
    "outcome_columns_in",
    "read_model_table",
    "read_outcome_table",
    "read_training_table",
    "require_events",
    "require_file",
    "time_unit",
]

Read = TypeVar("Read")


def require_file(path: str | Path) -> None:
    """Raise `DataError` if there is no such file: a wrong name is bad input, not a failing system."""
    place = Path(path)
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        names = [entry.name for entry in place.parent.iterdir()] if place.parent.is_dir() else []
        near = get_close_matches(place.name, names, n=1, cutoff=0.6)
        hint = f"Did you mean {str(place.parent / near[0])!r}?" if near else "Check the name."
        raise DataError(f"there is no file {str(path)!r}", advice=hint) from None


def load_model(path: str | Path) -> SurvivalEstimator:
    """The model of a file."""
    from aldsurv.models.persistence import load

    require_file(path)
    model: SurvivalEstimator = load(path)
    return model


def time_unit(model: SurvivalEstimator) -> str | None:
    """The unit of time that a model was given, if any."""
    unit = model.innermost.get_params().get("unit")
    return None if unit is None else str(unit)


def read_outcome_table(
    path: str | Path,
    columns: OutcomeColumns,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    reading: ReadingOptions | None = None,
) -> Table:
    """Read a table with its outcome; with no columns named, without one.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file.
    columns
        The columns of the outcome.
    drop, categorical
        Columns to leave out, and columns whose values are codes.
    reading
        How the file is written down.
    """
    from aldsurv.datasets import read_table

    require_file(path)
    if Path(path).is_dir():
        raise DataError(f"{str(path)!r} is a folder", advice="Name a file in it.")
    chosen = reading or ReadingOptions()

    def read(**options: Any) -> Table:
        with chosen.noted():
            return read_table(path, drop=drop, categorical=categorical, **options, **chosen.arguments)

    return _read_outcome(read, columns)


def open_outcome_table(
    source: Path | Sequence[Path],
    columns: OutcomeColumns,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> PartedTable:
    """Open a folder of Parquet files, or several files, with their outcome.

    Parameters
    ----------
    source
        The folder, or the files.
    columns, drop, categorical
        As in `read_outcome_table`.
    missing
        Values that stand for gaps.
    """
    from aldsurv.datasets import open_table

    for path in [source] if isinstance(source, Path) else source:
        require_file(path)

    def read(**options: Any) -> PartedTable:
        return open_table(source, drop=drop, categorical=categorical, missing=missing, **options)

    return _read_outcome(read, columns)


def _read_outcome(read: Callable[..., Read], columns: OutcomeColumns) -> Read:
    """What a function reads with the columns of the outcome as its arguments."""
    if columns.given:
        columns.require_pair()
    persons = "group" if columns.stop is None else "id"
    roles = {persons if role == "id" else role: name for role, name in columns.columns.items()}
    error: DataError | None = None
    values = possible_values(columns.event_value) if columns.event_value else [None]
    for value, mapping in product(values, possible_mappings(columns.event_values)):
        try:
            return read(**roles, event_value=value, event_values=mapping, **columns.dates)
        except DataError as problem:  # noqa: PERF203
            # What was typed may be the text of a number where the column holds text.
            error = error or problem
    raise error or DataError("the table cannot be read.")


def outcome_columns_in(
    path: str | Path, model: SurvivalEstimator, given: OutcomeColumns, reading: ReadingOptions | None = None
) -> OutcomeColumns:
    """What `outcome_columns_of` gives, without a column of persons that only the table of training has.

    Parameters
    ----------
    path
        The table.
    model, given
        As for `outcome_columns_of`.
    reading
        How the file is written down.
    """
    from aldsurv.datasets import read_blocks

    columns = outcome_columns_of(model, given)
    if columns.id is None or given.id is not None or columns.stop is not None:
        return columns
    require_file(path)
    if Path(path).is_dir() or columns.id in read_blocks(path, **(reading or ReadingOptions()).arguments).names:
        return columns
    warnings.warn(
        f"{str(path)!r} has no column {quoted(columns.id)}, which said in training of which person a row is: every row "
        "counts as a person of its own. Name the column by --id if it is another.",
        stacklevel=2,
    )
    return replace(columns, id=None)


def read_model_table(
    path: str | Path, model: SurvivalEstimator, columns: OutcomeColumns, reading: ReadingOptions | None = None
) -> Table:
    """Read a table for a fitted model: its covariates in its order; other columns are left out.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file.
    model
        The model.
    columns
        The columns of the outcome; with none named the table has no times.
    reading
        How the file is written down; without values for gaps, those of training count.
    """
    reading = reading_of(model, reading or ReadingOptions())
    table = read_outcome_table(path, columns, categorical=_code_columns(model), reading=reading)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table
    features = model.innermost.features_
    unused = set() if features is None else {plan.name for plan in features.columns if not plan.width}
    missing = [name for name in names if name not in table.x and name not in unused]
    if missing:
        near = get_close_matches(missing[0], table.x, n=1, cutoff=0.6)
        hint = f"Is it {quoted(near[0])}? Rename it." if near else f"Give the columns of training: {listed(names, 5)}."
        raise UnknownNameError(f"{str(path)!r} has no column {listed(missing, 5)}, which the model needs", advice=hint)
    kept = tuple(name for name in table.categorical if name in set(names))
    # What the model leaves out need not be there.
    gaps = np.full(len(table), np.nan)
    return replace(table, x={name: table.x.get(name, gaps) for name in names}, categorical=kept)


def read_training_table(
    path: str | Path, model: SurvivalEstimator, columns: OutcomeColumns, reading: ReadingOptions
) -> Table:
    """Read the outcome of training rows, and those columns of the model that the table has.

    Parameters
    ----------
    path, columns, reading
        As in `read_outcome_table`.
    model
        The model.
    """
    from aldsurv.datasets import read_blocks

    require_file(path)
    there = () if Path(path).is_dir() else read_blocks(path, **reading.arguments).names
    codes = [name for name in _code_columns(model) if name in there]
    table = read_outcome_table(path, columns, categorical=codes, reading=reading)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table
    kept = tuple(name for name in table.categorical if name in set(names))
    return replace(table, x={name: table.x[name] for name in names if name in table.x}, categorical=kept)


def _code_columns(model: SurvivalEstimator) -> list[str]:
    """Columns whose values are codes."""
    codes = model.innermost.get_params().get("categorical") or ()
    return [name for name in codes if isinstance(name, str)]


def require_events(table: Table, columns: OutcomeColumns) -> SurvivalData:
    """The outcome of a table, which must have an event in some row."""
    if table.y is None or table.y.right_censored.all():
        option = "--event-values" if columns.event_values else "--event-value"
        advice = f"Check which value of {quoted(columns.event)} is the event, and name it by {option}."
        raise DataError(
            f"{str(table.path)!r} has no event in {format_count(len(table), 'row')}",
            advice=advice if columns.event else "Check the columns of the bounds.",
        )
    return table.y

"""Tables of CSV, TSV, Parquet and Excel files: as covariates and times, or block by block."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from aldsurv.data.event_columns import EventValues, column_values
from aldsurv.data.frame_columns import Column
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import MissingValueWarning
from aldsurv.tables.arrow_columns import import_arrow
from aldsurv.tables.column_uses import ColumnUses, check_roles, require_list_of_text
from aldsurv.tables.excel_archive import is_excel
from aldsurv.tables.excel_file import ExcelFile
from aldsurv.tables.gap_markers import GapMarkers
from aldsurv.tables.parquet_file import ParquetFile
from aldsurv.tables.table import Table
from aldsurv.tables.table_file import TableFile
from aldsurv.tables.table_format import check_format, file_kind, text_format
from aldsurv.tables.text_file import TextFile

__all__ = ["read_blocks", "read_table"]

# Roles of columns that say of whom a row is: read as they stand.
_LABELS = ("group", "id")


def read_table(
    path: str | os.PathLike[str],
    *,
    time: str | None = None,
    event: str | None = None,
    event_value: object = None,
    event_values: EventValues | None = None,
    lower: str | None = None,
    upper: str | None = None,
    entry: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    id: str | None = None,  # noqa: A002 - as in SurvivalData.from_frame
    start: str | None = None,
    stop: str | None = None,
    end: str | None = None,
    unit: str | None = None,
    date_format: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Table:
    """Read a table from a CSV, TSV, Parquet or Excel (.xlsx) file; text may be gzipped.

    What is not named is inferred from the file. Columns that are not named are covariates. Without any of `time`,
    `event`, `lower` and `upper` the table has no times: rows to predict for.

    Parameters
    ----------
    path
        The file. Text must have a header.
    time, event, event_value
        Columns of right-censored data, and which value of the second is the event; as in `SurvivalData.right`.
    event_values
        In place of `event_value` for events of several causes: the name of the cause by value; as in
        `SurvivalData.from_frame`.
    lower, upper
        Columns of bounds, in place of `time` and `event`; as in `SurvivalData.interval`.
    entry, weight
        Columns of delayed entry and of weights.
    group
        Column that says which rows belong together, such as the number of a person; read as it stands, as codes are.
    id, start, stop
        Columns of episodes, in place of `time`; as in `SurvivalData.episodes`. `id` is read as it stands.
    end, unit, date_format
        Column of the date of the end, with `start` that of the start, in place of `time`; as in
        `SurvivalData.from_dates`.
    drop
        Columns to leave out.
    categorical
        Columns whose values are codes, such as postcodes: of text they are read as they stand, with leading zeros.
        Give ``categorical=table.categorical`` to the model.
    missing
        What stands for a gap, beside nothing at all, NA, N/A, NaN, null, a point and a question mark: by its text, and
        ``"-9"`` in a column of numbers by the number.
    delimiter, decimal, encoding
        How text is written down, where it cannot be inferred: the character between fields (or one of the words tab,
        comma, semicolon, space and pipe), ``"."`` or ``","`` in numbers, and the name of the encoding.
    sheet
        Sheet of an Excel file, by name or by number from 1 on; by default the first that holds anything.

    Raises
    ------
    DataError
        The file is not a table, or its values do not have their types; the error has column and line.
    UnknownNameError
        A column is not there.
    OSError
        The file is not there or may not be read.
    """
    given = {"time": time, "event": event, "lower": lower, "upper": upper, "entry": entry, "weight": weight}
    given |= {"group": group, "id": id, "start": start, "stop": stop, "end": end}
    roles = {role: name for role, name in given.items() if name is not None}
    for argument, names in (("drop", drop), ("categorical", categorical)):
        require_list_of_text(argument, names)
    check_roles(roles, event_value if event_values is None else event_values, drop, owner="read_table")
    file = _open_table(path, missing, delimiter, decimal, encoding, sheet)
    uses = ColumnUses.of(file.names, str(file.path), roles, drop, categorical)
    return _read_whole(file, uses, event_value, event_values, unit=unit, date_format=date_format)


def read_blocks(
    path: str | os.PathLike[str],
    *,
    missing: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> TableFile:
    r"""Open a CSV, TSV, Parquet or Excel (.xlsx) file to be read block by block; text may be gzipped.

    The parameters are those of `read_table`, which reads a table as a whole.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "people.csv"
    >>> _ = path.write_text("age,grade\n61,II\n48,III\n55,I\n")
    >>> for block in read_blocks(path).blocks(numbers=["age"], text=["grade"], rows=2):
    ...     print(block.x["age"], list(block.x["grade"]))
    [61. 48.] ['II', 'III']
    [55.] ['I']
    """
    return _open_table(path, missing, delimiter, decimal, encoding, sheet)


def _open_table(
    path: str | os.PathLike[str],
    missing: Sequence[str],
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    sheet: str | int | None,
) -> TableFile:
    require_list_of_text("missing", missing)
    check_format(delimiter, decimal, encoding)
    markers, source = GapMarkers(missing), Path(path)
    kind = file_kind(source)
    if kind == "parquet":
        return ParquetFile(source, markers)
    import_arrow("pyarrow")
    if kind == "zip" and is_excel(source):
        return ExcelFile(source, markers, decimal=decimal, sheet=sheet)
    return TextFile(text_format(source, delimiter=delimiter, decimal=decimal, encoding=encoding), markers)


def _read_whole(
    file: TableFile,
    uses: ColumnUses,
    event_value: object,
    event_values: EventValues | None,
    *,
    unit: str | None,
    date_format: str | None,
) -> Table:
    dates = ("start", "end") if "end" in uses.roles else ()
    labels = {name for role, name in uses.roles.items() if role in ("event", *_LABELS, *dates)}
    numbers = set(uses.roles.values()) - labels
    written = (*_LABELS, *dates) if file.is_text else _LABELS
    as_text = [*uses.categorical, *(name for role, name in uses.roles.items() if role in written)]
    x: dict[str, NDArray[Any]] = {}
    codes = set(uses.categorical)
    for name, column in file.columns(uses.names, as_text=as_text):
        if column.is_codes:
            codes.add(name)
        with file.located():
            values = file.missing.without(column.finish())
            if values.dtype == object and name not in labels and (name in numbers or name not in codes):
                values = file.as_numbers(values, name, mixed=name in numbers)
        if values.size == 0:
            raise file.no_rows_error()
        x[name] = values
    unseen = file.describe_unseen_markers()
    if unseen:
        warnings.warn(unseen, MissingValueWarning, stacklevel=3)
    outcome = {name: x.pop(name) for name in uses.roles.values()}
    y: SurvivalData | None = None
    seen: tuple[object, ...] = ()
    if outcome:
        with file.located():
            y = SurvivalData.from_frame(
                outcome,
                event_value=event_value,
                event_values=event_values,
                unit=unit,
                date_format=date_format,
                **uses.roles,
            )
        if event_values is not None:
            seen = tuple(dict.fromkeys(column_values(Column(outcome[uses.roles["event"]], "event"))))
    categorical = tuple(name for name in x if name in codes)
    return Table(x, y, uses.columns, categorical, file.path, file.description, seen)

"""Text read into columns, block by block and in the type that each column needs from the start."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, NoReturn

from aldsurv.errors import DataError
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow, open_arrow_file
from aldsurv.tables.table_format import TextFormat

__all__ = ["MISSING", "CsvColumns", "csv_columns", "open_text"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", ".", "?")

# A record must fit into a block.
_BLOCKS = (1 << 20, 1 << 26)
# Reading once more in another type costs a pass; with more surprises than this, Arrow finds the types by itself,
# for which it keeps all of the text in memory until the end.
_MOST_SURPRISES = 6
_CONVERSION = re.compile(r"In CSV column #(\d+): .*CSV conversion error to ([a-z]+)")


class CsvColumns(NamedTuple):
    """Columns by name, and the format, whose encoding may be known better by now."""

    columns: dict[str, ColumnBuilder]
    format: TextFormat


class _NotUtf8Error(Exception):
    """The text is in another encoding than was thought."""


def csv_columns(
    found: TextFormat, choose: Callable[[list[str]], list[str]], *, as_text: Collection[str], missing: Collection[str]
) -> CsvColumns:
    """Read a table of text.

    Parameters
    ----------
    found
        How it is written down.
    choose
        Called with the names in the header: those to read.
    as_text
        Columns that are text whatever they hold.
    missing
        What stands for a gap, beside `MISSING`.
    """
    gaps = [*MISSING, *missing]
    try:
        return CsvColumns(_columns(found, choose, as_text, gaps), found)
    except _NotUtf8Error:
        if found.named or found.encoding != "utf-8":
            raise DataError(f"{str(found.path)!r} is not text in {found.encoding}. Name its encoding.") from None
        western = found.in_western_encoding()
        return CsvColumns(_columns(western, choose, as_text, gaps), western)


def _columns(
    found: TextFormat, choose: Callable[[list[str]], list[str]], as_text: Collection[str], gaps: list[str]
) -> dict[str, ColumnBuilder]:
    arrow, schema = import_arrow("pyarrow"), None
    for block in _BLOCKS:
        try:
            # The first block tells the types.
            schema = _csv().open_csv(open_text(found)[0], **_options(found, gaps, block=block)).schema
            types = dict(zip(schema.names, (_wider(kind) for kind in schema.types), strict=True))
            kept = choose(schema.names)
            types = {name: arrow.string() if name in as_text else types[name] for name in kept}
            return _read(found, schema.names, types, gaps, block)
        except (arrow.ArrowException, UnicodeError, OSError) as error:  # noqa: PERF203
            if "straddling" not in str(error) or block == _BLOCKS[-1]:
                _refuse(found, error)
    raise AssertionError("the last block returns or refuses")  # pragma: no cover


def _read(
    found: TextFormat, names: list[str], types: dict[str, Any], gaps: list[str], block: int
) -> dict[str, ColumnBuilder]:
    arrow = import_arrow("pyarrow")
    for _ in range(_MOST_SURPRISES):
        options = _options(found, gaps, block=block, types=types, columns=list(types))
        builders = {name: ColumnBuilder(kind, f"column {quoted(name)}") for name, kind in types.items()}
        try:
            for batch in _csv().open_csv(open_text(found)[0], **options):
                for builder, piece in zip(builders.values(), batch.columns, strict=True):
                    builder.add(piece)
        except arrow.ArrowInvalid as error:
            wrong = _CONVERSION.match(str(error))
            if wrong is None or wrong[2] == "string":
                raise
            # The first block has not shown all that the column holds.
            name = names[int(wrong[1])]
            types[name] = arrow.float64() if types[name] == arrow.int64() else arrow.string()
        else:
            return builders
    return _read_at_once(found, types, gaps, block)


def _read_at_once(found: TextFormat, types: dict[str, Any], gaps: list[str], block: int) -> dict[str, ColumnBuilder]:
    text = {name: kind for name, kind in types.items() if kind == import_arrow("pyarrow").string()}
    options = _options(found, gaps, block=block, types=text, columns=list(types))
    table = _csv().read_csv(open_text(found)[0], **options)
    builders = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        builders[name] = ColumnBuilder(_wider(column.type), f"column {quoted(name)}")
        for piece in column.cast(_wider(column.type)).chunks:
            builders[name].add(piece)
    return builders


def _csv() -> Any:
    return import_arrow("pyarrow.csv")


def open_text(found: TextFormat) -> tuple[Any, Any]:
    """The text for Arrow to read, and the file below it, which knows how far it has been read.

    Neither is to be closed: Arrow reads ahead in threads of its own, which would then go on with the next file that
    gets the number of the closed one, and rows of that would be missing. Arrow closes it when nothing reads any more.
    """
    raw = open_arrow_file(found.path)
    return (import_arrow("pyarrow").CompressedInputStream(raw, "gzip") if found.compressed else raw), raw


def _options(
    found: TextFormat,
    gaps: list[str],
    *,
    block: int,
    types: dict[str, Any] | None = None,
    columns: list[str] | None = None,
) -> dict[str, Any]:
    encoding = "utf8" if found.encoding in ("utf-8", "utf-8-sig") else found.encoding
    return {
        "read_options": _csv().ReadOptions(block_size=block, encoding=encoding),
        "parse_options": _csv().ParseOptions(delimiter=found.delimiter, newlines_in_values=True),
        "convert_options": _csv().ConvertOptions(
            column_types=types,
            include_columns=columns,
            decimal_point=found.decimal,
            null_values=gaps,
            strings_can_be_null=True,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        ),
    }


def _wider(kind: Any) -> Any:
    """The type of a column of which the first block is known."""
    arrow, types = import_arrow("pyarrow"), import_arrow("pyarrow.types")
    if types.is_binary(kind):
        raise _NotUtf8Error
    if types.is_null(kind):
        return arrow.float64()
    # A time of day is no number here; Arrow makes one of "12:30".
    return arrow.string() if types.is_time(kind) else kind


def _refuse(found: TextFormat, error: Exception) -> NoReturn:
    if isinstance(error, MemoryError):
        raise error
    told, path = str(error), str(found.path)
    if "invalid UTF8" in told or isinstance(error, UnicodeError):
        raise _NotUtf8Error from None
    if "Expected" in told and "columns, got" in told:
        raise DataError(f"{path!r} {_ragged(found)}") from None
    if "straddling" in told:
        raise DataError(
            f"{path!r} has a line of more than {_BLOCKS[-1]} bytes. Is a quotation mark left open?"
        ) from None
    if "Empty CSV" in told:
        raise DataError(f"{path!r} has a header but no rows. Give at least one.") from None
    if isinstance(error, OSError) and not found.compressed:
        raise error
    raise DataError(f"{path!r} cannot be read as a table: {' '.join(told.split())[:200]}.") from None


def _ragged(found: TextFormat) -> str:
    """Where the first row is that has not as many fields as the header."""
    width = previous = None
    try:
        for line, fields in found.records():
            if width is None:
                width = len(fields)
            elif len(fields) != width:
                hint = (
                    "If rows begin with a name, give that column a name in the header."
                    if previous is None and len(fields) == width + 1
                    else "Quote fields that hold the delimiter, close quotation marks, or name another delimiter."
                )
                count = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                return f"has {count} in line {line}, but {width} in its header. {hint}"
            else:
                previous = line
    except csv.Error:
        return f"has a field of more than {csv.field_size_limit()} characters. Is a quotation mark left open?"
    return "has rows of different lengths. Give every row as many fields as the header has."

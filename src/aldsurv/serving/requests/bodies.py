"""Bodies of requests: JSON, lines of JSON, and CSV, whole or piece by piece; all of it untrusted."""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, final

from aldsurv.quoting import quoted
from aldsurv.serving.requests.input_columns import InputColumn
from aldsurv.serving.requests.problems import ProblemError

__all__ = ["CsvRecords", "JsonRecords", "Records", "decode", "parse_json", "read_csv"]

_DELIMITERS = (",", ";", "\t")
# A line that does not end is not collected for ever.
_LONGEST_RECORD = 1 << 20


def parse_json(text: str, constants: list[str] | None = None) -> Any:
    """The value of a JSON text; raises `ValueError` with what is wrong in one sentence.

    Parameters
    ----------
    text
        The text.
    constants
        Gets names such as NaN, which JSON does not have; the reader of the rows reports where they are. None: refused.
    """

    def constant(name: str) -> float:
        if constants is None:
            raise ValueError(f"{name} is not JSON; give null where a value is not known")
        constants.append(name)
        return float(name)

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("lists and objects are nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        # Python does not read whole numbers of thousands of digits.
        raise ValueError("a number has too many digits" if "digits" in str(error) else str(error)) from None


def decode(body: bytes) -> str:
    """Text of a body, which must be UTF-8."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProblemError(400, f"the body must be UTF-8, but byte {error.start} is not.") from None


def read_csv(body: bytes, columns: Sequence[InputColumn], markers: frozenset[str]) -> list[Any]:
    """The rows of a CSV with a header; raises `ProblemError` if it is not a table."""
    records = CsvRecords(columns, markers, longest=len(body) + 1)
    return [*records.push(body), *records.finish()]


class Records(ABC):
    """Rows out of pieces of a body."""

    def __init__(self, longest: int = _LONGEST_RECORD) -> None:
        self._rest = b""
        self._longest = longest

    def push(self, piece: bytes) -> list[Any]:
        """Rows that are whole after a further piece; one that cannot be read is a `ValueError` in the list."""
        text = self._rest + piece
        lines, start = [], 0
        while (end := self._end(text, start)) >= 0:
            lines.append(text[start:end])
            start = end + 1
        self._rest = text[start:]
        if len(self._rest) > self._longest:
            raise ProblemError(413, f"a row has more than {self._longest} bytes.")
        return [row for line in lines for row in self._rows(line)]

    def finish(self) -> list[Any]:
        """The last row, whose line need not end."""
        rest, self._rest = self._rest, b""
        return self._rows(rest)

    def _end(self, text: bytes, start: int) -> int:
        return text.find(b"\n", start)

    def _rows(self, line: bytes) -> list[Any]:
        try:
            text = line.decode("utf-8-sig").strip("\r")
        except UnicodeDecodeError:
            return [ValueError("a row must be UTF-8")]
        return [] if not text.strip() else self._read(text)

    @abstractmethod
    def _read(self, text: str) -> list[Any]:
        """The row of a line, or none."""


@final
class JsonRecords(Records):
    """A row per line of JSON."""

    def _read(self, text: str) -> list[Any]:
        try:
            return [parse_json(text, [])]
        except ValueError as error:
            return [error]


@final
class CsvRecords(Records):
    """A row per record of CSV, after a header with names of columns in any order.

    Parameters
    ----------
    columns
        Those to read; fields of others are not looked at.
    markers
        Texts that stand for gaps.
    longest
        Most bytes of a record.
    """

    def __init__(self, columns: Sequence[InputColumn], markers: frozenset[str], longest: int = _LONGEST_RECORD) -> None:
        super().__init__(longest)
        self._columns = {column.name: column for column in columns if column.used}
        self._markers = markers
        self._header: list[str] | None = None
        self._delimiter = ","

    def _end(self, text: bytes, start: int) -> int:
        """The end of a record: of a line, unless a quoted field goes on."""
        end = text.find(b"\n", start)
        quotes = text.count(b'"', start, end) if end >= 0 else 0
        while end >= 0 and quotes % 2:
            begin, end = end, text.find(b"\n", end + 1)
            quotes += text.count(b'"', begin, end) if end >= 0 else 0
        return end

    def _read(self, text: str) -> list[Any]:
        if self._header is None:
            self._delimiter = max(_DELIMITERS, key=text.count)
            self._header = self._checked_header(text)
            return []
        try:
            fields = self._fields(text)
        except csv.Error as error:
            return [ValueError(f"this is not CSV: {error}")]
        if len(fields) != len(self._header):
            return [ValueError(f"has {len(fields)} fields, but the header has {len(self._header)} columns")]
        row = dict(zip(self._header, fields, strict=True))
        return [
            {
                name: self._columns[name].from_text(field, self._markers) if name in self._columns else None
                for name, field in row.items()
            }
        ]

    def _checked_header(self, text: str) -> list[str]:
        try:
            names = [name.strip() for name in self._fields(text)]
        except csv.Error as error:
            raise ProblemError(400, f"the header is not CSV: {error}.") from None
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise ProblemError(400, f"the header has the column {quoted(twice)} twice.")
        return names

    def _fields(self, text: str) -> list[str]:
        return next(csv.reader([text], delimiter=self._delimiter, strict=True), [])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    items = dict(pairs)
    if len(items) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"an object has the name {quoted(twice, 40)} twice")
    return items

"""How a table is written down: Parquet, Excel or text, and of text the encoding, the delimiter and the decimal mark."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import stat
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast, final

from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["DELIMITERS", "TextFormat", "check_format", "file_kind", "text_format"]

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
# Words for characters that are hard to type, or mean something to a shell.
_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "pipe": "|"}

_SAMPLE, _LONGEST_SAMPLE = 1 << 20, 1 << 26
# Bytes that are looked at at once where all of a file is.
_SCANNED = 1 << 22
_RECORDS = 200
# Before the two-byte ones, which they begin like.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What Python lists beside the encodings of text: names of hosts, and source code.
_NO_ENCODINGS = {
    "idna",
    "punycode",
    "undefined",
    "unicode-escape",
    "unicode_escape",
    "raw-unicode-escape",
    "raw_unicode_escape",
}
_GZIP = b"\x1f\x8b"
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": ("an old or encrypted Excel file", "Save the table as .xlsx or CSV, without a password"),
    b"\x89HDF\r\n\x1a\n": ("an HDF5 file", "Save the table as CSV or Parquet"),
    b"ARROW1": ("a Feather file", "Save the table as Parquet"),
    b"%PDF": ("a PDF file", "Give the table as CSV"),
    b"SQLite format 3": ("an SQLite file", "Save the table as CSV"),
}
# What no text has, but tabs, ends of lines and pages, and the mark at the end of old files.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_COMMA = re.compile(r"\s*[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?\s*")
# With a comma these are thousands as well as three decimals.
_EITHER = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")


@final
@dataclass(frozen=True)
class TextFormat:
    """A table that is text.

    Parameters
    ----------
    path, compressed
        The file, and whether it is gzipped.
    encoding, delimiter, decimal
        How it is written down.
    named
        Whether the user named the encoding.
    """

    path: Path
    compressed: bool
    encoding: str
    delimiter: str
    decimal: str
    named: bool

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Line that a record begins in, and its fields; empty lines are none. Slow: for messages."""
        raw = _open(self.path, self.compressed)
        with io.TextIOWrapper(raw, self.encoding, errors="replace", newline="") as text:
            yield from _records(text, self.delimiter)

    def records_as_written(self) -> Iterator[str]:
        """The header and the rows, each with its quotation marks and ends of lines; empty lines are none."""
        lines: list[str] = []

        def taken(text: IO[str]) -> Iterator[str]:
            for line in text:
                lines.append(line)
                yield line

        with io.TextIOWrapper(_open(self.path, self.compressed), self.encoding, newline="") as text:
            # The reader takes as many lines as a record needs, and no more.
            for fields in csv.reader(taken(text), delimiter=self.delimiter):
                if fields:
                    yield "".join(lines)
                lines.clear()

    def line_of(self, row: int) -> int | None:
        """Line of a row that is counted from 0; None if it cannot be found."""
        try:
            for number, (line, _) in enumerate(self.records()):
                # The header is a record, too.
                if number == row + 1:
                    return line
        except (csv.Error, *_BROKEN):
            pass
        return None

    def in_its_encoding(self) -> TextFormat:
        """The same, with a warning and a western encoding for a file that turns out not to be UTF-8 further on."""
        if self.named or self.encoding != "utf-8":
            return self
        try:
            if _can_be_decoded(self.path, self.compressed, "utf-8"):
                return self
            encoding = "cp1252" if _can_be_decoded(self.path, self.compressed, "cp1252") else "latin-1"
        except (OSError, *_BROKEN):
            # Damaged further on: the reader says so.
            return self
        return replace(self, encoding=_warned(self.path, encoding))


_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)


def file_kind(path: Path) -> str:
    """``"parquet"``, ``"zip"`` or ``"text"``, by the first bytes; what is neither file nor table is refused."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise DataError(f"{str(path)!r} is a folder", argument="path", advice="Give the path of one file.")
    if not stat.S_ISREG(mode):
        raise DataError(f"{str(path)!r} is a pipe or a device", argument="path", advice="Give the path of a file.")
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        raise _empty_error(path)
    for magic, (kind, advice) in _FOREIGN.items():
        if head.startswith(magic):
            raise DataError(f"{str(path)!r} is not a table but {kind}", argument="path", advice=f"{advice}.")
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return "parquet" if head.startswith(b"PAR1") else "text"


def text_format(path: Path, *, delimiter: str | None, decimal: str | None, encoding: str | None) -> TextFormat:
    """Find out what was not named."""
    check_format(delimiter, decimal, encoding)
    delimiter = _DELIMITER_WORDS.get(delimiter.lower(), delimiter) if delimiter is not None else None
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP
    try:
        with _open(path, compressed) as raw:
            head, whole = _head(raw)
    except _BROKEN:
        problem = f"{str(path)!r} begins like a gzipped file, but is damaged"
        raise DataError(problem, argument="path", advice="Copy it again.") from None
    encoding_used, text = _decoded(head, encoding, path)
    if not text.strip():
        raise _empty_error(path)
    wrong = _CONTROL.search(text)
    if wrong is not None:
        wide = wrong[0] == "\0" and encoding is None
        hint = " If it is UTF-16 text, say encoding='utf-16-le'." if wide else ""
        raise DataError(
            f"{str(path)!r} is not a table: it holds the character {quoted(wrong[0])} in line "
            f"{text.count(chr(10), 0, wrong.start()) + 1}",
            argument="encoding" if wide else "path",
            suggestion="utf-16-le" if wide else None,
            advice=f"Give CSV, TSV or Parquet.{hint}",
        )
    if delimiter is None:
        delimiter = _likely_delimiter(text, whole, "\t" if ".tsv" in path.suffixes or ".tab" in path.suffixes else ",")
    if decimal is None:
        decimal = _likely_decimal(text, whole, delimiter, path)
    return TextFormat(path, compressed, encoding_used, delimiter, decimal, encoding is not None)


def _empty_error(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is empty", argument="path", advice="Give a table with a header and rows.")


def check_format(delimiter: str | None, decimal: str | None, encoding: str | None) -> None:
    """Raise `ParameterError` for what cannot be how a text is written down."""
    character = delimiter
    if delimiter is not None:
        character = _DELIMITER_WORDS.get(delimiter.lower(), delimiter) if isinstance(delimiter, str) else None
        if character is None or not re.fullmatch(r"[\t -~]", character) or character in '".' or character.isalnum():
            raise ParameterError(
                "delimiter must be one ASCII character such as ',' or ';' and no letter, digit, point or quotation "
                f"mark, or one of tab, comma, semicolon, space and pipe, but is {quoted(delimiter)}.",
                argument="delimiter",
            )
    if decimal not in (None, ".", ","):
        raise ParameterError(f"decimal must be '.' or ',', but is {quoted(decimal)}.", argument="decimal")
    if decimal is not None and decimal == character:
        problem = f"decimal must differ from the delimiter, but both are {quoted(decimal)}."
        raise ParameterError(problem, argument="decimal")
    if encoding is not None and not _is_encoding(encoding):
        raise ParameterError(
            f"encoding must be the name of one, such as 'utf-8' or 'cp1252', but is {quoted(encoding)}.",
            argument="encoding",
        )


def _is_encoding(name: object) -> bool:
    """Whether it names an encoding of text; Python lists other codecs under such names, too."""
    try:
        # An empty text is the same in all encodings, and in those that are none.
        b"a".decode(name)  # type: ignore[arg-type]
    except UnicodeDecodeError:
        # Of two bytes or more for a letter.
        pass
    except (LookupError, TypeError, ValueError):
        return False
    return codecs.lookup(str(name)).name not in _NO_ENCODINGS


def _open(path: Path, compressed: bool) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if compressed else path.open("rb")


def _can_be_decoded(path: Path, compressed: bool, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    with _open(path, compressed) as raw:
        try:
            while chunk := raw.read(_SCANNED):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _head(raw: IO[bytes]) -> tuple[bytes, bool]:
    """The first bytes, enough for two lines if lines are not too long, and whether that is all."""
    head = raw.read(_SAMPLE)
    while len(head) < _LONGEST_SAMPLE and head.count(b"\n") + head.count(b"\r") < 2:
        more = raw.read(len(head) or 1)
        if not more:
            break
        head += more
    return head, not raw.read(1)


def _decoded(head: bytes, encoding: str | None, path: Path) -> tuple[str, str]:
    """The encoding and the text; the last character may be cut."""
    marked = next((name for mark, name in _MARKS.items() if head.startswith(mark)), None)
    if encoding is None or (marked == "utf-8-sig" and codecs.lookup(encoding).name == "utf-8"):
        encoding = marked or encoding
    if encoding is not None:
        try:
            return encoding, codecs.getincrementaldecoder(encoding)().decode(head)
        except UnicodeError as error:
            problem = f"{str(path)!r} is not text in {encoding} ({error})"
            raise DataError(problem, argument="encoding", advice="Name its encoding.") from None
    for name in ("utf-8", "cp1252"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(head)
        except UnicodeDecodeError:
            continue
        # What has control characters is refused: a warning about its encoding is not needed.
        return name if name == "utf-8" or _CONTROL.search(text) else _warned(path, name), text
    text = head.decode("latin-1")
    return "latin-1" if _CONTROL.search(text) else _warned(path, "latin-1"), text


def _warned(path: Path, encoding: str) -> str:
    message = f"{str(path)!r} is not UTF-8; it is read as {encoding}. If letters come out wrong, save it as UTF-8."
    warnings.warn(message, AldsurvWarning, stacklevel=6)
    return encoding


def _records(text: IO[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text, delimiter=delimiter)
    line = 1
    for fields in reader:
        if fields:
            yield line, fields
        line = reader.line_num + 1


def _sample_records(text: str, whole: bool, delimiter: str) -> list[tuple[int, list[str]]]:
    records: list[tuple[int, list[str]]] = []
    try:
        for record in _records(io.StringIO(text, newline=""), delimiter):
            records.append(record)
            if len(records) == _RECORDS:
                return records
    except csv.Error:
        return records
    # The last one may be cut.
    return records if whole or len(records) < 2 else records[:-1]


def _likely_delimiter(text: str, whole: bool, first: str) -> str:
    """The one that gives most rows as many fields as the header has, and of those the one with most fields."""
    best, best_score = first, (0.0, 1)
    for delimiter in sorted(DELIMITERS, key=lambda delimiter: delimiter != first):
        widths = [len(fields) for _, fields in _sample_records(text, whole, delimiter)]
        if widths and widths[0] > 1:
            score = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
            # A header alone says little, but more than nothing.
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _likely_decimal(text: str, whole: bool, delimiter: str, path: Path) -> str:
    """A comma only where numbers are written so, all that have a mark are, and it cannot mean thousands."""
    if delimiter == ",":
        return "."
    records = _sample_records(text, whole, delimiter)
    fields = [(line, field) for line, record in records[1:] for field in record]
    commas = [(line, field) for line, field in fields if _COMMA.fullmatch(field)]
    points = [(line, field) for line, field in fields if _POINT.fullmatch(field)]
    if not commas:
        return "."
    line, field = commas[0]
    if points:
        raise DataError(
            f"{str(path)!r} has numbers with a comma ({quoted(field.strip())} in line {line}) and with a point "
            f"({quoted(points[0][1].strip())} in line {points[0][0]})",
            argument="decimal",
            advice="Say decimal=',' or decimal='.', or correct the file.",
        )
    if all(_EITHER.fullmatch(field) for _, field in commas):
        raise DataError(
            f"{str(path)!r} has numbers such as {quoted(field.strip())} (line {line}), whose comma may stand for "
            "decimals or for thousands",
            argument="decimal",
            advice="Say decimal=',' if for decimals; remove it from the file if for thousands.",
        )
    return ","
